package api

import (
	"net/http"
	"time"
)

// EventStream sends the events of an organization, or of the installation, to a receiver as they are sealed.
type EventStream struct {
	ID             string      `json:"id" format:"uuid"`
	OrganizationID string      `json:"organization_id,omitempty" format:"uuid" doc:"id of its organization; empty for the installation's"`
	Organization   string      `json:"organization,omitempty" doc:"name of its organization; empty for the installation's"`
	Name           string      `json:"name" doc:"unique in its organization"`
	Type           string      `json:"type" enum:"webhook,syslog" doc:"webhook: JSON over HTTPS; syslog: RFC 5424 over TLS"`
	URL            string      `json:"url,omitempty" doc:"of a webhook"`
	Server         string      `json:"server,omitempty" doc:"host:port of syslog"`
	Authority      string      `json:"authority,omitempty" doc:"certificates (PEM) that vouch for the receiver; empty for those of the backend's system"`
	HasSecret      bool        `json:"has_secret" doc:"whether what goes to a webhook is signed; the secret is never shown"`
	Enabled        bool        `json:"enabled" doc:"nothing is sent by one that is not; its position stays"`
	Sent           int64       `json:"sent" doc:"events that the receiver has taken"`
	SentAt         *time.Time  `json:"sent_at,omitempty" doc:"when it took the last ones"`
	Seal           int64       `json:"seal" doc:"number of the seal with the last event that the receiver has"`
	Operations     []Operation `json:"operations" nullable:"false" doc:"what state and permissions allow now, and what prevents the rest"`
	Version        int64       `json:"version" doc:"also the ETag"`
	CreatedAt      time.Time   `json:"created_at"`
	UpdatedAt      time.Time   `json:"updated_at"`
}

// EventStreamFilter asks for the event streams of an organization.
type EventStreamFilter struct {
	Organization string `query:"organization" maxLength:"64" doc:"id or name of an organization; default: yours, if you see one only"`
}

// CreateInstallationStream makes an event stream of the installation.
type CreateInstallationStream struct {
	Name      string `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	Type      string `json:"type" enum:"webhook,syslog" doc:"webhook: JSON over HTTPS; syslog: RFC 5424 over TLS"`
	URL       string `json:"url,omitempty" maxLength:"2048" doc:"of a webhook, https"`
	Secret    string `json:"secret,omitempty" maxLength:"128" doc:"of a webhook, signs its messages: base64 of 24 to 64 random bytes; it is never shown again"`
	Server    string `json:"server,omitempty" maxLength:"300" doc:"host of syslog, with a port if it is not 6514"`
	Authority string `json:"authority,omitempty" maxLength:"65536" doc:"certificates (PEM) that vouch for the receiver; empty for those of the backend's system"`
	History   bool   `json:"history,omitempty" doc:"begin with the oldest event that is kept, and not with the next one"`
	Enabled   *bool  `json:"enabled,omitempty" default:"true" doc:"nothing is sent by one that is not"`
}

// CreateEventStream makes an event stream of an organization.
type CreateEventStream struct {
	Name         string `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	Type         string `json:"type" enum:"webhook,syslog" doc:"webhook: JSON over HTTPS; syslog: RFC 5424 over TLS"`
	URL          string `json:"url,omitempty" maxLength:"2048" doc:"of a webhook, https"`
	Secret       string `json:"secret,omitempty" maxLength:"128" doc:"of a webhook, signs its messages: base64 of 24 to 64 random bytes; it is never shown again"`
	Server       string `json:"server,omitempty" maxLength:"300" doc:"host of syslog, with a port if it is not 6514"`
	Authority    string `json:"authority,omitempty" maxLength:"65536" doc:"certificates (PEM) that vouch for the receiver; empty for those of the backend's system"`
	History      bool   `json:"history,omitempty" doc:"begin with the oldest event that is kept, and not with the next one"`
	Enabled      *bool  `json:"enabled,omitempty" default:"true" doc:"nothing is sent by one that is not"`
	Organization string `json:"organization,omitempty" maxLength:"64" doc:"id or name of the organization; default: yours, if you see one only"`
}

// ChangeEventStream changes the fields that are given. The type and the position stay.
type ChangeEventStream struct {
	Name      *string `json:"name,omitempty" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	URL       *string `json:"url,omitempty" maxLength:"2048" doc:"of a webhook, https"`
	Secret    *string `json:"secret,omitempty" maxLength:"128" doc:"of a webhook: base64 of 24 to 64 random bytes; empty to sign nothing"`
	Server    *string `json:"server,omitempty" maxLength:"300" doc:"host of syslog, with a port if it is not 6514"`
	Authority *string `json:"authority,omitempty" maxLength:"65536" doc:"certificates (PEM) that vouch for the receiver; empty for those of the backend's system"`
	Enabled   *bool   `json:"enabled,omitempty" doc:"nothing is sent by one that is not; its position stays"`
}

var _ = addRoutes(
	Route{"list-event-streams", http.MethodGet, "/event-streams", "organization.event_stream:read", "events", "List the event streams of an organization", false},
	Route{"create-event-stream", http.MethodPost, "/event-streams", "organization.event_stream:create", "events", "Send the events of an organization to a receiver", false},
	Route{"get-event-stream", http.MethodGet, "/event-streams/{id}", "organization.event_stream:read", "events", "Show an event stream of an organization", false},
	Route{"change-event-stream", http.MethodPatch, "/event-streams/{id}", "organization.event_stream:update", "events", "Change or disable an event stream of an organization", false},
	Route{"delete-event-stream", http.MethodDelete, "/event-streams/{id}", "organization.event_stream:delete", "events", "Delete an event stream of an organization; the events stay", false},
	Route{"list-installation-streams", http.MethodGet, "/installation/event-streams", "installation.event_stream:read", "events", "List the event streams of the installation", false},
	Route{"create-installation-stream", http.MethodPost, "/installation/event-streams", "installation.event_stream:create", "events", "Send the events that are in no organization to a receiver", false},
	Route{"get-installation-stream", http.MethodGet, "/installation/event-streams/{id}", "installation.event_stream:read", "events", "Show an event stream of the installation", false},
	Route{"change-installation-stream", http.MethodPatch, "/installation/event-streams/{id}", "installation.event_stream:update", "events", "Change or disable an event stream of the installation", false},
	Route{"delete-installation-stream", http.MethodDelete, "/installation/event-streams/{id}", "installation.event_stream:delete", "events", "Delete an event stream of the installation; the events stay", false},
)
