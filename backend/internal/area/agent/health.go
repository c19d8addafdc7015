package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Health of a host by its agent.
type Health string

// Healths.
const (
	NoHealth    Health = ""
	Healthy     Health = "healthy"
	Degraded    Health = "degraded"
	Unreachable Health = "unreachable"
)

// Hysteresis of the health of hosts.
const (
	// holdFor is how long a cause must last before it counts, and how long after a change causes are judged.
	holdFor = 30 * time.Second
	// recoveredWithin is how fresh the heartbeat of a lost host must be before it is reachable again.
	recoveredWithin = 20 * time.Second
	// oneEvent is how long losses in one zone are collected before an event tells of them.
	oneEvent = time.Minute
)

// judged is a host with the health that it gets.
type judged struct {
	Host    uuid.UUID
	Health  Health
	Message string
}

// lasting are the causes that have lasted long enough, and whether some have not.
func (c Causes) lasting(now time.Time) (names []string, waiting bool) {
	for _, known := range causes {
		since, ok := c[known.name]
		switch {
		case ok && now.Sub(since) >= holdFor:
			names = append(names, known.name)
		case ok:
			waiting = true
		}
	}
	return names, waiting
}

// healthOf says what lasting causes mean.
func healthOf(names []string) (Health, string) {
	if len(names) == 0 {
		return Healthy, ""
	}
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = strings.ReplaceAll(name, "_", " ")
	}
	return Degraded, "Its agent reports: " + strings.Join(words, ", ") + "."
}

const silentMessage = "Its agent has sent no heartbeat for 60 seconds."

// group is a zone with hosts that were lost, or came back, together.
type group struct {
	workspace    uuid.UUID
	region, zone string
	hosts        []found
}

// place names a zone.
func (g group) place() string {
	name := strings.Trim(g.region+"/"+g.zone, "/")
	if name == "" {
		return "no zone"
	}
	return name
}

func (g group) names() []string {
	names := make([]string, len(g.hosts))
	for i, h := range g.hosts {
		names[i] = h.HostName
	}
	slices.Sort(names)
	return names
}

// byZone groups hosts by workspace and zone.
func byZone(hosts []found) (groups []group) {
	for _, h := range hosts {
		i := slices.IndexFunc(groups, func(g group) bool {
			return g.workspace == h.WorkspaceID && g.region == h.Region && g.zone == h.Zone
		})
		if i < 0 {
			groups = append(groups, group{workspace: h.WorkspaceID, region: h.Region, zone: h.Zone})
			i = len(groups) - 1
		}
		groups[i].hosts = append(groups[i].hosts, h)
	}
	return groups
}
