package iam

import (
	"cmp"
	"math/big"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// Limits of one question for usage.
const (
	// longestUsage is how many days one list of usage covers.
	longestUsage = 366
	firstYear    = 2000
	lastYear     = 9999
)

// UsageLine is what one allocation had in use on one day (UTC).
type UsageLine struct {
	Day         time.Time `db:"day"`
	ID          uuid.UUID `db:"id"` // of the usage record
	Allocation  uuid.UUID `db:"allocation_id"`
	Name        string    `db:"name"` // unit and login user, as they were called
	Project     string    `db:"project"`
	Workspace   string    `db:"workspace"`
	CPUs        int64     `db:"cpus"`
	MemoryBytes int64     `db:"memory_bytes"`
	VolumeBytes int64     `db:"volume_bytes"`
	Seconds     float64   `db:"seconds"`
}

// ParseDay reads a day, such as 2026-11-25; it begins at midnight UTC.
func ParseDay(text string) (time.Time, error) { return parseTime("2006-01-02", text, "2026-11-25") }

// ParseMonth reads a month, such as 2026-11.
func ParseMonth(text string) (time.Time, error) { return parseTime("2006-01", text, "2026-11") }

func parseTime(layout, text, example string) (time.Time, error) {
	at, err := time.Parse(layout, text)
	if err != nil || at.Year() < firstYear || at.Year() > lastYear-1 {
		return time.Time{}, refused("Write it like " + example + ".")
	}
	return at, nil
}

type refused string

func (r refused) Error() string { return string(r) }

// Days checks the first and the last day of a list.
func Days(first, last time.Time) error {
	switch {
	case last.Before(first):
		return refused("The last day lies before the first.")
	case last.Sub(first) >= longestUsage*24*time.Hour:
		return refused("One list covers at most a year.")
	}
	return nil
}

// PricedResources are what a price can be for, with how many unit-seconds of the usage make one of them.
var PricedResources = []string{"unit_hour", "cpu_hour", "memory_gib_hour", "volume_gib_hour"}

var perResource = map[string]*big.Rat{
	"unit_hour": big.NewRat(3600, 1), "cpu_hour": big.NewRat(3600, 1),
	"memory_gib_hour": big.NewRat(3600<<30, 1), "volume_gib_hour": big.NewRat(3600<<30, 1),
}

// Price is one row of prices.
type Price struct {
	ID        uuid.UUID `db:"id"`
	Resource  string    `db:"resource"`
	Price     string    `db:"price"` // decimal
	Currency  string    `db:"currency"`
	BeginsAt  time.Time `db:"begins_at"`
	State     string    `db:"state"` // in_force, later, past
	CreatedBy string    `db:"created_by"`
	CreatedAt time.Time `db:"created_at"`
}

// PriceDraft is a price as a person writes it.
type PriceDraft struct {
	Resource, Price, Currency string
	BeginsAt                  time.Time
}

// check refuses what no statement can use. A month that is over keeps its prices.
func (d PriceDraft) check(now time.Time) error {
	var bad fault.Invalid
	if !slices.Contains(PricedResources, d.Resource) {
		bad.Add("resource", "There is no such resource.")
	}
	if !validPrice.MatchString(d.Price) {
		bad.Add("price", "Write a decimal number with at most 10 digits before and 8 behind the point.")
	}
	if !validCurrency.MatchString(d.Currency) {
		bad.Add("currency", "Write the three capital letters of a currency, such as EUR.")
	}
	if d.BeginsAt.Before(monthOf(now)) || d.BeginsAt.Year() > lastYear-1 {
		bad.Add("begins_at", "A price begins this month at the earliest: statements of months that are over stay.")
	}
	return bad.OrNil()
}

// CanDelete tells why a price stays; nil if it has not begun.
func (p Price) CanDelete(now time.Time) error {
	if !p.BeginsAt.After(now) {
		return fault.Conflictf("price_begun", "The price counts since %s. Add another one that begins later.", p.BeginsAt.UTC().Format(time.DateOnly))
	}
	return nil
}

func monthOf(at time.Time) time.Time {
	at = at.UTC()
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// usedSeconds is how much a workspace had in use between two changes of prices: amount times seconds.
type usedSeconds struct {
	Project   string `db:"project"`
	Workspace string `db:"workspace"`
	Units     string `db:"units"`
	CPUs      string `db:"cpus"`
	Memory    string `db:"memory"`
	Volume    string `db:"volume"`
}

func (u usedSeconds) secondsOf(resource string) string {
	return map[string]string{"unit_hour": u.Units, "cpu_hour": u.CPUs, "memory_gib_hour": u.Memory, "volume_gib_hour": u.Volume}[resource]
}

// StatementLine is what one workspace used of one resource at one price. Without a price, Price and Cost are empty.
type StatementLine struct {
	Project, Workspace, Resource string
	Quantity                     string // decimal, of the resource's unit
	Price, Currency              string
	Cost                         string // decimal, with two digits
	since                        time.Time
	quantity, cost               *big.Rat
}

// Statement is what an organization used in a month, and what it costs.
type Statement struct {
	Month   time.Time
	Over    bool // the month is over: the statement stays as it is
	Lines   []StatementLine
	Totals  []Total
	Missing []string // resources that were used without a price
}

// Total is the sum of the lines of one currency.
type Total struct{ Currency, Cost string }

// add puts what was used in one period into the statement.
func (s *Statement) add(used []usedSeconds, prices map[string]Price, since time.Time, merged bool) {
	for _, u := range used {
		if merged {
			u.Project, u.Workspace = "", ""
		}
		for _, resource := range PricedResources {
			seconds, ok := new(big.Rat).SetString(u.secondsOf(resource))
			if !ok || seconds.Sign() <= 0 {
				continue
			}
			quantity := seconds.Quo(seconds, perResource[resource])
			price := prices[resource]
			i := slices.IndexFunc(s.Lines, func(l StatementLine) bool {
				return l.Project == u.Project && l.Workspace == u.Workspace && l.Resource == resource && l.Price == price.Price && l.Currency == price.Currency
			})
			if i < 0 {
				s.Lines = append(s.Lines, StatementLine{
					Project: u.Project, Workspace: u.Workspace, Resource: resource, Price: price.Price, Currency: price.Currency, since: since, quantity: new(big.Rat),
				})
				i = len(s.Lines) - 1
			}
			s.Lines[i].quantity.Add(s.Lines[i].quantity, quantity)
		}
	}
}

// close rounds each line once, and adds up what is shown.
func (s *Statement) close() {
	totals := map[string]*big.Rat{}
	for i := range s.Lines {
		l := &s.Lines[i]
		l.Quantity = l.quantity.FloatString(4)
		price, ok := new(big.Rat).SetString(l.Price)
		if !ok {
			if !slices.Contains(s.Missing, l.Resource) {
				s.Missing = append(s.Missing, l.Resource)
			}
			continue
		}
		l.Cost = price.Mul(price, l.quantity).FloatString(2)
		l.cost, _ = new(big.Rat).SetString(l.Cost)
		if totals[l.Currency] == nil {
			totals[l.Currency] = new(big.Rat)
		}
		totals[l.Currency].Add(totals[l.Currency], l.cost)
	}
	slices.SortFunc(s.Lines, func(a, b StatementLine) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Resource, b.Resource), a.since.Compare(b.since))
	})
	slices.Sort(s.Missing)
	for currency, cost := range totals {
		s.Totals = append(s.Totals, Total{currency, cost.FloatString(2)})
	}
	slices.SortFunc(s.Totals, func(a, b Total) int { return cmp.Compare(a.Currency, b.Currency) })
}
