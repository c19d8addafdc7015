// Package httpapi owns the HTTP side of the API: it decodes and checks a
// request, finds out who asks and whether they may, calls one intent or one
// read, and answers with a wire type or a problem. There is a file for each
// noun, with its operations and its presenter (store row to wire type).
//
// It refuses to decide anything about the product: what a request means is the
// intents'. A request takes this way, and ends at the first refusal:
//
//	listen (limits on header, body and time) -> enter (request id, client,
//	log, panics) -> admit (bearer, permission) -> strict (query, JSON) ->
//	huma (types) -> handler -> problem (every error, in one place)
package httpapi
