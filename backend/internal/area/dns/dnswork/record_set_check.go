package dnswork

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/work"
)

// RecordSetHandlers are the steps of the jobs about record sets.
func RecordSetHandlers(config Config) work.Handlers {
	s := steps{config}
	return work.Handlers{dns.RecordSetCheck.Name: {dns.AskStep: s.ask}}
}

// Between two looks at servers that do not tell a record set yet.
const (
	shortPause = 5 * time.Second
	longPause  = 5 * time.Minute
)

// ask looks once what servers tell of a record set.
func (s steps) ask(ctx context.Context, a *work.Attempt) error {
	set, err := dns.RecordSetByID(ctx, a.DB.Reader, a.Object(dns.RecordSetRole).ID)
	if errors.Is(err, fault.ErrNotFound) {
		a.Outcome("The record set is gone.")
		return nil
	}
	if err != nil {
		return fmt.Errorf("load the record set: %w", err)
	}
	check, err := s.check(ctx, a.DB, set)
	if err != nil {
		return jobError(err)
	}
	for _, told := range check.Servers {
		a.Log.Note("%s (%s): %s %s", told.Server, told.Address, told.Status, told.Text)
	}
	if check.Arrived() {
		a.Outcome("All servers tell the record set.")
		return nil
	}
	pause := shortPause
	if check.Everywhere {
		// Only the resolver still keeps the old answer, and said for how long.
		pause = min(longPause, max(shortPause, time.Duration(check.Resolver.TTL)*time.Second))
	}
	return work.NotYet(pause, check.Missing())
}
