// Package dnshttp owns the routes of DNS zones and record sets: it decodes, looks up in the caller's scope, calls an intent
// and presents what came of it.
//
// It refuses rules: what a name, a value or a state allows is for package dns.
package dnshttp

import (
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// Parts is what the routes are made with.
type Parts struct {
	Engine intent.Engine
	Keys   *secret.Keyset
	Kinds  *work.Registry
}

type handlers struct {
	Parts
	server *httpapi.Server
}

// exampleChecksum stands in the description of a request.
const exampleChecksum = "4f1c9a0be27d3358a6e1d2c47b90f518"

func orEmpty(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}
