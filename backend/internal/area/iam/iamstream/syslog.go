package iamstream

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/audit"
)

const (
	// priority is facility 13 (log audit) and severity 5 (notice), see RFC 5424, section 6.2.1.
	priority = 13*8 + 5
	maxMsgID = 32 // characters, RFC 5424, section 6
	appName  = "kloigos"
)

// syslog sends a batch over one connection (RFC 5425: TLS, octet counting). The protocol acknowledges nothing. So our half of the
// connection is closed, and the receiver's end of the other half is waited for: it has read everything then.
func (c Config) syslog(ctx context.Context, s iam.Stream, events []audit.Sealed) error {
	frames, err := framesOf(events)
	if err != nil {
		return err
	}
	plain, err := c.Rule.Dialer().DialContext(ctx, "tcp", s.Server)
	if err != nil {
		return unanswered(err)
	}
	defer func() { _ = plain.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = plain.SetDeadline(deadline)
	}
	config := authorities(s)
	config.ServerName, _, _ = net.SplitHostPort(s.Server)
	conn := tls.Client(plain, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return unanswered(err)
	}
	if _, err := conn.Write(frames); err != nil {
		return unanswered(err)
	}
	if err := conn.CloseWrite(); err != nil {
		return unanswered(err)
	}
	// Nothing is expected but the end. What a hostile receiver sends is read up to a bound, and dropped.
	n, err := io.CopyN(io.Discard, conn, mostOfAnswer)
	if n == mostOfAnswer {
		return unanswered(errors.New("the receiver talks"))
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return unanswered(err)
	}
	return nil
}

const mostOfAnswer = 16 << 10

// framesOf writes each event as a frame: its length, a space, the message.
func framesOf(events []audit.Sealed) ([]byte, error) {
	var all bytes.Buffer
	for _, e := range events {
		text, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("write an event: %w", err)
		}
		line := fmt.Sprintf("<%d>1 %s - %s - %s - \ufeff%s", priority, e.At.UTC().Format("2006-01-02T15:04:05.000000Z"), appName, msgID(e.Action), text)
		fmt.Fprintf(&all, "%d %s", len(line), line)
	}
	return all.Bytes(), nil
}

// msgID is the action in printable ASCII.
func msgID(action string) string {
	id := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, action)
	if id = id[:min(len(id), maxMsgID)]; id == "" {
		return "-"
	}
	return id
}
