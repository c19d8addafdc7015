package httpapi_test

import (
	"net/http"
	"testing"

	"kloigos/backend/api"
)

func TestCapacity(t *testing.T) {
	t.Parallel()
	b := setup(t)
	read := func() api.Capacity {
		// Another server: what one has counted it tells for a moment.
		_, url := b.serve(b.cfg2())
		here := b.url
		b.url = url
		defer func() { b.url = here }()
		return decode[api.Capacity](t, b.mustDo(http.MethodGet, "/capacity", nil, http.StatusOK))
	}
	if c := read(); c.Places == nil || c.Hosts == nil || len(c.Places)+len(c.Hosts)+c.LeftOut > 0 {
		t.Errorf("of nothing: %+v", c)
	}
	ready := b.ready("h1")
	b.probed("h2")
	var units, cpus int
	b.row(&units, "SELECT count(*) FROM compute_units")
	b.row(&cpus, "SELECT sum(cpu_count)::INT8 FROM compute_units")
	c := read()
	if len(c.Places) != 1 || c.Places[0].Hosts["ready"] != 1 || c.Places[0].Hosts["probed"] != 1 {
		t.Errorf("places %+v", c.Places)
	}
	if free := c.Places[0].Units["free"]; units == 0 || free.Units != units || free.CPUs != cpus || free.MemoryBytes <= 0 || free.VolumeBytes <= 0 {
		t.Errorf("%+v of %d units with %d CPUs", free, units, cpus)
	}
	if len(c.Hosts) != 2 || c.Hosts[0].Name != "h2" || c.Hosts[0].LaidOut || c.Hosts[1].ID != ready.ID || !c.Hosts[1].LaidOut || c.Hosts[1].Units["free"] != units {
		t.Errorf("hosts %+v", c.Hosts)
	}
	b.sql("UPDATE hosts SET region = 'north', zone = 'a' WHERE name = 'h1'")
	if c = read(); len(c.Places) != 2 || c.Places[1].Zone != "a" || c.Places[1].Units["free"].Units != units || len(c.Places[0].Units) != 0 {
		t.Errorf("places %+v", c.Places)
	}
	b.sql("UPDATE hosts SET removed_at = now() WHERE name = 'h2'")
	if c = read(); len(c.Places) != 1 || len(c.Hosts) != 1 {
		t.Errorf("a removed host is counted: %+v", c)
	}
}
