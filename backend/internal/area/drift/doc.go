// Package drift owns what is not as it was promised on hosts: what was promised, by the rows of the database; what the agent of a
// host sees there; the difference as rows with a life; and what is done about it.
//
// It refuses to believe a host about what was promised, and to change one: repairs are jobs that exist already, asked for by
// driftwork.
package drift
