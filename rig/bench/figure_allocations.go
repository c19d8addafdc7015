package bench

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"kloigos/backend/api"
	"kloigos/crdb/localdb"
)

var (
	//go:embed sql/fleet.sql
	fleetSQL string
	//go:embed sql/addresses.sql
	addressesSQL string
	//go:embed sql/allocate.sql
	allocateSQL string
)

const (
	unitsAHost = 64
	// someKey is a key that nobody has the other half of.
	someKey     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1 bench"
	someHostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1"
)

// fleet makes a database with that many units, some of which have tenants. Nothing answers on their hosts.
func (b *Bed) fleet(ctx context.Context, units, occupied int) (string, error) {
	return b.fleetOf(ctx, fleet{units: units, each: unitsAHost, occupied: occupied, address: "127.0.0.1", port: 22, hostKey: someHostKey})
}

func (b *Bed) fleetOf(ctx context.Context, f fleet) (string, error) {
	name, err := b.copyDatabase(ctx, prepared)
	if err != nil {
		return "", err
	}
	return name, b.fill(ctx, name, f)
}

// fleet is what a database is filled with.
type fleet struct {
	units, each, occupied int
	address               string // of all hosts
	port                  int
	hostKey               string
}

func (b *Bed) fill(ctx context.Context, database string, f fleet) error {
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", database, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, fleetSQL, f.units, f.each, f.port, f.address, f.hostKey); err != nil {
		return fmt.Errorf("make a fleet: %w", err)
	}
	if _, err := conn.Exec(ctx, addressesSQL, f.units+f.units/10+10); err != nil {
		return fmt.Errorf("make addresses: %w", err)
	}
	if _, err := conn.Exec(ctx, occupySQL, f.occupied); err != nil {
		return fmt.Errorf("occupy a part of the fleet: %w", err)
	}
	// Only what has rows: of an empty table that was analyzed, PostgreSQL would believe that it stays so.
	_, err = conn.Exec(ctx, "VACUUM (ANALYZE) hosts, compute_units, addresses, uids, allocations")
	return err
}

// demand is what one request asks for.
type demand func() api.CreateAllocation

func uniform() api.CreateAllocation {
	return api.CreateAllocation{CPUs: 1 << rand.IntN(4), Zone: fmt.Sprintf("zone-%d", rand.IntN(4)), SSHKeys: []string{someKey}}
}

func skewed() api.CreateAllocation {
	return api.CreateAllocation{CPUs: 2, Zone: "zone-1", SSHKeys: []string{someKey}}
}

// skewedSQL is allocate.sql with the skewed demand.
func skewedSQL() string {
	return strings.NewReplacer(`\set size 1 << random(0, 3)`, `\set size 2`, `\set zone random(0, 3)`, `\set zone 1`).Replace(allocateSQL)
}

func (s *backend) post(r *fasthttp.Request, path string, body any) {
	text, _ := json.Marshal(body) // of types that marshal
	r.Header.SetMethod(http.MethodPost)
	r.SetRequestURI("http://" + s.listen + api.Prefix + path)
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Idempotency-Key", uuid.NewString())
	r.Header.SetContentType("application/json")
	r.SetBody(text)
}

// allocate has many clients ask for units through the API.
func (s *backend) allocate(ctx context.Context, clients, each int, what demand) (measured, error) {
	return load{
		address: s.listen, clients: clients, each: each,
		next: func(_, _ int, r *fasthttp.Request) bool {
			s.post(r, "/allocations", what())
			return true
		},
		take: expect(http.StatusAccepted),
	}.run(ctx)
}

