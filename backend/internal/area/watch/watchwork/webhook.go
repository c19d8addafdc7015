package watchwork

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"kloigos/backend/internal/area/watch"
)

const (
	patience      = 10 * time.Second // of one attempt
	mostOfAnswer  = 64 << 10         // bytes that are read, so that the receiver can end in good order
	mostOfHeaders = 16 << 10
)

// Headers of a webhook, as the specification of Standard Webhooks names them.
const (
	idHeader        = "webhook-id"
	timestampHeader = "webhook-timestamp"
	signatureHeader = "webhook-signature"
)

// webhook posts a message, signed with each secret.
func (s steps) webhook(ctx context.Context, c watch.Channel, m watch.Message, secrets [][]byte) result {
	body, err := json.Marshal(m)
	if err != nil {
		return ours(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return ours(err)
	}
	stamp := strconv.FormatInt(m.SentAt.Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Kloigos")
	request.Header.Set(idHeader, m.ID.String())
	request.Header.Set(timestampHeader, stamp)
	if len(secrets) > 0 {
		request.Header.Set(signatureHeader, sign(secrets, m.ID.String(), stamp, body))
	}
	client := http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{ // no proxy: the address that is judged has to be the receiver's
			DialContext: s.Rule.Dialer().DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: mostOfHeaders, TLSHandshakeTimeout: patience,
		},
	}
	answer, err := client.Do(request)
	if err != nil {
		return unanswered(err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, mostOfAnswer)
	return answered(answer.StatusCode)
}

// sign is the header with one signature for each secret, over id, time and body.
func sign(secrets [][]byte, id, stamp string, body []byte) string {
	var all []string
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}

// answered judges the status of an answer.
func answered(status int) result {
	r := result{code: status}
	switch {
	case status >= 200 && status < 300:
		return r
	case status >= 300 && status < 400:
		r.text = fmt.Sprintf("The receiver answered with a redirect (%d). Redirects are not followed: use the URL that it leads to.", status)
		r.fault = faultUser
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		r.text, r.fault, r.retry = fmt.Sprintf("The receiver answered with status %d.", status), faultProvider, true
	default:
		r.text, r.fault = fmt.Sprintf("The receiver refused the message with status %d.", status), faultUser
	}
	return r
}
