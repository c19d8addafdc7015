// Package store owns all the SQL of Kloigos; a file for each noun. Reads are
// methods of Reads, which a DB and a Tx both are; writes are methods of Tx
// only, so that none exists outside a transaction. Statements keep to what
// CockroachDB and PostgreSQL both have, and every change of a state is
// conditional on the state before, so that nothing rests on an isolation level.
//
// It decides nothing: what may be asked is the business of package intent.
package store
