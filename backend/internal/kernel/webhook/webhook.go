// Package webhook posts JSON to an address that a user named, signed as the specification of Standard Webhooks says. It knows
// no noun, follows no redirect, and keeps nothing of an answer but its status.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"kloigos/backend/internal/kernel/egress"
)

const (
	mostOfAnswer  = 64 << 10 // bytes that are read, so that the receiver can end in good order
	mostOfHeaders = 16 << 10
	patience      = 10 * time.Second // for the handshake
)

// Headers of a webhook, as the specification of Standard Webhooks names them.
const (
	IDHeader        = "webhook-id"
	TimestampHeader = "webhook-timestamp"
	SignatureHeader = "webhook-signature"
)

// Message is one message to one receiver. ID is the same for every attempt, so that a receiver can tell a repetition.
type Message struct {
	URL, ID string
	SentAt  time.Time
	Body    []byte   // JSON
	Secrets [][]byte // each signs; none for no signature
}

// Post sends a message and returns the status of the answer. The error says that there was none.
func Post(ctx context.Context, rule egress.Rule, authorities *tls.Config, m Message) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return 0, fmt.Errorf("make a request: %w", err)
	}
	stamp := strconv.FormatInt(m.SentAt.Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Kloigos")
	request.Header.Set(IDHeader, m.ID)
	request.Header.Set(TimestampHeader, stamp)
	if len(m.Secrets) > 0 {
		request.Header.Set(SignatureHeader, Sign(m.Secrets, m.ID, stamp, m.Body))
	}
	client := http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{ // no proxy: the address that is judged has to be the receiver's
			DialContext: rule.Dialer().DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: mostOfHeaders, TLSHandshakeTimeout: patience,
			TLSClientConfig: authorities,
		},
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, mostOfAnswer)
	return answer.StatusCode, nil
}

// Sign is the header with one signature for each secret, over id, time and body.
func Sign(secrets [][]byte, id, stamp string, body []byte) string {
	var all []string
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}

// The length of secrets that the specification asks for, in bytes.
const (
	minSecret, maxSecret = 24, 64
	secretPrefix         = "whsec_"
)

// ParseSecret returns the bytes of a secret as receivers have it: base64, with whsec_ before it or without.
func ParseSecret(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, secretPrefix))
	if err != nil || len(key) < minSecret || len(key) > maxSecret {
		return nil, egress.Refused(fmt.Sprintf("Use base64 of %d to %d random bytes; %s may stand before it.", minSecret, maxSecret, secretPrefix))
	}
	return key, nil
}
