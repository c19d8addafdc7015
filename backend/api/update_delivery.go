package api

import (
	"net/http"
	"time"
)

// UpdateDelivery brings a version of the agent to hosts, in waves.
type UpdateDelivery struct {
	ID           string `json:"id" format:"uuid"`
	Workspace    string `json:"workspace"`
	Name         string `json:"name"`
	AgentVersion string `json:"agent_version" doc:"the version that it brings"`
	Region       string `json:"region,omitempty" doc:"of the hosts that it reaches; absent: any"`
	Zone         string `json:"zone,omitempty" doc:"of the hosts that it reaches; absent: any"`
	DeliveryProgress
	Operations []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	CreatedAt  time.Time   `json:"created_at"`
}

// DeliveryProgress is how far a delivery is.
type DeliveryProgress struct {
	State      string         `json:"state" enum:"running,paused,halted,returning,done,returned"`
	StateMeans string         `json:"state_means"`
	Reason     string         `json:"reason" doc:"what it waits for, or why it ended"`
	Wave       int64          `json:"wave" doc:"the last that has begun; 0: none has"`
	Waves      []DeliveryWave `json:"waves,omitempty" doc:"how many targets of each wave are in which state; only where one delivery is shown"`
	WaveCount  int64          `json:"wave_count" doc:"how many waves there are"`
	NextAt     *time.Time     `json:"next_at,omitempty" doc:"the next wave does not begin before"`
	EndedAt    *time.Time     `json:"ended_at,omitempty" doc:"when it was done or rolled back"`
	Plan       DeliveryPlan   `json:"plan" doc:"how it reaches its targets"`
	Version    int64          `json:"version" doc:"also the ETag; grows with each step"`
	UpdatedAt  time.Time      `json:"updated_at"`
}

// DeliveryPlan is how a delivery reaches its hosts.
type DeliveryPlan struct {
	Canaries     []string        `json:"canaries,omitempty" maxItems:"20" doc:"names of the hosts that come first; a failed one halts the delivery"`
	FirstPercent int             `json:"first_percent,omitempty" minimum:"1" maximum:"100" default:"10" doc:"share of the other hosts in the first wave, at least 2 and at most 15 hosts"`
	Groups       int             `json:"groups,omitempty" minimum:"1" maximum:"50" default:"3" doc:"how many waves the rest is cut into"`
	ByZone       bool            `json:"by_zone,omitempty" doc:"a wave for each zone instead of groups"`
	GapSeconds   *int            `json:"gap_seconds,omitempty" minimum:"0" maximum:"604800" doc:"between two waves, 60 unless given; five times that behind the first"`
	ProofSeconds int             `json:"proof_seconds,omitempty" minimum:"10" maximum:"86400" default:"900" doc:"how long a host may take to prove the version"`
	Limit        int             `json:"limit,omitempty" minimum:"0" maximum:"1000" doc:"failed hosts that are put up with before it halts"`
	SkipProbe    bool            `json:"skip_probe,omitempty" doc:"heartbeats are proof enough; without it a play has to read each host, too"`
	Window       *DeliveryWindow `json:"window,omitempty" doc:"when hosts may be told; absent: always"`
}

// DeliveryWindow is when hosts may be told of a version, in UTC.
type DeliveryWindow struct {
	Days []string `json:"days,omitempty" maxItems:"7" doc:"mon to sun, on which it opens; absent: every day"`
	From string   `json:"from,omitempty" maxLength:"5" doc:"HH:MM"`
	To   string   `json:"to,omitempty" maxLength:"5" doc:"HH:MM; if it is not later than from, on the next day"`
}

// DeliveryWave is how many targets of a wave are in a state.
type DeliveryWave struct {
	Wave  int64  `json:"wave" doc:"from 1"`
	State string `json:"state" enum:"waiting,told,proven,failed,skipped,returning,returned" doc:"state of these hosts"`
	Count int64  `json:"count" doc:"how many hosts"`
}

