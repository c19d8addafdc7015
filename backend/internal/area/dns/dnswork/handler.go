package dnswork

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// Config of the steps of jobs and of the policies.
type Config struct {
	DB    *db.DB // of the policies
	Keys  *secret.Keyset
	Kinds *work.Registry
	// Resolver is asked what the world is told; the zero value if there is none. nil for SystemResolver.
	Resolver func() netip.AddrPort
}

func (c Config) resolver() netip.AddrPort {
	if c.Resolver == nil {
		return SystemResolver()
	}
	return c.Resolver()
}

// ZoneHandlers are the steps of the jobs about zones.
func ZoneHandlers(config Config) work.Handlers {
	s := steps{config}
	return work.Handlers{dns.ZoneSync.Name: {dns.SyncStep: s.sync}}
}

type steps struct{ Config }

// sync brings a zone in line. It can be cut at any place and repeated.
func (s steps) sync(ctx context.Context, a *work.Attempt) error {
	var args dns.SyncArgs
	if err := a.Arguments(&args); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	loaded, err := dns.LoadSync(ctx, a.DB.Reader, a.Object(dns.ZoneRole).ID)
	if err != nil {
		return err
	}
	server, err := s.open(loaded.Zone)
	if err != nil {
		return jobError(err)
	}
	report, failure, err := SyncZone(ctx, server, loaded, args.Force, func(line string) { a.Log.Note("%s", line) })
	if err != nil {
		return err
	}
	if failure != nil {
		err := a.DB.InTx(ctx, func(tx *db.Tx) error {
			if err := work.Own(ctx, tx, a.ID, a.Number); err != nil {
				return err
			}
			return dns.RecordFailure(ctx, tx, loaded, report, *failure)
		})
		if err != nil {
			return fmt.Errorf("record what was found: %w", err)
		}
		return &work.Error{Code: failure.Reason, Message: failure.Text, NextStep: nextStep(provider.Reason(failure.Reason)), Heals: failure.Retry}
	}
	a.Outcome("%s", outcome(report))
	a.AtSuccess(func(ctx context.Context, tx *db.Tx) error {
		_, err := dns.RecordSync(ctx, tx, loaded, report)
		return err
	})
	return nil
}

func (s steps) open(zone dns.Zone) (provider.Provider, error) {
	key, err := zone.OpenKey(s.Keys)
	if err != nil {
		return nil, err
	}
	return Open(zone, key)
}

// jobError is an error of a provider as one of a job. Any other stays as it is.
func jobError(err error) error {
	var failure *provider.Error
	if !errors.As(err, &failure) {
		return err
	}
	return &work.Error{Code: string(failure.Reason), Message: failure.Text, NextStep: nextStep(failure.Reason), Heals: failure.Retry}
}

// outcome says what a synchronization did, in a sentence.
func outcome(report dns.Report) string {
	switch {
	case report.Unchanged:
		return "Neither the zone nor its record sets had changed."
	case report.Brake != nil:
		return fmt.Sprintf("Nothing was changed: the plan updates or deletes %d of %d record sets and waits for a confirmation.", report.Brake.Touched, report.Brake.Owned)
	}
	open := 0
	for _, result := range report.Results {
		if result.ID != "" && result.Outcome != dns.InSync {
			open++
		}
	}
	if open > 0 {
		return fmt.Sprintf("%d changes were made. %d record sets are not on the server as they should be.", report.Applied, open)
	}
	return fmt.Sprintf("%d changes were made.", report.Applied)
}

// nextStep is what a person can do about a failure.
func nextStep(reason provider.Reason) string {
	switch reason {
	case provider.WrongKey:
		return "Compare name, algorithm and secret of the key with the server's configuration, change the zone, then synchronize it."
	case provider.TransferRefused, provider.UpdateRefused, provider.QueryRefused:
		return "Let the server's operator add the key to that access list, then synchronize the zone."
	case provider.AddressRefused:
		return "Allow private name servers in the zone, or give it a server with a public address."
	case provider.NotAuthoritative:
		return "Check the zone's name and its server."
	case provider.ClockSkew:
		return "Check the clocks of this backend and of the server."
	case provider.Invalid, provider.TooLarge:
		return "Change the zone's settings."
	default:
		return "Check that the server runs and can be reached from the backends, then synchronize the zone."
	}
}
