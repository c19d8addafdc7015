package testkit

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// sslRequest is the request for TLS that begins a connection, and plain the answer of a server that has none
// (PostgreSQL's protocol, 55.2.10).
const (
	sslRequest = 80877103
	plain      = 'N'
)

// DialServer connects to the first server of a database URL, with TLS where the URL wants it, for what stands between a
// client and its database: such a client need not speak TLS, and what it says can be read.
func DialServer(url string) (net.Conn, error) {
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's URL: %w", err)
	}
	conn, err := net.Dial(pgconn.NetworkAddress(cfg.Host, cfg.Port))
	if err != nil || cfg.TLSConfig == nil {
		return conn, err
	}
	ask := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8}, sslRequest)
	answer := make([]byte, 1)
	if _, err = conn.Write(ask); err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	switch {
	case err != nil:
		_ = conn.Close()
		return nil, fmt.Errorf("ask for TLS: %w", err)
	case answer[0] == plain:
		return conn, nil
	}
	return tls.Client(conn, cfg.TLSConfig), nil
}

// Commits tells whether what a client sends asks for what it has written to stay: COMMIT, and on CockroachDB what the
// vendor's retry loop sends before that, whose answer is the one that counts.
func Commits(sent []byte) bool {
	sent = bytes.ToLower(sent)
	return bytes.Contains(sent, []byte("commit\x00")) || bytes.Contains(sent, []byte("release savepoint cockroach_restart"))
}
