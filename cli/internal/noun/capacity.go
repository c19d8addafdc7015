package noun

import (
	"slices"
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var capacity = shape.Noun[api.Capacity, struct{}]{
	Name: "capacity", Help: "What all hosts have together, by region and zone",
	Single: shape.Single("get-capacity", (*client.Client).GetCapacity),
	Detail: printCapacity,
}

// placeShare is the units of one state in one place.
type placeShare struct {
	region, zone, state string
	api.CapacityShare
}

func printCapacity(a *shape.App, c api.Capacity) error {
	var shares []placeShare
	for _, p := range c.Places {
		var states []string
		for state := range p.Units {
			states = append(states, state)
		}
		slices.Sort(states)
		for _, state := range states {
			shares = append(shares, placeShare{p.Region, p.Zone, state, p.Units[state]})
		}
	}
	return show.Table(a.Out, []show.Column[placeShare]{
		{Header: "REGION", Value: func(s placeShare) string { return s.region }},
		{Header: "ZONE", Value: func(s placeShare) string { return s.zone }},
		{Header: "STATE", Value: func(s placeShare) string { return s.state }},
		{Header: "UNITS", Value: func(s placeShare) string { return strconv.Itoa(s.Units) }},
		{Header: "CPUS", Value: func(s placeShare) string { return strconv.Itoa(s.CPUs) }},
		{Header: "MEMORY", Value: func(s placeShare) string { return show.Bytes(s.MemoryBytes) }},
		{Header: "VOLUME", Value: func(s placeShare) string { return show.Bytes(s.VolumeBytes) }},
	}, shares, true)
}
