package dnswork

import (
	"context"
	"errors"
	"fmt"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
)

// maxRounds bounds how often a synchronization reads the zone: once to change it, once to see what came of it, and twice
// more if another hand changes it at the same time.
const maxRounds = 4

// maxFailures in a row end a round: the server refuses everything, not one record set.
const maxFailures = 20

// Input of a synchronization.
type Input struct {
	Settings dns.Settings
	Desired  []dns.Desired
	// Known is the serial at which an earlier synchronization found the zone in line with this intent; nil if the intent
	// has changed since, or if there is none. The zone is not transferred at this serial.
	Known *uint32
	// Confirmed are the changes that a person confirmed although the brake held them.
	Confirmed dns.Confirmation
	// Log is told of each change that was made and of each that failed. It may be nil.
	Log func(line string)
}

// Sync brings a zone in line with its intent as far as mode, ownership, delegation and brake allow. It asks for the serial
// first, and transfers the zone only if serial or intent changed. After its changes it reads the zone again, so that the
// report tells what is there, and its serial hides no change of another hand.
//
// It can be repeated after a crash at any place: a change that was made is found made. The error is a *provider.Error of a
// call that concerns the whole zone, or an error of dns.Difference; the report then holds what was known until then.
func Sync(ctx context.Context, server provider.Provider, in Input) (dns.Report, error) {
	if in.Known != nil {
		serial, err := server.Serial(ctx)
		if err != nil {
			return dns.Report{}, err
		}
		if serial == *in.Known {
			return dns.Report{Unchanged: true, Serial: serial}, nil
		}
	}
	s := synchronization{Input: in, server: server, failures: make(map[place]*provider.Error)}
	for round := 1; ; round++ {
		plan, err := s.read(ctx)
		if err != nil || s.report.Brake != nil {
			return s.report, err
		}
		again, err := s.apply(ctx, plan, round == maxRounds)
		s.fail()
		if err != nil || !again {
			return s.report, err
		}
	}
}

// place of a record set in its zone.
type place struct {
	name dns.Name
	kind dns.Type
}

type synchronization struct {
	Input
	server   provider.Provider
	report   dns.Report
	failures map[place]*provider.Error
}

// read transfers the zone and makes the difference.
func (s *synchronization) read(ctx context.Context) (dns.Plan, error) {
	snapshot, err := s.server.Transfer(ctx)
	if err != nil {
		return dns.Plan{}, err
	}
	plan, err := dns.Difference(s.Settings, s.Desired, snapshot.Sets)
	if err != nil {
		return dns.Plan{}, fmt.Errorf("compare zone %s with its intent: %w", s.Settings.Zone, err)
	}
	s.report.Serial, s.report.NegativeTTL, s.report.Outside = snapshot.Serial, snapshot.NegativeTTL, snapshot.Outside
	s.report.Results = make([]dns.SetResult, len(plan.Results))
	for i, result := range plan.Results {
		s.report.Results[i] = dns.SetResult{Result: result}
	}
	if confirmation := plan.Confirmation(); plan.Brake != nil && !s.Confirmed.Covers(confirmation) {
		s.report.Brake, s.report.Plan = plan.Brake, confirmation
	}
	return plan, nil
}

// apply makes the changes of a plan, and reports whether the zone has to be read again.
func (s *synchronization) apply(ctx context.Context, plan dns.Plan, last bool) (again bool, err error) {
	inRow := 0
	for _, change := range plan.Changes {
		at := place{change.Name, change.Type}
		if failed := s.failures[at]; failed != nil && (last || failed.Reason != provider.Changed) {
			continue
		}
		delete(s.failures, at)
		if last {
			// It was made in an earlier round, and somebody undid it.
			s.failures[at] = contested(change)
			continue
		}
		applied, err := s.server.Apply(ctx, change)
		if err == nil {
			inRow, again = 0, true
			s.report.Applied++
			s.log("%s%s", change, map[bool]string{true: ": an earlier attempt did it"}[applied.Already])
			continue
		}
		failure := failureOf(err)
		s.log("%s: %s", change, failure.Text)
		s.failures[at] = failure
		again = again || failure.Reason == provider.Changed
		if inRow++; concernsZone(failure) || inRow == maxFailures {
			return false, failure
		}
	}
	return again, nil
}

// fail puts the failures to their results.
func (s *synchronization) fail() {
	for i, result := range s.report.Results {
		if failed := s.failures[place{result.Name, result.Type}]; failed != nil && result.Outcome.Writes() {
			s.report.Results[i].Failure = &dns.Failure{Reason: string(failed.Reason), Retry: failed.Retry, Text: failed.Text}
		}
	}
}

func (s *synchronization) log(format string, args ...any) {
	if s.Log != nil {
		s.Log(fmt.Sprintf(format, args...))
	}
}

func contested(change dns.Change) *provider.Error {
	return &provider.Error{
		Reason: provider.Changed, Fault: provider.User, Retry: true,
		Text: fmt.Sprintf("Another program changes the records of %s at the same time.", change.Name.Display()),
	}
}

func failureOf(err error) *provider.Error {
	var failure *provider.Error
	if errors.As(err, &failure) {
		return failure
	}
	return &provider.Error{Reason: provider.Invalid, Fault: provider.Ours, Text: "The change failed.", Err: err}
}

// concernsZone reports whether every other change would fail alike. An update can be refused for one name only.
func concernsZone(failure *provider.Error) bool {
	switch failure.Reason {
	case provider.Changed, provider.UpdateRefused, provider.ServerFailed, provider.TooLarge, provider.BadAnswer, provider.Invalid:
		return false
	default:
		return true
	}
}
