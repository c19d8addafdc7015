package faults

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kloigos/backend/api"
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
// backend is ever killed. Plays of clusters are not met here: no host of this suite can
// be a node. A test of backend/internal/app kills a backend during a join. Another one ends a backend between the plays of host_admin_key.
func TestAllPlaysAreKnown(t *testing.T) {
	t.Parallel()
	var there, known []string
	for _, file := range []string{"playbook.yml", "bootstrap.yml"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "playbooks", "*", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if name := filepath.Base(filepath.Dir(path)); strings.HasPrefix(name, "kube") || name == "host_admin_key" {
				continue
			}
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

func TestLogIsReadWholeAndInOrder(t *testing.T) {
	t.Parallel()
	line := func(sequence int64, task, item string) api.LogEntry {
		return api.LogEntry{Sequence: sequence, Task: task, Item: item}
	}
	end := api.LogEntry{Message: "The log of this attempt has reached its limit; what follows is left out."}
	for name, one := range map[string]struct {
		told  []api.LogEntry
		cut   bool
		wrong string
	}{
		"whole":                   {told: []api.LogEntry{line(1, "a", ""), line(2, "a", "0"), line(3, "a", "1"), line(4, "b", "0"), line(5, "b", "1")}},
		"an entry is missing":     {told: []api.LogEntry{line(1, "a", "0"), line(3, "a", "1")}, wrong: "follows entry"},
		"a line is missing":       {told: []api.LogEntry{line(1, "a", "0"), line(2, "a", "2")}, wrong: "is where line 1"},
		"a line comes twice":      {told: []api.LogEntry{line(1, "a", "0"), line(2, "a", "0")}, wrong: "is where line 1"},
		"a task's end is missing": {told: []api.LogEntry{line(1, "a", "0"), line(2, "b", "0")}, wrong: "were read back"},
		"the end is missing":      {told: []api.LogEntry{line(1, "a", "0"), line(2, "a", "1"), line(3, "b", "0")}, wrong: "were read back"},
		"a task is missing":       {told: []api.LogEntry{line(1, "a", "0"), line(2, "a", "1")}, wrong: "were read back"},
		"cut where it may be":     {told: []api.LogEntry{line(1, "a", "0"), line(2, "a", "1"), end}, cut: true},
		"cut where it may not":    {told: []api.LogEntry{line(1, "a", "0"), line(2, "a", "1"), end}, wrong: "is cut"},
		"cut too early":           {told: []api.LogEntry{line(1, "a", "0"), end}, cut: true, wrong: "which are not"},
		"more after the cut":      {told: []api.LogEntry{end, line(2, "a", "0")}, cut: true, wrong: "follows the end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := reading{lines: 2}
			var err error
			for _, e := range one.told {
				if e.Sequence == 0 {
					e.Sequence = read.last + 1
				}
				if err = read.take(e); err != nil {
					break
				}
			}
			if err == nil {
				err = read.whole(one.cut)
			}
			if (err == nil) != (one.wrong == "") || err != nil && !strings.Contains(err.Error(), one.wrong) {
				t.Errorf("%v", err)
			}
		})
	}
}
