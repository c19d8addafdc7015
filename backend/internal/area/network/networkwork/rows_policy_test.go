package networkwork_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/area/network"
	"kloigos/backend/internal/area/network/networkwork"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/testkit/site"
)

// An old backend writes the name of a network only.
func TestRowsOfAnOldBackend(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("north", 3)
	s.ReadyHost(site.HostSpec{Networks: []string{"north", "west"}})
	old, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close(t.Context())
	for _, statement := range []string{"UPDATE addresses SET network_id = NULL", "DELETE FROM networks"} {
		if _, err := old.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	policy := networkwork.RowsPolicy(s.DB.DB)
	for i, want := range []int64{2 + 3, 0} {
		out, err := policy.Run(t.Context(), reconcile.Item{})
		if err != nil || out.Changed != want {
			t.Fatalf("run %d wrote %d rows, want %d: %v", i, out.Changed, want, err)
		}
	}
	rows, err := network.Networks(t.Context(), s.DB.Reader, network.Filter{WorkspaceID: domain.DefaultWorkspace, Limit: 10})
	if err != nil || len(rows) != 2 || rows[0].Name != "north" || rows[0].Addresses != 3 || rows[1].Name != "west" || rows[1].Hosts != 1 {
		t.Fatalf("%+v, %v", rows, err)
	}
	var joined int
	err = old.QueryRow(t.Context(), "SELECT count(*) FROM addresses p JOIN networks n ON n.id = p.network_id AND n.name = p.network").Scan(&joined)
	if err != nil || joined != 3 {
		t.Errorf("%d addresses are in the network that they name, want 3: %v", joined, err)
	}
}
