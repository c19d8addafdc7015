package faults

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A name that is mistyped must not end well with nothing tried.
func TestUnknownScenariosAreRefused(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	err := Run(t.Context(), Options{Root: "../..", Dir: t.TempDir(), Out: &said, Only: []string{"paused", "pauesd", ""}})
	if err == nil || !strings.Contains(err.Error(), `"pauesd, "`) {
		t.Fatalf("%v", err)
	}
	for _, one := range Scenarios() {
		if !strings.Contains(err.Error(), one.Name) {
			t.Errorf("%s is not named as one that there is: %v", one.Name, err)
		}
	}
	if said.Len() > 0 {
		t.Errorf("something was run: %s", &said)
	}
}

func TestScenariosAreChosenByName(t *testing.T) {
	t.Parallel()
	all, err := named(nil)
	if err != nil || len(all) != len(Scenarios()) {
		t.Errorf("%d without names, %v", len(all), err)
	}
	some, err := named([]string{"soak", "paused"})
	if err != nil || len(some) != 2 || some[0].Name != "paused" || some[1].Name != "soak" {
		t.Errorf("%v, %v", some, err)
	}
	names := map[string]bool{}
	for _, one := range all {
		if names[one.Name] || one.Run == nil || one.Goes == "" {
			t.Errorf("%q is there twice, or does nothing", one.Name)
		}
		names[one.Name] = true
	}
}

// TestAllPlaysAreKnown: a play that nobody has here is one at whose end no
// backend is ever killed.
func TestAllPlaysAreKnown(t *testing.T) {
	t.Parallel()
	var there, known []string
	for _, file := range []string{"playbook.yml", "bootstrap.yml"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "playbooks", "*", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			there = append(there, "play_done."+filepath.Base(filepath.Dir(path))+"."+file)
		}
	}
	for _, play := range plays {
		known = append(known, play.point)
	}
	slices.Sort(there)
	slices.Sort(known)
	if !slices.Equal(there, known) {
		t.Errorf("known are %q, there are %q", known, there)
	}
}
