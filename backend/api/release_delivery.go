package api

import (
	"net/http"
	"time"
)

// ReleaseDelivery tells which machine of a backend or web app is to be replaced next. It replaces no program.
type ReleaseDelivery struct {
	ID      string           `json:"id" format:"uuid"`
	Name    string           `json:"name"`
	Release string           `json:"release" doc:"the version that it brings, as backends and web apps tell it"`
	Running []ReleaseVersion `json:"running,omitempty" doc:"which versions run now on how many machines; only where one delivery is shown"`
	DeliveryProgress
	Operations []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	CreatedAt  time.Time   `json:"created_at"`
}

// ReleaseVersion is on how many machines a version runs.
type ReleaseVersion struct {
	Release string `json:"release" doc:"version; several, by commas, where backends of one machine differ; empty: it has not answered"`
	Count   int    `json:"count" doc:"machines of backends and web apps"`
}

// CreateReleaseDelivery begins a delivery of a release.
type CreateReleaseDelivery struct {
	Name         string          `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits, _, . and -; begins with a letter"`
	Release      string          `json:"release" minLength:"1" maxLength:"64" doc:"version as the System page shows it"`
	WebApps      []string        `json:"web_apps,omitempty" maxItems:"100" doc:"base URL of each web app by itself; backends are known"`
	Canaries     []string        `json:"canaries,omitempty" maxItems:"20" doc:"machines of backends, or name and port of web apps, that come first"`
	GapSeconds   *int            `json:"gap_seconds,omitempty" minimum:"0" maximum:"604800" doc:"between two machines, 60 unless given; five times that behind the first"`
	ProofSeconds int             `json:"proof_seconds,omitempty" minimum:"10" maximum:"86400" default:"3600" doc:"how long a machine may take from when it was told"`
	Window       *DeliveryWindow `json:"window,omitempty" doc:"when machines may be told; absent: always"`
}

// ReleaseDeliveryFilter narrows a list of deliveries of releases.
type ReleaseDeliveryFilter struct {
	PageQuery
	State string `query:"state" enum:"running,paused,halted,returning,done,returned"`
}

// ReleaseTarget is a machine of backends or a web app of a delivery.
type ReleaseTarget struct {
	ID      string     `json:"id" format:"uuid"`
	Name    string     `json:"name" doc:"of the machine; name and port of a web app"`
	Kind    string     `json:"kind" enum:"backend,web app" doc:"what runs there"`
	Runs    string     `json:"runs,omitempty" doc:"version that runs there now; several by commas; absent: it has not answered"`
	Wave    int64      `json:"wave" doc:"its turn, from 1"`
	State   string     `json:"state" enum:"waiting,told,proven,failed,skipped,returning,returned" doc:"told: replace the program there now; returning: put the one before back"`
	Reason  string     `json:"reason" doc:"what it waits for, or why it is in this state"`
	ToldAt  *time.Time `json:"told_at,omitempty" doc:"when its turn came, or the way back began"`
	EndedAt *time.Time `json:"ended_at,omitempty" doc:"when it got into this state, if it stays there"`
}

// ReleaseTargetFilter narrows a list of the machines of a delivery.
type ReleaseTargetFilter struct {
	PageQuery
	Delivery string `query:"delivery" maxLength:"64" doc:"id or name of a delivery; absent: the newest"`
	State    string `query:"state" enum:"waiting,told,proven,failed,skipped,returning,returned"`
}

var _ = addRoutes(
	Route{"list-release-deliveries", http.MethodGet, "/release-deliveries", "installation.release_delivery:read", "system", "List deliveries of releases of Kloigos", false},
	Route{"create-release-delivery", http.MethodPost, "/release-deliveries", "installation.release_delivery:create", "system", "Tell which machine gets a release of Kloigos next; replaces no program", false},
	Route{"get-release-delivery", http.MethodGet, "/release-deliveries/{id}", "installation.release_delivery:read", "system", "Show a delivery of a release with the versions that run", false},
	Route{"pause-release-delivery", http.MethodPost, "/release-deliveries/{id}/pause", "installation.release_delivery:update", "system", "Tell no further machines until it is resumed", false},
	Route{"resume-release-delivery", http.MethodPost, "/release-deliveries/{id}/resume", "installation.release_delivery:update", "system", "Go on with a delivery of a release that is paused or halted; failures until now count no more", false},
	Route{"roll-back-release-delivery", http.MethodPost, "/release-deliveries/{id}/roll-back", "installation.release_delivery:update", "system", "Tell each machine that was told to go back to the version before", false},
	Route{"list-release-targets", http.MethodGet, "/release-targets", "installation.release_delivery:read", "system", "List the machines of a delivery of a release in their order", false},
)
