// Package watch owns notification channels: their rules, rows and intents, the messages that they carry, and what became of
// each delivery.
//
// It refuses to talk to a receiver: package watchwork does.
package watch
