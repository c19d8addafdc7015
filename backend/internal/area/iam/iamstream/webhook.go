package iamstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/webhook"
)

// message is what a webhook gets.
type message struct {
	Type         string         `json:"type"`
	Stream       string         `json:"stream"`
	Organization string         `json:"organization_id,omitempty"` // empty for the installation's
	SentAt       time.Time      `json:"sent_at"`
	Events       []audit.Sealed `json:"events"`
}

// webhook posts a batch. Its id follows from the stream and the position, so that another attempt is the same message.
func (c Config) webhook(ctx context.Context, s iam.Stream, from audit.Position, events []audit.Sealed) error {
	key, err := s.OpenSecret(c.Keys)
	if err != nil {
		return err
	}
	m := message{Type: "events", Stream: s.Name, SentAt: time.Now().UTC(), Events: events}
	if !s.OfInstallation() {
		m.Organization = s.OrganizationID.String()
	}
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	post := webhook.Message{URL: s.URL, ID: idOf(s, from, events).String(), SentAt: m.SentAt, Body: body}
	if key != nil {
		post.Secrets = [][]byte{key}
	}
	status, err := webhook.Post(ctx, c.Rule, authorities(s), post)
	if err != nil {
		return unanswered(err)
	}
	return answered(status)
}

func idOf(s iam.Stream, from audit.Position, events []audit.Sealed) uuid.UUID {
	return uuid.NewSHA1(s.ID, []byte(fmt.Sprintf("%d %s %s", from.Seal, from.ID, events[len(events)-1].ID)))
}

// answered judges the status of an answer.
func answered(status int) error {
	f := &reconcile.Failure{Reason: "refused", Message: fmt.Sprintf("The receiver refused the events with status %d.", status), Fault: reconcile.FaultUser}
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		f.Reason, f.Message = "redirect", fmt.Sprintf("The receiver answered with a redirect (%d). Redirects are not followed: use the URL that it leads to.", status)
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		f.Reason, f.Message = "failing", fmt.Sprintf("The receiver answered with status %d.", status)
		f.Fault, f.RetryHelps = reconcile.FaultProvider, true
	}
	return f
}
