package intent

import (
	"errors"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/google/go-cmp/cmp"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
)

// A name that no account has costs the same work as a wrong password: one
// comparison with a hash of the same cost. Counted, not timed, because time on
// a busy machine tells nothing.
func TestUnknownAccountCostsTheSameWork(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), testkit.MigratedURL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, _, err := CreateAdministrator(t.Context(), db, domain.Actor{Kind: domain.ActorInit, Name: "init"}, "admin"); err != nil {
		t.Fatal(err)
	}
	s := NewSessions(db)
	var costs []argon2id.Params
	s.compare = func(password, hash string) (bool, error) {
		match, cost, err := argon2id.CheckHash(password, hash)
		costs = append(costs, *cost)
		return match, err
	}
	for _, name := range []string{"admin", "nobody"} {
		if _, err := s.Login(t.Context(), domain.Actor{}, name, "wrong"); !errors.Is(err, ErrBadLogin) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff([]argon2id.Params{passwordCost, passwordCost}, costs); diff != "" {
		t.Errorf("work done (-want +got):\n%s", diff)
	}
}
