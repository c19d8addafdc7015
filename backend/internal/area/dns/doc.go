// Package dns owns the rules of DNS zones: names, record sets and their canonical form, delegation patterns, ownership
// records, and the difference between the intent and what a server holds.
//
// It refuses to talk to a server, to read a database, and to import anything of ours. Package dnswork/provider is the seam
// to name servers.
//
// Sources: RFC 1035 and RFC 2181 (names, record sets), RFC 5891 (IDNA), RFC 4592 (wildcards), RFC 3597 (unknown types).
package dns

import "fmt"

// Refusal is why a value is not accepted: plain sentences that can be shown to a user.
type Refusal string

func (r Refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return Refusal(fmt.Sprintf(format, args...)) }
