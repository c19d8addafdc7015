package api

import (
	"net/http"
	"time"
)

// PlaybookDelivery gives a version of a playbook to hosts, in waves, and then makes it the default.
type PlaybookDelivery struct {
	ID              string `json:"id" format:"uuid"`
	Name            string `json:"name"`
	Playbook        string `json:"playbook"`
	PlaybookVersion int    `json:"playbook_version" doc:"becomes the default when each host was reached"`
	Before          int    `json:"before" doc:"the default when it began"`
	Region          string `json:"region,omitempty" doc:"of the hosts that come in waves; absent: any"`
	Zone            string `json:"zone,omitempty" doc:"of the hosts that come in waves; absent: any"`
	DeliveryProgress
	Operations []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	CreatedAt  time.Time   `json:"created_at"`
}

// CreatePlaybookDelivery begins a delivery of a playbook.
type CreatePlaybookDelivery struct {
	Name            string `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits, _, . and -; begins with a letter"`
	Playbook        string `json:"playbook" minLength:"1" maxLength:"64" doc:"one that jobs of one host play"`
	PlaybookVersion int    `json:"playbook_version" minimum:"1" maximum:"2147483647" doc:"a version that is not the default"`
	Region          string `json:"region,omitempty" maxLength:"64" doc:"only hosts of this region come in waves"`
	Zone            string `json:"zone,omitempty" maxLength:"64" doc:"only hosts of this zone come in waves"`
	DeliveryPlan
}

// PlaybookDeliveryFilter narrows a list of deliveries of playbooks.
type PlaybookDeliveryFilter struct {
	PageQuery
	Playbook string `query:"playbook" maxLength:"64" doc:"only those of this playbook"`
	State    string `query:"state" enum:"running,paused,halted,returning,done,returned"`
}

// PlaybookDeliveryTargetFilter narrows a list of the hosts of a delivery of a playbook.
type PlaybookDeliveryTargetFilter struct {
	PageQuery
	Delivery string `query:"delivery" maxLength:"64" doc:"id or name of a delivery; absent: the newest"`
	State    string `query:"state" enum:"waiting,told,proven,failed,skipped,returning,returned"`
}

var _ = addRoutes(
	Route{"list-playbook-deliveries", http.MethodGet, "/playbook-deliveries", "installation.playbook_delivery:read", "playbooks", "List deliveries of versions of playbooks", false},
	Route{"create-playbook-delivery", http.MethodPost, "/playbook-deliveries", "installation.playbook_delivery:create", "playbooks", "Give a version of a playbook to hosts, in waves, then make it the default", false},
	Route{"get-playbook-delivery", http.MethodGet, "/playbook-deliveries/{id}", "installation.playbook_delivery:read", "playbooks", "Show a delivery of a playbook with its waves", false},
	Route{"pause-playbook-delivery", http.MethodPost, "/playbook-deliveries/{id}/pause", "installation.playbook_delivery:update", "playbooks", "Give the version to no further hosts until it is resumed", false},
	Route{"resume-playbook-delivery", http.MethodPost, "/playbook-deliveries/{id}/resume", "installation.playbook_delivery:update", "playbooks", "Go on with a delivery of a playbook that is paused or halted; failures until now count no more", false},
	Route{"roll-back-playbook-delivery", http.MethodPost, "/playbook-deliveries/{id}/roll-back", "installation.playbook_delivery:update", "playbooks", "Bind the jobs of all hosts to the default again", false},
	Route{"list-playbook-delivery-targets", http.MethodGet, "/playbook-delivery-targets", "installation.playbook_delivery:read", "playbooks", "List the hosts of a delivery of a playbook by wave", false},
)
