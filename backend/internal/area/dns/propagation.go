package dns

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// Check is what the servers of a zone, each asked directly, and a resolver told of a record set.
type Check struct {
	Everywhere bool     `json:"everywhere"` // all authoritative servers tell it as it should be
	Servers    []Told   `json:"servers"`
	Resolver   *Told    `json:"resolver,omitempty"` // nil if none was asked
	Notes      []string `json:"notes,omitempty"`    // plain sentences
}

// Told is what one server told.
type Told struct {
	Server  string   `json:"server"`
	Address string   `json:"address"`
	Status  string   `json:"status"` // current, absent, different, unreachable, ...
	Values  []string `json:"values,omitempty"`
	TTL     int64    `json:"ttl"` // seconds
	Text    string   `json:"text,omitempty"`
}

// Arrived reports whether the resolver, if one was asked, tells the record set too.
func (c Check) Arrived() bool {
	return c.Everywhere && (c.Resolver == nil || c.Resolver.Status == "current")
}

// Missing says who does not tell the record set yet, in a sentence; "" if all do.
func (c Check) Missing() string {
	for _, told := range c.Servers {
		if told.Status != "current" {
			return fmt.Sprintf("%s (%s): %s", told.Server, told.Address, told.Text)
		}
	}
	if c.Resolver != nil && c.Resolver.Status != "current" {
		return fmt.Sprintf("The resolver %s does not tell it yet: %s", c.Resolver.Address, c.Resolver.Text)
	}
	if !c.Everywhere {
		return "No authoritative server was found."
	}
	return ""
}

// RecordCheck writes what a check found, unless the record set changed meanwhile. It is no change of the record set.
func RecordCheck(ctx context.Context, tx *db.Tx, id uuid.UUID, revision int64, check Check) error {
	if _, err := tx.Exec(ctx, sqlRecordCheck, id, revision, check); err != nil {
		return fmt.Errorf("record what servers told: %w", err)
	}
	return nil
}