// CreateUpdateDelivery begins a delivery.
type CreateUpdateDelivery struct {
	Name         string `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits, _, . and -; begins with a letter"`
	AgentVersion string `json:"agent_version" minLength:"1" maxLength:"64" doc:"version of a build that init has stored"`
	Region       string `json:"region,omitempty" maxLength:"64" doc:"only hosts of this region"`
	Zone         string `json:"zone,omitempty" maxLength:"64" doc:"only hosts of this zone"`
	DeliveryPlan
}

// UpdateDeliveryFilter narrows a list of deliveries.
type UpdateDeliveryFilter struct {
	PageQuery
	State string `query:"state" enum:"running,paused,halted,returning,done,returned"`
}

// DeliveryTarget is one host of a delivery.
type DeliveryTarget struct {
	HostID  string     `json:"host_id" format:"uuid"`
	Host    string     `json:"host" doc:"name of the host"`
	Region  string     `json:"region,omitempty" doc:"of the host"`
	Zone    string     `json:"zone,omitempty" doc:"of the host"`
	Wave    int64      `json:"wave" doc:"in which it is told, from 1"`
	State   string     `json:"state" enum:"waiting,told,proven,failed,skipped,returning,returned"`
	Reason  string     `json:"reason" doc:"what it waits for, or why it is in this state"`
	ToldAt  *time.Time `json:"told_at,omitempty" doc:"when it was last told to change"`
	EndedAt *time.Time `json:"ended_at,omitempty" doc:"when it got into this state, if it stays there"`
}

// DeliveryTargetFilter narrows a list of the hosts of a delivery.
type DeliveryTargetFilter struct {
	PageQuery
	Delivery string `query:"delivery" maxLength:"64" doc:"id or name of a delivery; absent: the newest"`
	State    string `query:"state" enum:"waiting,told,proven,failed,skipped,returning,returned"`
}

// AgentBuild is a build of the agent that init has stored.
type AgentBuild struct {
	AgentVersion string    `json:"agent_version" doc:"as it is signed"`
	Arch         string    `json:"arch" enum:"amd64,arm64" doc:"of the hosts that it runs on"`
	LowestBefore string    `json:"lowest_before,omitempty" doc:"a host that runs less takes another version first; absent: any"`
	ExpiresAt    time.Time `json:"expires_at" doc:"no host installs it afterwards"`
	SizeBytes    int64     `json:"size_bytes"`
	SHA256       string    `json:"sha256" doc:"of the build, in hexadecimal"`
	CreatedAt    time.Time `json:"created_at" doc:"when init stored it"`
}

// AgentBuildFilter narrows a list of builds.
type AgentBuildFilter struct {
	PageQuery
	Arch string `query:"arch" enum:"amd64,arm64" doc:"only builds for hosts of this kind"`
}

var _ = addRoutes(
	Route{"list-agent-builds", http.MethodGet, "/agent-builds", "project.workspace.update_delivery:read", "agents", "List the builds of the agent that can be delivered", false},
	Route{"list-update-deliveries", http.MethodGet, "/update-deliveries", "project.workspace.update_delivery:read", "agents", "List deliveries of versions of the agent", false},
	Route{"create-update-delivery", http.MethodPost, "/update-deliveries", "project.workspace.update_delivery:create", "agents", "Bring a version of the agent to hosts, in waves", false},
	Route{"get-update-delivery", http.MethodGet, "/update-deliveries/{id}", "project.workspace.update_delivery:read", "agents", "Show a delivery with its waves", false},
	Route{"pause-update-delivery", http.MethodPost, "/update-deliveries/{id}/pause", "project.workspace.update_delivery:update", "agents", "Tell no further hosts until it is resumed", false},
	Route{"resume-update-delivery", http.MethodPost, "/update-deliveries/{id}/resume", "project.workspace.update_delivery:update", "agents", "Go on with a delivery that is paused or halted; failures until now count no more", false},
	Route{"roll-back-update-delivery", http.MethodPost, "/update-deliveries/{id}/roll-back", "project.workspace.update_delivery:update", "agents", "Send each host that was told back to the version before", false},
	Route{"list-delivery-targets", http.MethodGet, "/delivery-targets", "project.workspace.update_delivery:read", "agents", "List the hosts of a delivery by wave", false},
)
