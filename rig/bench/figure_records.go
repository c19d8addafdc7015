package bench

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
	"kloigos/crdb/localdb"
)

var (
	//go:embed sql/zones.sql
	zonesSQL string
	//go:embed sql/records.sql
	recordsSQL string
)

var listedRecords = listed{"/dns-record-sets", "FROM dns_record_sets", func(ctx context.Context, s *backend, q api.PageQuery) (string, error) {
	page, err := s.client.ListDNSRecordSets(ctx, api.DNSRecordSetFilter{PageQuery: q})
	return page.NextCursor, err
}}

// records compares pages of the record sets of 100 zones with the same SQL in pgbench.
func records(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	database, err := b.copyDatabase(ctx, prepared)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	if err := b.fillZones(ctx, database, scale.Records); err != nil {
		return nil, err
	}
	s, err := b.startBackend(ctx, database, "api")
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Kill() }()
	cursors, err := s.cursors(ctx, listedRecords)
	if err != nil {
		return nil, err
	}
	bare, err := b.pages(ctx, s, database, listedRecords, cursors)
	if err != nil {
		return nil, err
	}
	bare.each = max(1, scale.Pages/readers)
	var ours, theirs []time.Duration // p99 of each round
	for range scale.Rounds {
		m, err := b.costed("pgbench", 0, func() (measured, error) { return b.runPgbench(ctx, bare) })
		if err != nil {
			return nil, err
		}
		theirs = append(theirs, percentile(m.latencies, 99))
		if m, err = b.costed("Kloigos", s.PID, func() (measured, error) { return s.readPages(ctx, listedRecords, scale.Pages, cursors) }); err != nil {
			return nil, err
		}
		ours = append(ours, percentile(m.latencies, 99))
		b.say("   p99: %s, pgbench %s", milliseconds(ours[len(ours)-1]), milliseconds(theirs[len(theirs)-1]))
	}
	return []Result{{
		What:  fmt.Sprintf("p99 of a page of %d out of %d record sets of 100 zones, one reader, over the same SQL in pgbench", pageSize, scale.Records),
		Limit: Limit{Value: 3}, Measured: float64(median(ours)) / float64(median(theirs)),
		Raw: milliseconds(median(ours)) + ", pgbench " + milliseconds(median(theirs)),
	}}, nil
}

// fillZones makes the rows. PostgreSQL plans the checks of foreign keys by what it knows of the tables, so each is analyzed
// before the next refers to it.
func (b *Bed) fillZones(ctx context.Context, database string, n int) error {
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{zonesSQL, []any{n}},
		{"VACUUM (ANALYZE) dns_zones, dns_names", nil},
		{recordsSQL, nil},
		{"VACUUM (ANALYZE) dns_record_sets", nil},
	} {
		// A connection of its own: one keeps the plans that it made before the tables had rows.
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return fmt.Errorf("connect to %s: %w", database, err)
		}
		_, err = conn.Exec(ctx, step.sql, step.args...)
		_ = conn.Close(ctx)
		if err != nil {
			return fmt.Errorf("make record sets: %w", err)
		}
	}
	return nil
}
