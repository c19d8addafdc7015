package watchwork

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// Config of the steps of jobs and of the policies.
type Config struct {
	DB   *db.DB // of the policies
	Keys *secret.Keyset
	Rule egress.Rule // which addresses a channel may lead to
	// Pauses are how long it waits after each failed attempt that may heal; nil for 1 s and 5 min.
	Pauses []time.Duration
	// Jobs are what remedies may ask for.
	Jobs Jobs
	tls  *tls.Config // of mail servers, for tests
}

// Handlers are the steps of the area's jobs.
func Handlers(config Config) work.Handlers {
	return work.Handlers{watch.ChannelTest.Name: {watch.DeliverStep: newSteps(config).test}}
}

func newSteps(config Config) steps {
	if config.Pauses == nil {
		config.Pauses = []time.Duration{time.Second, 5 * time.Minute}
	}
	return steps{config}
}

type steps struct{ Config }

// Whose fault a failed delivery is.
const (
	faultUser       = string(reconcile.FaultUser)
	faultProvider   = string(reconcile.FaultProvider)
	faultDependency = string(reconcile.FaultDependency)
	faultOurs       = string(reconcile.FaultOurs)
)

// result is what became of one attempt; text is "" if it was delivered.
type result struct {
	code        int // of HTTP or SMTP; 0 if nothing was answered
	text, fault string
	retry       bool
}

func ours(err error) result {
	return result{text: "The message could not be made: " + err.Error(), fault: faultOurs}
}

// unanswered judges an error without an answer. Only what was expected is told: an error may hold what a server said.
func unanswered(err error) result {
	why := egress.Why(err)
	if why.IsUsers() {
		return result{text: why.Message("the server", patience, err), fault: faultUser}
	}
	return result{text: why.Message("the server", patience, err), fault: faultDependency, retry: true}
}

// deliver makes one attempt and records it, in one transaction with what also writes.
func (s steps) deliver(ctx context.Context, d *db.DB, c watch.Channel, m watch.Message, attempt int, also func(context.Context, *db.Tx, result) error) (result, error) {
	password, err := c.OpenPassword(s.Keys)
	if err != nil {
		return result{}, err
	}
	secrets, err := watch.OpenSecrets(ctx, d.Reader, s.Keys, c.ID)
	if err != nil {
		return result{}, err
	}
	begun := time.Now()
	timed, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var r result
	if c.Type == watch.Email {
		r = s.email(timed, c, m, password)
	} else {
		r = s.webhook(timed, c, m, secrets)
	}
	if ctx.Err() != nil && r.text != "" {
		return result{}, context.Cause(ctx) // the attempt was cut, which says nothing of the channel
	}
	row := watch.Delivery{
		WorkspaceID: c.WorkspaceID, ChannelID: c.ID, MessageID: m.ID, Kind: m.Kind, Attempt: int64(attempt), Outcome: watch.Delivered,
		Duration: time.Since(begun).Milliseconds(), Error: r.text, Retry: r.retry, Fault: r.fault,
	}
	if r.text != "" {
		row.Outcome = watch.Failed
	}
	if r.code != 0 {
		code := int64(r.code)
		row.StatusCode = &code
	}
	return r, d.InTx(ctx, func(tx *db.Tx) error {
		if err := also(ctx, tx, r); err != nil {
			return err
		}
		return watch.RecordDelivery(ctx, tx, row)
	})
}

// test delivers a test message. A cut between the delivery and its record sends the message twice, with the same id.
func (s steps) test(ctx context.Context, a *work.Attempt) error {
	c, err := watch.ChannelByID(ctx, a.DB.Reader, a.Object(watch.ChannelRole).ID)
	if errors.Is(err, fault.ErrNotFound) {
		return &work.Error{Code: "channel_gone", Message: "The channel was deleted.", NextStep: "Nothing is left to do."}
	}
	if err != nil {
		return fmt.Errorf("load the channel: %w", err)
	}
	message, before, err := s.next(ctx, a, c)
	if err != nil {
		return err
	}
	r, err := s.deliver(ctx, a.DB, c, message, before+1, func(ctx context.Context, tx *db.Tx, _ result) error { return work.Own(ctx, tx, a.ID, a.Number) })
	switch {
	case err != nil:
		return err
	case r.text == "":
		a.Outcome("The message was delivered at attempt %d.", before+1)
		return nil
	case r.retry && before < len(s.Pauses):
		return work.NotYet(s.Pauses[before], r.text)
	}
	return &work.Error{Code: "not_delivered", Message: r.text, NextStep: "Check the settings of the channel and its receiver, then test it again."}
}

// next is the message of a job, and how many attempts were made of it. A job that a person retries has a new message.
func (s steps) next(ctx context.Context, a *work.Attempt, c watch.Channel) (watch.Message, int, error) {
	m := c.Test(a.ID, time.Now())
	for retried := 1; ; retried++ {
		made, err := watch.Attempts(ctx, a.DB.Reader, m.ID)
		if err != nil {
			return m, 0, fmt.Errorf("read the attempts: %w", err)
		}
		if len(made) == 0 {
			return m, 0, nil
		}
		if last := made[len(made)-1]; last.Outcome == watch.Failed && last.Retry && len(made) <= len(s.Pauses) {
			return m, len(made), nil
		}
		m.ID = uuid.NewSHA1(a.ID, []byte{byte(retried)})
	}
}
