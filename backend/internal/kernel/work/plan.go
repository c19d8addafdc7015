package work

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// Plan makes the plans of a kind of job: what a job would do is listed from rows. No host is asked, so a plan is ready at once.
type Plan struct {
	// List tells what a job would do. It reads rows as they are before the job is asked for.
	List func(ctx context.Context, q db.Reader, s Subject) (List, error)
	// Hold keeps what the list depends on as it is until the transaction ends that applies a plan. nil: its intent does.
	Hold func(ctx context.Context, tx *db.Tx, s Subject) error
}

// Subject is what a plan is about: the objects of the job, and what its kind lists by beside them. An object that the action makes is
// not there yet.
type Subject struct {
	Objects []Object        `json:"objects"`
	Draft   json.RawMessage `json:"draft,omitempty"` // New.Draft
}

// ReadSubject reads a subject as it was made, or as a database gives it back. Its draft is the same text then, though databases change the
// order of fields: a list depends on that text.
func ReadSubject(text []byte) (s Subject, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read the subject of a plan: %w", err)
	}
	if s.Draft == nil {
		return s, nil
	}
	var draft any
	exact := json.NewDecoder(bytes.NewReader(s.Draft))
	exact.UseNumber()
	if err := exact.Decode(&draft); err != nil {
		return s, fmt.Errorf("read what a plan lists by: %w", err)
	}
	s.Draft, err = json.Marshal(draft) // fields by their names
	return s, err
}

// Object is the first object of a role.
func (s Subject) Object(role string) Object {
	for _, o := range s.Objects {
		if o.Role == role {
			return o
		}
	}
	return Object{}
}

// Read reads what a kind lists by.
func (s Subject) Read(into any) error {
	if err := json.Unmarshal(s.Draft, into); err != nil {
		return fmt.Errorf("read what a plan lists by: %w", err)
	}
	return nil
}

// What happens to a thing in a plan.
const (
	Creates = "create"
	Changes = "change"
	Removes = "remove"
	Stops   = "stops" // nothing is done while it is so
)

// Change is one thing that a job would do.
type Change struct {
	Task   string // the step of the job, or the scope that the thing is in
	Kind   string // what the thing is
	Name   string
	Action string
	Before string
	After  string
	Note   string
}

// List is what a job would do, in its order.
type List struct {
	Changes []Change
	Digest  string // another one as soon as the list, or a row that it depends on, is another one
	// Bound are scopes whose approval rules count beside those over the workspace of the plan.
	Bound []uuid.UUID
	// Approvers are the scopes whose approvers decide; nil: as for every plan of the workspace.
	Approvers []uuid.UUID
}

// Digest is a checksum of values as JSON has them.
func Digest(parts ...any) (string, error) {
	text, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("take a checksum: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func (n New) subject() (json.RawMessage, error) {
	s := Subject{Objects: n.Objects}
	if n.Draft != nil {
		draft, err := json.Marshal(n.Draft)
		if err != nil {
			return nil, fmt.Errorf("keep what a plan lists by: %w", err)
		}
		s.Draft = draft
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("keep the subject of a plan: %w", err)
	}
	return text, nil
}

// planned tells whoever makes a plan, or does what one says, which job was asked for. What a person asks for without a plan, a rule may
// refuse.
func (r *Registry) planned(ctx context.Context, tx *intent.Tx, n New, e audit.Entry) error {
	k, _ := r.Kind(n.Kind)
	asks := tx.Call().Asks
	switch {
	case asks != nil && k.Plan == nil:
		return fault.Conflictf("nothing_to_plan", "A job of kind %s has no plan.", n.Kind)
	case asks != nil:
		subject, err := n.subject()
		if err != nil {
			return err
		}
		return asks(ctx, tx, intent.Asked{Kind: n.Kind, Subject: subject, Entry: e})
	case k.Plan != nil && r.Unplanned != nil:
		return r.Unplanned(ctx, tx.Tx, tx.Call().Actor, tx.Call().Workspace, n.Kind)
	}
	return nil
}
