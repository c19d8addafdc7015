package showcase

import (
	"math/big"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// cell is a value of a row of the table.
func (t *table) cell(row []any, column string) any { return row[slices.Index(t.columns, column)] }

// billing makes the usage of everything that is allocated, and prices: of each resource but volumes, one that is past and one to come.
func (w *world) billing() {
	usage := table{name: "usage_records", columns: []string{"id", "organization_id", "project_id", "workspace_id", "allocation_id", "name", "cpus", "memory_bytes", "volume_bytes", "from_at"}}
	prices := table{name: "prices", columns: []string{"id", "resource", "price", "currency", "begins_at", "created_by", "created_at"}}
	w.more = append(w.more, &usage, &prices)
	units := map[any][]any{}
	for _, u := range w.units.rows {
		units[w.units.cell(u, "id")] = u
	}
	for _, a := range w.allocations.rows {
		u := units[w.allocations.cell(a, "unit_id")]
		of := func(column string) any { return w.units.cell(u, column) }
		name, _ := of("name").(string)
		login, _ := w.allocations.cell(a, "login_user").(string)
		usage.add(w.id(), w.org, w.project, w.workspace, w.allocations.cell(a, "id"), name+" "+login, of("cpu_count"), of("memory_max_bytes"), of("volume_bytes"), w.allocations.cell(a, "created_at"))
	}
	at := func(months int) time.Time {
		return time.Date(w.now.UTC().Year(), w.now.UTC().Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	}
	set := func(resource string, tenThousandths int64, begins time.Time) {
		prices.add(w.id(), resource, pgtype.Numeric{Int: big.NewInt(tenThousandths), Exp: -4, Valid: true}, "EUR", begins, "admin", w.ago(9*24*time.Hour))
	}
	set("unit_hour", 100, at(-14))
	set("cpu_hour", 150, at(-14))
	set("cpu_hour", 125, at(-2))
	set("cpu_hour", 110, at(2))
	set("memory_gib_hour", 42, at(-14))
}