// allocations compares the API with pgbench, and a demand for one kind of unit with one for all kinds. Every round of
// every side has a fresh copy of the same fleet.
func allocations(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	fleet, err := b.fleet(ctx, scale.Units, scale.Units/4)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, fleet) }()
	sides := []struct {
		name string
		warm int // rows of each client's warming up
		run  func(database string) (measured, error)
	}{
		{"pgbench", 0, func(database string) (measured, error) { return b.allocateBare(ctx, database, scale, allocateSQL) }},
		{"pgbench, skewed", 0, func(database string) (measured, error) { return b.allocateBare(ctx, database, scale, skewedSQL()) }},
		{"Kloigos", warmUp, func(database string) (measured, error) { return b.allocateOn(ctx, database, scale, uniform) }},
		{"Kloigos, skewed", warmUp, func(database string) (measured, error) { return b.allocateOn(ctx, database, scale, skewed) }},
	}
	rates := make([][]float64, len(sides))
	for range scale.Rounds {
		for i, side := range sides {
			database, err := b.copyDatabase(ctx, fleet)
			if err != nil {
				return nil, err
			}
			m, err := side.run(database)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.name, err)
			}
			if err := b.checkAllocations(ctx, database, scale.Clients*(scale.Each+side.warm)); err != nil {
				return nil, fmt.Errorf("%s: %w", side.name, err)
			}
			if err := b.dropDatabase(ctx, database); err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], m.perSecond)
		}
	}
	bare, ours, oursSkewed := median(rates[0]), median(rates[2]), median(rates[3])
	return []Result{
		{
			What: fmt.Sprintf("accepted allocations a second, %d clients, over pgbench with the same rows in one statement (READ COMMITTED)", scale.Clients), Limit: Limit{Value: 0.6, AtLeast: true},
			Measured: ours / bare, Raw: fmt.Sprintf("%.0f/s, pgbench %.0f/s", ours, bare),
		},
		{
			What: "the same, all for one size and zone, over all sizes and zones", Limit: Limit{Value: 0.7, AtLeast: true},
			Measured: oursSkewed / ours, Raw: fmt.Sprintf("%.0f/s, all kinds %.0f/s; pgbench, one kind %.0f/s", oursSkewed, ours, median(rates[1])),
		},
	}, nil
}

// warmUp is how many allocations each client makes before they are counted: connections, prepared statements.
const warmUp = 3

// allocateOn starts a backend for the API only, so that the jobs stay where they are, and lets it warm up.
func (b *Bed) allocateOn(ctx context.Context, database string, scale Scale, what demand) (measured, error) {
	s, err := b.startBackend(ctx, database, "api")
	if err != nil {
		return measured{}, err
	}
	defer func() { _ = s.Kill() }()
	if _, err := s.allocate(ctx, scale.Clients, warmUp, what); err != nil {
		return measured{}, fmt.Errorf("warm up: %w", err)
	}
	return b.costed("Kloigos", s.PID, func() (measured, error) { return s.allocate(ctx, scale.Clients, scale.Each, what) })
}

func (b *Bed) allocateBare(ctx context.Context, database string, scale Scale, sql string) (measured, error) {
	return b.costed("pgbench", 0, func() (measured, error) {
		return b.runPgbench(ctx, script{texts: []string{sql}, variables: []string{"n=0"}, clients: scale.Clients, each: scale.Each, database: database})
	})
}

// checkAllocations makes sure that the rows are really there, each unit and address once.
func (b *Bed) checkAllocations(ctx context.Context, database string, want int) error {
	for _, query := range []string{
		"SELECT count(*) FROM allocations WHERE state = 'allocating'", "SELECT count(DISTINCT unit_id) FROM allocations WHERE state = 'allocating'",
		"SELECT count(*) FROM compute_units WHERE state = 'allocating'", "SELECT count(*) FROM addresses WHERE state = 'reserved'",
		"SELECT count(*) FROM jobs WHERE state = 'queued'", "SELECT count(*) FROM job_steps", "SELECT count(DISTINCT uid) FROM allocations WHERE state = 'allocating'",
		"SELECT count(*) FROM events WHERE action = 'allocation.create'", "SELECT count(*) FROM idempotency_keys",
	} {
		n, err := b.value(ctx, database, query)
		if err != nil {
			return err
		}
		if int(n) != want {
			return fmt.Errorf("%d instead of %d: %s", n, want, query)
		}
	}
	return nil
}
