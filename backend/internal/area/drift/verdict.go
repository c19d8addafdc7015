package drift

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/agent"
)

// Finding is one promise that does not hold.
type Finding struct {
	Unit       uuid.UUID // zeros for the host itself
	Allocation uuid.UUID
	Name       string
	Promise    string
	Promised   string
	Found      string
}

// Verdict compares what was promised with what the agent of the host sees. It says nothing of units whose tenants come or go.
func Verdict(h Host, units []Unit, seen agent.Seen) []Finding {
	host := seen.Parts[agent.HostPart].Facts
	promised := h.promises()
	if host["slices.users"] == "none" { // nobody but tenants is there
		delete(promised, "slices.users")
	}
	found := differences(Finding{Name: h.Name}, promised, host)
	for _, u := range units {
		if !u.Settled {
			continue
		}
		of := Finding{Unit: u.ID, Allocation: u.AllocationID, Name: u.Name}
		part, ok := seen.Parts[u.ID.String()]
		if !ok {
			of.Promise, of.Promised, of.Found = "manifest", "allocation="+u.AllocationID.String(), "missing"
			found = append(found, of)
			continue
		}
		found = append(found, differences(of, u.promises(h, host["page.size"]), part.Facts)...)
	}
	return found
}

const maxText = 600

// differences are the promises that do not hold: one for each, with all of its facts that differ.
func differences(of Finding, promised, seen map[string]string) (all []Finding) {
	byPromise := map[string]*Finding{}
	for _, name := range slices.Sorted(maps.Keys(promised)) {
		now, there := seen[name]
		if now == promised[name] {
			continue
		}
		if !there {
			now = "missing"
		}
		promise, fact, _ := strings.Cut(name, ".")
		f := byPromise[promise]
		if f == nil {
			f = &Finding{Unit: of.Unit, Allocation: of.Allocation, Name: of.Name, Promise: promise}
			byPromise[promise] = f
		} else {
			f.Promised, f.Found = f.Promised+"; ", f.Found+"; "
		}
		f.Promised, f.Found = f.Promised+fact+"="+promised[name], f.Found+fact+"="+now
	}
	for _, promise := range slices.Sorted(maps.Keys(byPromise)) {
		f := byPromise[promise]
		f.Promised, f.Found = cut(f.Promised, maxText), cut(f.Found, maxText)
		all = append(all, *f)
	}
	return all
}

// InWords names promises in a sentence for people.
func InWords(findings []Finding) string {
	names := make([]string, len(findings))
	for i, f := range findings {
		names[i] = f.Promise + " (promised " + f.Promised + ", found " + f.Found + ")"
	}
	text := "Not as promised: " + strings.Join(names, "; ") + "."
	return cut(text, 2*maxText)
}

// cut keeps the first bytes of a text, and no part of a character: a database takes none.
func cut(text string, most int) string { return strings.ToValidUTF8(text[:min(len(text), most)], "") }
