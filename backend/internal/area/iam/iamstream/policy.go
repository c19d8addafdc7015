// Package iamstream sends sealed events to the receivers of event streams: webhooks, and syslog over TLS. It refuses rules (those
// are iam's), to follow a redirect, and to keep anything of an answer but its status.
package iamstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/secret"
)

const (
	// PerBatch is how many events one message, or one connection, carries.
	PerBatch = 200
	// batches bounds one run, so that the streams of others get their turn.
	batches = 20
	// defaultPatience is for one batch.
	defaultPatience = 15 * time.Second
	// slow is how far a stream may be behind before that is a condition. Events are sealed a minute after they were written.
	slow = 15 * time.Minute
)

// Config of the policy.
type Config struct {
	DB   *db.DB
	Keys *secret.Keyset
	Rule egress.Rule // which addresses a stream may lead to

	patience time.Duration // for one batch; 0: 15 s
}

// Conditions of a stream.
const (
	Delivering = "delivering"
	UpToDate   = "up_to_date"
)

// Policy sends what each stream has not sent yet, oldest first. A batch whose answer was lost is sent again.
func Policy(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: "event_stream", Noun: iam.StreamNoun,
		Why:      "whoever collects the audit trail elsewhere wants all of it, in order, soon after it is sealed",
		Interval: 20 * time.Second, Jitter: 5 * time.Second, Timeout: 6 * time.Minute, Triggers: []string{iam.StreamNoun},
		Objects: reconcile.Rows(config.DB, iam.StreamIDs),
		Run:     reconcile.Look(config.DB, iam.StreamByID, config.run),
	}
}

func (c Config) run(ctx context.Context, _ reconcile.Item, s iam.Stream) (out reconcile.Outcome, err error) {
	delivering := reconcile.Condition{Type: Delivering, Status: reconcile.True, Reason: "delivered", Message: "The receiver has taken the last batch.", Threshold: 1}
	if !s.Enabled {
		delivering.Status, delivering.Reason, delivering.Message = reconcile.Unknown, "disabled", "The stream is disabled. Its position stays."
		return reconcile.Outcome{Conditions: []reconcile.Condition{delivering}}, nil
	}
	at, more := s.Position(), true
	for range batches {
		var n int
		if n, at, err = c.batch(ctx, s, at); err != nil {
			return out, err
		}
		out.Changed += int64(n)
		if more = n == PerBatch; !more {
			break
		}
	}
	if more {
		out.Again = time.Second
	}
	if s.SentAt == nil && out.Changed == 0 {
		delivering.Status, delivering.Reason, delivering.Message = reconcile.Unknown, "not_tried", "Nothing was sent yet: no event has been sealed since the stream was made."
	}
	lag, err := c.lag(ctx, s, at)
	out.Conditions = []reconcile.Condition{delivering, lag}
	return out, err
}

// batch sends the events behind a position, and returns the next.
func (c Config) batch(ctx context.Context, s iam.Stream, from audit.Position) (n int, to audit.Position, err error) {
	events, err := audit.SealedAfter(ctx, c.DB.Reader, s.OrganizationID, from, PerBatch)
	if err != nil || len(events) == 0 {
		return 0, from, err
	}
	timed, cancel := context.WithTimeout(ctx, cmp.Or(c.patience, defaultPatience))
	defer cancel()
	if s.Type == iam.StreamSyslog {
		err = c.syslog(timed, s, events)
	} else {
		err = c.webhook(timed, s, from, events)
	}
	switch {
	case ctx.Err() != nil:
		return 0, from, context.Cause(ctx) // the run was cut, which says nothing of the receiver
	case err != nil:
		return 0, from, err
	}
	to = events[len(events)-1].Position()
	return len(events), to, c.DB.InTx(ctx, func(tx *db.Tx) error { return iam.StreamSent(ctx, tx, s.ID, from, to, len(events)) })
}

func (c Config) lag(ctx context.Context, s iam.Stream, at audit.Position) (reconcile.Condition, error) {
	made := reconcile.Condition{Type: UpToDate, Status: reconcile.True, Reason: "sent", Message: "All sealed events are sent."}
	n, since, err := audit.Waiting(ctx, c.DB.Reader, s.OrganizationID, at)
	switch {
	case err != nil:
		return made, err
	case n > 0 && time.Since(since) > slow:
		made.Status, made.Reason, made.RetryHelps = reconcile.False, "behind", true
		made.Message = fmt.Sprintf("%d events wait, the oldest since %s.", n, since.UTC().Format("2006-01-02 15:04 UTC"))
	case n > 0:
		made.Status, made.Reason, made.Message = reconcile.Progressing, "sending", fmt.Sprintf("%d events wait.", n)
	}
	return made, nil
}

// authorities are those that vouch for the receiver: the stream's own, or those of the system.
func authorities(s iam.Stream) *tls.Config {
	if s.Authority == "" {
		return &tls.Config{MinVersion: tls.VersionTLS12}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(s.Authority))
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
}

// unanswered judges an error without an answer. Only what was expected is told: an error may hold what a server said.
func unanswered(err error) error {
	why := egress.Why(err)
	f := &reconcile.Failure{Reason: string(why), Message: why.Message("the receiver", defaultPatience, err), Fault: reconcile.FaultDependency, RetryHelps: true, Err: err}
	if why.IsUsers() {
		f.Fault = reconcile.FaultUser
	}
	f.RetryHelps = why != egress.AddressRefused
	return f
}
