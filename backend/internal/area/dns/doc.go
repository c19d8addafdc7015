// Package dns owns DNS zones and their record sets: names and values in canonical form, delegation patterns, ownership
// records, the difference between the intent and what a server holds, rows and lifecycles, and what a synchronization
// leaves in them.
//
// It refuses to talk to a server: package dnswork does, over the seam dnswork/provider. Intents run in a transaction that
// their caller opened, and return what an event tells of them.
//
// Sources: RFC 1035 and RFC 2181 (names, record sets), RFC 5891 (IDNA), RFC 4592 (wildcards), RFC 3597 (unknown types).
package dns

import "fmt"

// Refusal is why a value is not accepted: plain sentences that can be shown to a user.
type Refusal string

func (r Refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return Refusal(fmt.Sprintf(format, args...)) }
