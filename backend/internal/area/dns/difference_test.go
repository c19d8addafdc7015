package dns

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func settings(mode Mode) Settings {
	return Settings{Zone: zone, ZoneID: "z", Installation: "i", Mode: mode}
}

func set(name string, kind Type, values ...string) RecordSet {
	parsed, problems := Draft{name, string(kind), 60, values}.Check(zone)
	if problems != nil {
		panic(problems)
	}
	return parsed
}

func stored(sets ...RecordSet) []Stored {
	var all []Stored
	for _, s := range sets {
		held := Stored{RecordSet: s}
		for _, value := range s.Values {
			data, err := Rdata(s.Type, value)
			if err != nil {
				panic(err)
			}
			held.Rdata = append(held.Rdata, data)
		}
		all = append(all, held)
	}
	return all
}

// owned is a record set with its ownership record.
func owned(s RecordSet, owner Owner) []Stored { return stored(s, owner.Record(s.Name, s.Type)) }

func TestDifferenceOfOneRecordSet(t *testing.T) {
	t.Parallel()
	here, other := set("www", A, "192.0.2.1"), set("www", A, "192.0.2.9")
	ours, elsewhere := Owner{"i", "z", "s"}, Owner{"j", "z", "s"}
	unreadable := RecordSet{OwnerName(here.Name, A), TXT, 300, []string{`"hello"`}}
	want := func(adopt Adoption, applied bool) []Desired { return []Desired{{here, "s", applied, adopt}} }
	for name, test := range map[string]struct {
		desired              []Desired
		actual               []Stored
		sync, upsert, change Outcome // outcomes in two modes, and the change in mode sync
	}{
		"missing":                     {want(AdoptNone, false), nil, Create, Create, Create},
		"as it should be":             {want(AdoptNone, true), owned(here, ours), InSync, InSync, ""},
		"changed by hand":             {want(AdoptNone, true), owned(other, ours), Update, Update, Update},
		"deleted by hand":             {want(AdoptNone, true), stored(ours.Record(here.Name, A)), Create, Create, Create},
		"another id":                  {want(AdoptNone, true), owned(here, Owner{"i", "z", "t"}), Update, Update, Update},
		"no longer desired":           {nil, owned(here, ours), Delete, Kept, Delete},
		"an owner without its record": {nil, stored(ours.Record(here.Name, A)), Delete, Kept, Delete},
		"foreign":                     {nil, stored(here), Foreign, Foreign, ""},
		"foreign with owner":          {nil, owned(here, elsewhere), Foreign, Foreign, ""},
		"desired and there":           {want(AdoptNone, false), stored(here), AdoptionNeeded, AdoptionNeeded, ""},
		"its owner record is lost":    {want(AdoptNone, true), stored(here), OwnerLost, OwnerLost, ""},
		"adopted":                     {want(AdoptUnowned, false), stored(other), Adopt, Adopt, Adopt},
		"of another installation":     {want(AdoptUnowned, false), owned(here, elsewhere), OwnerForeign, OwnerForeign, ""},
		"of another zone":             {want(AdoptUnowned, false), owned(here, Owner{"i", "y", "s"}), OwnerForeign, OwnerForeign, ""},
		"unreadable":                  {want(AdoptUnowned, false), stored(here, unreadable), OwnerUnread, OwnerUnread, ""},
		"taken from another":          {want(AdoptForeign, false), owned(here, elsewhere), Adopt, Adopt, Adopt},
		"its owner replaced":          {want(AdoptForeign, false), stored(here, unreadable), Adopt, Adopt, Adopt},
		"another's leftover":          {want(AdoptNone, false), stored(elsewhere.Record(here.Name, A)), OwnerForeign, OwnerForeign, ""},
	} {
		for mode, outcome := range map[Mode]Outcome{Sync: test.sync, UpsertOnly: test.upsert, Observe: test.sync} {
			plan, err := Difference(settings(mode), test.desired, test.actual)
			if err != nil {
				t.Fatal(err)
			}
			if len(plan.Results) != 1 || plan.Results[0].Outcome != outcome {
				t.Errorf("%s, mode %s: %+v; want %s", name, mode, plan.Results, outcome)
			}
			var actions []Outcome
			for _, change := range plan.Changes {
				actions = append(actions, change.Action)
			}
			var changes []Outcome
			if test.change != "" && outcome == test.change && mode != Observe {
				changes = append(changes, test.change)
			}
			if !cmp.Equal(actions, changes) {
				t.Errorf("%s, mode %s: changes %v, want %v", name, mode, actions, changes)
			}
		}
	}
}

