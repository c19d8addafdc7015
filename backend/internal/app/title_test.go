package app

import (
	"strings"
	"testing"

	"kloigos/backend/api"
)

// TestKindsOfAreasHaveTitles: jobs of areas are called by a sentence too, which names their object.
func TestKindsOfAreasHaveTitles(t *testing.T) {
	t.Parallel()
	areas, err := NewAreas(Parts{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := areas.Kinds.Kinds()
	if len(kinds) < 4 {
		t.Fatalf("the areas have %q: this test would show nothing", kinds)
	}
	for _, kind := range kinds {
		title := api.JobKindTitle(kind)
		if title == strings.ReplaceAll(kind, "_", " ") || title[:1] != strings.ToUpper(title[:1]) {
			t.Errorf("%s is called %q", kind, title)
		}
		if of := (api.Job{Kind: kind, Objects: []api.JobObject{{Name: "apps"}}}).Title(); of != title+" apps" {
			t.Errorf("%s of apps is called %q", kind, of)
		}
	}
}
