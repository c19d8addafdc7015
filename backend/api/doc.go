// Package api owns the wire contract: requests, responses, problems and the
// table of routes with their permissions. The OpenAPI document comes from
// these types. It imports nothing else of ours and holds no behaviour.
//
// Sizes are in bytes, times in RFC 3339, ids are UUIDs. Where a name is unique
// in its scope an object can be addressed by id or by name.
package api

// Prefix is where every route below lives.
const Prefix = "/api/v1"
