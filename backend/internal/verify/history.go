package verify

import (
	"fmt"
	"strings"
)

func stepsFitTheirJob(g *ground) (rows []string) {
	for _, s := range g.Steps {
		steps := strings.Join(s.Steps, ", ")
		if steps == "" {
			steps = "none"
		}
		if s.State == "" {
			rows = append(rows, fmt.Sprintf("job %s is not there; its steps: %s", s.ID, steps))
			continue
		}
		rows = append(rows, fmt.Sprintf("job %s (%s) is %s, its steps: %s", s.ID, s.Kind, s.State, steps))
	}
	return rows
}

func hostsFitTheirJob(g *ground) (rows []string) {
	for _, j := range g.JobHosts {
		rows = append(rows, fmt.Sprintf("job %s (%s) is %s; it was asked for %d hosts, %d stand with it, and %d are done", j.ID, j.Kind, j.State, j.Asked, j.Hosts, j.Done))
	}
	return rows
}

func quotasAreExact(g *ground) (rows []string) {
	for _, q := range g.Quotas {
		rows = append(rows, fmt.Sprintf("the quota of %s %s says that %d %s are in use, and %d are", q.Scope, q.ScopeID, q.Used, q.Resource, q.Counted))
	}
	return rows
}

func sharedHostsAreGranted(g *ground) (rows []string) {
	for _, s := range g.Strays {
		rows = append(rows, fmt.Sprintf("allocation %s (%s) is on the host %s of another workspace, and no grant let it in", s.ID, s.LoginUser, s.HostID))
	}
	return rows
}

func sharedNetworksAreGranted(g *ground) (rows []string) {
	for _, s := range g.Lent {
		rows = append(rows, fmt.Sprintf("the address %s (%s) is with a host of another workspace or noted as lent, and no grant of its network gave it", s.Address, s.State))
	}
	return rows
}

func sharedZonesAreGranted(g *ground) (rows []string) {
	for _, s := range g.Names {
		rows = append(rows, fmt.Sprintf("the record set %s (%s %s) is in the zone %s of another workspace, and no grant let it in", s.ID, s.Name, s.Type, s.ZoneID))
	}
	return rows
}

func snapshotsAreWhole(g *ground) (rows []string) {
	for _, s := range g.Snapshots {
		rows = append(rows, fmt.Sprintf("snapshot %s of the cluster %s has %d parts, and %d are there, or one has a wrong number", s.ID, s.Cluster, s.Parts, s.Stored))
	}
	return rows
}

func givenVersionsHold(g *ground) (rows []string) {
	for _, b := range g.Given {
		rows = append(rows, fmt.Sprintf("host %s has version %d of %s from the delivery %s, which is over or gave it no such version", b.Host, b.Version, b.Playbook, b.Delivery))
	}
	return rows
}

func endsAreToldOnce(g *ground) (rows []string) {
	for _, e := range g.Ends {
		rows = append(rows, fmt.Sprintf("job %s (%s) is %s and was retried %d times; events tell of %d ends, %d of them of the present one",
			e.ID, e.Kind, e.State, e.Retries, e.Ends, e.Agreeing))
	}
	return rows
}

func creationsAreToldOnce(g *ground) (rows []string) {
	for _, c := range g.Creations {
		rows = append(rows, fmt.Sprintf("allocation %s (%s) is told of by %d events", c.ID, c.LoginUser, c.Creations))
	}
	return rows
}

func statesAreTold(g *ground) (rows []string) {
	for _, u := range g.Untold {
		rows = append(rows, fmt.Sprintf("%s %s (%s) is %s, and no event tells how it came to be", u.Noun, u.ID, u.Name, u.State))
	}
	return rows
}

func acknowledgedIsThere(g *ground) (rows []string) {
	for _, id := range g.options.Acknowledged {
		if !g.there[id] {
			rows = append(rows, fmt.Sprintf("allocation %s was acknowledged and is not there", id))
		}
	}
	return rows
}
