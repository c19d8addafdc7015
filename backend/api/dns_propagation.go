package api

import "time"

// DNSCheck is what servers told of a record set.
type DNSCheck struct {
	At         time.Time   `json:"at"`
	Everywhere bool        `json:"everywhere" doc:"all authoritative servers tell it as it should be"`
	Servers    []DNSAnswer `json:"servers" nullable:"false" doc:"the authoritative ones, each asked directly"`
	Resolver   *DNSAnswer  `json:"resolver,omitempty" doc:"asked after them, as the world would ask"`
	Notes      []string    `json:"notes,omitempty" doc:"what limits the check, in sentences"`
}

// DNSAnswer is what one server told.
type DNSAnswer struct {
	Server  string   `json:"server" doc:"name of the server"`
	Address string   `json:"address"`
	Status  string   `json:"status" enum:"current,absent,different,unreachable,address_refused,not_authoritative,failed" doc:"how its answer compares"`
	Values  []string `json:"values,omitempty" doc:"one for each record"`
	TTL     int64    `json:"ttl" doc:"seconds"`
	Message string   `json:"message,omitempty"`
}
