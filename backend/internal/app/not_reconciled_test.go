package app

import (
	"slices"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/policy"
	"kloigos/backend/internal/store"
)

// TestEveryNounIsReconciledOrSaysWhyNot: a noun of the API has a policy, makes one due, or stands in the list with its reason, and
// never both.
func TestEveryNounIsReconciledOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	areas, err := NewAreas(Parts{})
	if err != nil {
		t.Fatal(err)
	}
	looked := map[string]bool{}
	inFlight := append(store.InFlight(), areas.InFlight...)
	for _, p := range slices.Concat(areas.Policies, []reconcile.Policy{policy.LintPlaybooks(nil, nil)}, reconcile.InFlight(nil, inFlight)) {
		for _, noun := range append(slices.Clone(p.Triggers), p.Noun, p.Name) {
			looked[noun] = true
		}
	}
	not := policy.NotReconciled()
	for noun, why := range areas.NotReconciled {
		if not[noun] != "" {
			t.Errorf("%s stands in two lists", noun)
		}
		not[noun] = why
	}
	nouns := map[string]bool{}
	for _, permission := range api.Permissions() {
		scope, _, _ := strings.Cut(permission, ":")
		nouns[scope[strings.LastIndex(scope, ".")+1:]] = true
	}
	delete(nouns, "self") // whoever asks
	if len(nouns) < 30 {
		t.Fatalf("the API has %d nouns", len(nouns))
	}
	for noun := range nouns {
		switch why := not[noun]; {
		case looked[noun] && why != "":
			t.Errorf("a policy looks at %s, and the list says that none does: %s", noun, why)
		case !looked[noun] && why == "":
			t.Errorf("no policy looks at %s, and no list says why", noun)
		}
	}
	// What has a deadline is looked at.
	var sources []string
	for _, s := range inFlight {
		sources = append(sources, s.Noun)
	}
	slices.Sort(sources)
	if want := []string{"allocation", "cluster", "dns_zone", "host", "hosted_control_plane", "plan", "unit"}; !slices.Equal(sources, want) {
		t.Errorf("deadlines are handed in for %v, want %v", sources, want)
	}
}
