package iamhttp

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// Permissions on usage and prices. Who may read statements alone sees sums of an organization, and nothing inside of it.
const (
	readUsage      = "organization.usage:read"
	readStatements = "organization.statement:read"
	setPrices      = "installation.price:set"
)

// billing is the routes of usage, prices and statements.
type billing struct{ handlers }

func (b billing) register() {
	s := b.server
	httpapi.Register(s, "list-usage", b.listUsage, httpapi.Sorted(iam.UsageSorting))
	httpapi.Register(s, "get-statement", b.statement)
	httpapi.Register(s, "list-prices", b.listPrices)
	httpapi.Register(s, "create-price", b.createPrice, httpapi.Created, httpapi.Example(api.CreatePrice{
		Resource: "cpu_hour", Price: "0.0125", Currency: "EUR", BeginsAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
	}))
	httpapi.Register(s, "delete-price", b.deletePrice)
}

func (b billing) listUsage(ctx context.Context, in *struct{ api.UsageFilter }) (*httpapi.Object[api.Page[api.UsageLine]], error) {
	a, err := b.asker(ctx)
	if err != nil {
		return nil, err
	}
	named, err := b.theOne(ctx, a, in.Scope)
	if err != nil {
		return nil, err
	}
	at, _, err := b.scopeAt(ctx, a, named, readUsage)
	if err != nil {
		return nil, err
	}
	first, last, err := days(in.First, in.Last, time.Now().UTC())
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf(b.server, "list-usage", in.PageQuery, []string{at.ID.String(), first.Format(time.DateOnly), last.Format(time.DateOnly)}, iam.UsageSorting,
		func(after *db.Position, limit int) ([]iam.UsageLine, error) {
			return iam.Usage(ctx, b.server.DB().Reader, iam.UsageFilter{Scope: at, First: first, Last: last, Sort: in.Sort, After: after, Limit: limit})
		}, presentUsage)
}

// days are the first and the last day that a request asks for: this month until today if it does not say.
func days(firstText, lastText string, now time.Time) (first, last time.Time, err error) {
	last = now.Truncate(24 * time.Hour)
	if lastText != "" {
		if last, err = iam.ParseDay(lastText); err != nil {
			return first, last, httpapi.BadField("last", err.Error())
		}
	}
	first = time.Date(last.Year(), last.Month(), 1, 0, 0, 0, 0, time.UTC)
	if firstText != "" {
		if first, err = iam.ParseDay(firstText); err != nil {
			return first, last, httpapi.BadField("first", err.Error())
		}
	}
	if err := iam.Days(first, last); err != nil {
		return first, last, httpapi.BadField("last", err.Error())
	}
	return first, last, nil
}

func presentUsage(l iam.UsageLine) api.UsageLine {
	return api.UsageLine{
		Day: l.Day.UTC().Format(time.DateOnly), Project: l.Project, Workspace: l.Workspace, AllocationID: l.Allocation.String(), Name: l.Name,
		CPUCount: l.CPUs, MemoryBytes: l.MemoryBytes, VolumeBytes: l.VolumeBytes, Seconds: l.Seconds,
	}
}

func (b billing) statement(ctx context.Context, in *struct{ api.StatementFilter }) (*httpapi.Object[api.Statement], error) {
	a, at, err := b.organizationAt(ctx, in.Organization, readStatements)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	if in.Month != "" {
		if month, err = iam.ParseMonth(in.Month); err != nil {
			return nil, httpapi.BadField("month", err.Error())
		}
	}
	made, err := iam.StatementOf(ctx, b.server.DB().Reader, at.ID, month, now, !a.may(readUsage, at))
	if err != nil {
		return nil, err
	}
	out := api.Statement{
		Organization: at.Name, Month: month.Format("2006-01"), Over: made.Over,
		Lines: []api.StatementLine{}, Totals: []api.StatementTotal{}, Missing: append([]string{}, made.Missing...),
	}
	for _, l := range made.Lines {
		out.Lines = append(out.Lines, api.StatementLine{
			Project: l.Project, Workspace: l.Workspace, Resource: l.Resource, Quantity: l.Quantity, Price: l.Price, Currency: l.Currency, Cost: l.Cost,
		})
	}
	for _, t := range made.Totals {
		out.Totals = append(out.Totals, api.StatementTotal{Currency: t.Currency, Cost: t.Cost})
	}
	return &httpapi.Object[api.Statement]{Body: out}, nil
}

func (b billing) listPrices(ctx context.Context, _ *struct{}) (*httpapi.Object[api.Page[api.Price]], error) {
	a, err := b.asker(ctx)
	if err != nil {
		return nil, err
	}
	all, err := iam.Prices(ctx, b.server.DB().Reader)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(all, func(p iam.Price) api.Price { return presentPrice(a, p) }), nil
}

func presentPrice(a asker, p iam.Price) api.Price {
	return api.Price{
		ID: p.ID.String(), Resource: p.Resource, Price: p.Price, Currency: p.Currency, BeginsAt: p.BeginsAt, State: p.State, CreatedBy: p.CreatedBy, CreatedAt: p.CreatedAt,
		Operations: []api.Operation{a.operation("delete", setPrices, iam.Scope{}, p.CanDelete(time.Now()))},
	}
}

func (b billing) createPrice(ctx context.Context, in *struct{ Body api.CreatePrice }) (*httpapi.Object[api.Price], error) {
	a, err := b.asker(ctx)
	if err != nil {
		return nil, err
	}
	made, err := b.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		p, err := iam.AddPrice(ctx, tx, iam.PriceDraft{Resource: in.Body.Resource, Price: in.Body.Price, Currency: in.Body.Currency, BeginsAt: in.Body.BeginsAt})
		return p.ID, err
	})
	if err != nil {
		return nil, err
	}
	p, err := iam.PriceByID(ctx, b.server.DB().Reader, made.Object)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.Price]{Body: presentPrice(a, p)}, nil
}

func (b billing) deletePrice(ctx context.Context, in *httpapi.ByID) (*httpapi.Nothing, error) {
	id, ok := httpapi.ID(in.ID)
	if !ok {
		return nil, fault.ErrNotFound
	}
	_, err := b.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) { return id, iam.DeletePrice(ctx, tx, id) })
	return nil, err
}
