package db

import (
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// Unavailable tells whether an error means that the database can't be reached
// or takes no work now, so that the same may well succeed a little later.
func Unavailable(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err) {
		return true
	}
	switch SQLState(err) {
	case "57P01", "57P02", "57P03", // it shuts down, or starts
		"53000", "53100", "53200", "53300", // it lacks room on its disk, memory, connections
		"58C00", "58C01", uncategorized, // CockroachDB has no quorum for what is asked for, or can't say what is wrong
		"25006",          // it only reads: a standby that is about to be the primary
		"25P03",          // it ended a transaction in which nothing happened, since this process stood still
		"40001", "40P01": // it was asked again and again, and found others in the way each time
		return true
	}
	return false
}