func TestAChangeCarriesWhatMustBeThere(t *testing.T) {
	t.Parallel()
	here, other := set("www", A, "192.0.2.1"), set("www", A, "192.0.2.9")
	owner := Owner{"i", "z", "s"}
	record := owner.Record(here.Name, A)
	actual := owned(other, owner)
	plan, err := Difference(settings(Sync), []Desired{{RecordSet: here, ID: "s"}}, actual)
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{{Update, here.Name, A, &actual[0], &here, &actual[1], &record}}
	if diff := cmp.Diff(want, plan.Changes); diff != "" {
		t.Error(diff)
	}
}

func TestACNAMEIsNotPutBesideOthers(t *testing.T) {
	t.Parallel()
	cname, address, text := set("x", CNAME, "a.example.net"), set("x", A, "192.0.2.1"), set("x", TXT, "t")
	owner := Owner{"i", "z", "old"}
	for name, test := range map[string]struct {
		mode    Mode
		desired []RecordSet
		actual  []Stored
		want    []string
	}{
		"beside a foreign record":   {Sync, []RecordSet{cname}, stored(address), []string{"A foreign", "CNAME blocked"}},
		"a record beside a foreign": {Sync, []RecordSet{address}, stored(cname), []string{"A blocked", "CNAME foreign"}},
		"in place of ours":          {Sync, []RecordSet{cname}, owned(address, owner), []string{"A delete", "CNAME create"}},
		"in place of ours, kept":    {UpsertOnly, []RecordSet{cname}, owned(address, owner), []string{"A kept", "CNAME blocked"}},
		"ours in its place":         {Sync, []RecordSet{address, text}, owned(cname, owner), []string{"A create", "CNAME delete", "TXT create"}},
		"both desired":              {Sync, []RecordSet{cname, address}, nil, []string{"A create", "CNAME blocked"}},
		"beside nothing":            {Sync, []RecordSet{cname}, stored(set("y", A, "192.0.2.1")), []string{"CNAME create", "A foreign"}},
	} {
		var desired []Desired
		for i, s := range test.desired {
			desired = append(desired, Desired{RecordSet: s, ID: fmt.Sprint("s", i)})
		}
		plan, err := Difference(settings(test.mode), desired, test.actual)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, result := range plan.Results {
			got = append(got, string(result.Type)+" "+string(result.Outcome))
		}
		if !cmp.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if len(plan.Changes) > 0 && slices.ContainsFunc(plan.Changes, func(c Change) bool { return c.Action == Delete }) && plan.Changes[0].Action != Delete {
			t.Errorf("%s: %v does not begin with the deletion", name, plan.Changes)
		}
	}
}

func TestTheZonesOwnDataIsNotListed(t *testing.T) {
	t.Parallel()
	actual := []Stored{
		{RecordSet: RecordSet{zone, "SOA", 60, []string{"x"}}},
		{RecordSet: RecordSet{zone, NS, 60, []string{"ns.example.org."}}},
		{RecordSet: RecordSet{zone, "DNSKEY", 60, []string{"x"}}},
		{RecordSet: RecordSet{"a.example.org.", "RRSIG", 60, []string{"x"}}},
		{RecordSet: RecordSet{"sub.example.org.", NS, 60, []string{"ns.example.org."}}},
		{RecordSet: RecordSet{"sub.example.org.", "DS", 60, []string{"x"}}},
	}
	plan, err := Difference(settings(Sync), nil, actual)
	if err != nil || len(plan.Results) != 2 || plan.Results[0].Type != "DS" || plan.Results[1].Type != NS {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestTheCredentialBoundsThePlan(t *testing.T) {
	t.Parallel()
	s := settings(Sync)
	s.Patterns = []Pattern{"*.apps.example.org."}
	inside, outside := set("a.apps", A, "192.0.2.1"), set("www", A, "192.0.2.1")
	leftover := owned(set("old", A, "192.0.2.1"), Owner{"i", "z", "o"})
	plan, err := Difference(s, []Desired{{RecordSet: inside, ID: "1"}, {RecordSet: outside, ID: "2"}}, leftover)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Changes) != 1 || plan.Changes[0].Name != inside.Name {
		t.Errorf("the changes are %v", plan.Changes)
	}
	for i, want := range []Outcome{Create, NotDelegated, NotDelegated} {
		if plan.Results[i].Outcome != want {
			t.Errorf("%v, want %s", plan.Results[i], want)
		}
	}
}

func TestTheBrake(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		owned, changed, deleted, created int
		brake                            bool
	}{
		{9, 0, 9, 0, false},
		{10, 0, 3, 0, false},
		{10, 0, 4, 0, true},
		{10, 2, 2, 0, true},
		{10, 4, 0, 0, true},
		{10, 0, 0, 50, false},
		{100, 30, 0, 9, false},
		{100, 30, 1, 0, true},
	} {
		var desired []Desired
		var actual []Stored
		for i := range test.owned {
			s := set(fmt.Sprint("h", i), A, "192.0.2.1")
			id := fmt.Sprint("s", i)
			actual = append(actual, owned(s, Owner{"i", "z", id})...)
			if i < test.deleted {
				continue
			}
			if i < test.deleted+test.changed {
				s = set(fmt.Sprint("h", i), A, "192.0.2.2")
			}
			desired = append(desired, Desired{RecordSet: s, ID: id, Applied: true})
		}
		for i := range test.created {
			desired = append(desired, Desired{RecordSet: set(fmt.Sprint("n", i), A, "192.0.2.1"), ID: fmt.Sprint("n", i)})
		}
		plan, err := Difference(settings(Sync), desired, actual)
		if err != nil || (plan.Brake != nil) != test.brake {
			t.Errorf("%+v: brake %+v, %v", test, plan.Brake, err)
		}
		if plan.Brake != nil && *plan.Brake != (Brake{test.owned, test.changed + test.deleted, 30}) {
			t.Errorf("%+v: brake %+v", test, *plan.Brake)
		}
	}
}

