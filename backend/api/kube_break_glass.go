package api

import (
	"net/http"
	"time"
)

// BreakGlass asks for a file of an administrator in an emergency.
type BreakGlass struct {
	Reason  string `json:"reason" minLength:"10" maxLength:"500" doc:"why; it stands in the event and on the page of the cluster"`
	Minutes int    `json:"minutes,omitempty" minimum:"10" maximum:"60" default:"60" doc:"how long it is good for; it can't be taken back"`
}

// AdminKubeconfig is a file for kubectl that may do everything in a cluster. It is stored nowhere.
type AdminKubeconfig struct {
	Cluster    string    `json:"cluster" doc:"name of the cluster"`
	User       string    `json:"user" doc:"how the cluster knows the account"`
	Group      string    `json:"group" doc:"that gives it all rights"`
	Reason     string    `json:"reason"`
	ExpiresAt  time.Time `json:"expires_at" doc:"when the certificate ends"`
	Kubeconfig string    `json:"kubeconfig" doc:"the file, with the private key; keep it to yourself"`
}

// OpenGlass is the last file of an administrator, while it is good.
type OpenGlass struct {
	By     string    `json:"by" doc:"who got it"`
	Reason string    `json:"reason"`
	Until  time.Time `json:"until" doc:"when it ends"`
}

var _ = addRoutes(
	Route{"break-glass", http.MethodPost, "/clusters/{id}/break-glass", "project.workspace.cluster:break_glass", "kubernetes", "Issue a kubeconfig of an administrator in an emergency, for an hour at most", false},
)
