// Package agent owns agents on hosts: enrolment tokens, keys and credentials, heartbeats as rows, what a report says is wrong
// with a host, and the health that comes of it.
//
// It refuses to change a host, and to believe an agent: whatever an agent sends is bounded, cleaned and counted for its own
// host only. Times are those of the database. Connections and batches are for agenthttp, judging for agentwork.
package agent