// A confirmation covers what is left of its plan and creations that came later, but no other update or deletion.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	plan := func(deleted, changed, created int) Plan {
		var desired []Desired
		var actual []Stored
		for i := range 10 {
			s := set(fmt.Sprint("h", i), A, "192.0.2.1")
			actual = append(actual, owned(s, Owner{"i", "z", s.Name.Relative("example.org.")})...)
			switch {
			case i < deleted:
				continue
			case i >= 10-changed:
				s = set(fmt.Sprint("h", i), A, "192.0.2.2")
			}
			desired = append(desired, Desired{RecordSet: s, ID: s.Name.Relative("example.org.")})
		}
		for i := range created {
			desired = append(desired, Desired{RecordSet: set(fmt.Sprint("n", i), A, "192.0.2.1"), ID: fmt.Sprint("n", i)})
		}
		made, err := Difference(settings(Sync), desired, actual)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	confirmed := plan(4, 2, 0).Confirmation()
	if len(confirmed) != 6*digestSize {
		t.Errorf("%d bytes for 6 changes", len(confirmed))
	}
	for _, test := range []struct {
		deleted, changed, created int
		covered                   bool
	}{{4, 2, 0, true}, {4, 2, 5, true}, {3, 1, 0, true}, {0, 0, 3, true}, {5, 2, 0, false}, {4, 3, 0, false}} {
		if got := confirmed.Covers(plan(test.deleted, test.changed, test.created).Confirmation()); got != test.covered {
			t.Errorf("%+v: covered %v", test, got)
		}
	}
	if Confirmation(nil).Covers(confirmed) || !Confirmation(nil).Covers(nil) {
		t.Error("no confirmation covers what needs one, or refuses what needs none")
	}
	if plan(4, 0, 0).Confirmation().Checksum() == confirmed.Checksum() {
		t.Error("two plans have one checksum")
	}
}

func TestDifferenceRefusesAWrongIntent(t *testing.T) {
	t.Parallel()
	here := set("www", A, "192.0.2.1")
	outside := here
	outside.Name = "www.example.com."
	for name, desired := range map[string][]Desired{
		"twice": {{RecordSet: here, ID: "1"}, {RecordSet: here, ID: "2"}}, "outside": {{RecordSet: outside, ID: "1"}}, "id": {{RecordSet: here, ID: "a b"}},
	} {
		if plan, err := Difference(settings(Sync), desired, nil); err == nil {
			t.Errorf("%s: %v", name, plan)
		}
	}
}

