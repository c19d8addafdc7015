package watchwork

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/kernel/webhook"
)

const patience = 10 * time.Second // of one attempt

// webhook posts a message, signed with each secret.
func (s steps) webhook(ctx context.Context, c watch.Channel, m watch.Message, secrets [][]byte) result {
	body, err := json.Marshal(m)
	if err != nil {
		return ours(err)
	}
	status, err := webhook.Post(ctx, s.Rule, nil, webhook.Message{URL: c.URL, ID: m.ID.String(), SentAt: m.SentAt, Body: body, Secrets: secrets})
	if err != nil {
		return unanswered(err)
	}
	return answered(status)
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