// Once its changes are applied, a second difference has none, whatever was there. Foreign record sets are as before, and the
// order of the input does not matter.
func TestADifferenceSettles(t *testing.T) {
	t.Parallel()
	names := []string{"@", "a", "b", "*", "c.b"}
	values := map[Type][]string{A: {"192.0.2.1", "192.0.2.2"}, TXT: {"x", "y"}, CNAME: {"a.example.net", "b.example.net"}}
	draw := func(t *rapid.T, label string) (RecordSet, bool) {
		kind := rapid.SampledFrom([]Type{A, TXT, CNAME}).Draw(t, label+" type")
		name := rapid.SampledFrom(names).Draw(t, label+" name")
		if kind == CNAME && name == "@" {
			return RecordSet{}, false
		}
		return set(name, kind, rapid.SampledFrom(values[kind]).Draw(t, label+" value")), true
	}
	rapid.Check(t, func(t *rapid.T) {
		var desired []Desired
		server := make(map[setKey]Stored)
		for i := range rapid.IntRange(0, 6).Draw(t, "desired") {
			s, ok := draw(t, "desired")
			if !ok || slices.ContainsFunc(desired, func(d Desired) bool { return d.key() == s.key() }) {
				continue
			}
			adopt := rapid.SampledFrom([]Adoption{AdoptNone, AdoptUnowned, AdoptForeign}).Draw(t, "adopt")
			desired = append(desired, Desired{s, fmt.Sprint("s", i), rapid.Bool().Draw(t, "applied"), adopt})
		}
		for range rapid.IntRange(0, 8).Draw(t, "actual") {
			s, ok := draw(t, "actual")
			beside := func(other Stored) bool {
				return other.Name == s.Name && other.Type != s.Type && (other.Type == CNAME || s.Type == CNAME)
			}
			if !ok || slices.ContainsFunc(slicesOf(server), beside) {
				continue
			}
			all := stored(s)
			if installation := rapid.SampledFrom([]string{"", "i", "j"}).Draw(t, "owner"); installation != "" {
				all = owned(s, Owner{installation, "z", "s0"})
			}
			if rapid.IntRange(0, 9).Draw(t, "only the owner") == 0 {
				all = all[len(all)-1:]
			}
			for _, held := range all {
				server[held.key()] = held
			}
		}
		mode := rapid.SampledFrom([]Mode{Sync, UpsertOnly, Observe}).Draw(t, "mode")
		plan, err := Difference(settings(mode), desired, slicesOf(server))
		if err != nil {
			t.Fatal(err)
		}
		shuffled := rapid.Permutation(slicesOf(server)).Draw(t, "order")
		if again, _ := Difference(settings(mode), rapid.Permutation(desired).Draw(t, "order"), shuffled); !cmp.Equal(plan, again) || plan.Confirmation().Checksum() != again.Confirmation().Checksum() {
			t.Fatalf("the order of the input matters: %s", cmp.Diff(plan, again))
		}
		foreign := make(map[setKey]Stored)
		for _, result := range plan.Results {
			if k := (setKey{result.Name, result.Type}); !result.Outcome.Writes() && result.Actual != nil {
				foreign[k] = server[k]
			}
		}
		for _, change := range plan.Changes {
			apply(t, server, change)
		}
		for k, before := range foreign {
			if !cmp.Equal(server[k], before) {
				t.Fatalf("%v was touched", k)
			}
		}
		for i := range desired {
			desired[i].Applied = true
		}
		second, err := Difference(settings(mode), desired, slicesOf(server))
		if err != nil || len(second.Changes) > 0 {
			t.Fatalf("the second difference has %v, %v", second.Changes, err)
		}
	})
}

func slicesOf(server map[setKey]Stored) []Stored {
	var all []Stored
	for _, s := range server {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Stored) int { return compareKeys(a.key(), b.key()) })
	return all
}

// apply changes a server as an update does, and holds what it asks to be there and what a server would refuse.
func apply(t *rapid.T, server map[setKey]Stored, change Change) {
	hold := func(k setKey, before *Stored, after *RecordSet) {
		held, there := server[k]
		if there != (before != nil) || there && !cmp.Equal(held, *before) {
			t.Fatalf("%v asks for %v where %v is", change, before, held)
		}
		delete(server, k)
		if after != nil {
			server[k] = stored(*after)[0]
		}
	}
	hold(setKey{change.Name, change.Type}, change.Before, change.After)
	hold(setKey{OwnerName(change.Name, change.Type), TXT}, change.OwnerBefore, change.OwnerAfter)
	for k := range server {
		if k.name == change.Name && k.kind != change.Type && change.After != nil && (k.kind == CNAME || change.Type == CNAME) {
			t.Fatalf("%v puts a CNAME record beside another", change)
		}
	}
}
