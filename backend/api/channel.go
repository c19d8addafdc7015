package api

import (
	"net/http"
	"time"
)

// Channel is where notifications go.
type Channel struct {
	ID          string          `json:"id" format:"uuid"`
	Workspace   string          `json:"workspace"`
	Name        string          `json:"name" doc:"unique in its workspace"`
	Type        string          `json:"type" enum:"webhook,email" doc:"how it delivers"`
	Enabled     bool            `json:"enabled" doc:"notifications are sent; a test is sent in any case"`
	Subscribes  []string        `json:"subscribes" nullable:"false" doc:"which conditions are sent: a noun, noun/condition, or * for all"`
	URL         string          `json:"url,omitempty" doc:"of a webhook"`
	Server      string          `json:"server,omitempty" doc:"host:port of the mail server"`
	TLS         string          `json:"tls,omitempty" enum:"starttls,tls,none" doc:"how the mail server is connected to"`
	Username    string          `json:"username,omitempty" doc:"for the mail server"`
	HasPassword bool            `json:"has_password" doc:"a password for the mail server is stored"`
	Sender      string          `json:"sender,omitempty" doc:"address that mail comes from"`
	Recipients  []string        `json:"recipients" nullable:"false" doc:"addresses that mail goes to"`
	Secrets     []ChannelSecret `json:"secrets" nullable:"false" doc:"that messages to a webhook are signed with, oldest first"`
	Operations  []Operation     `json:"operations" nullable:"false" doc:"what can be done with it now"`
	Version     int64           `json:"version" doc:"also the ETag"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
}

// ChannelSecret names a secret without telling it.
type ChannelSecret struct {
	ID        string    `json:"id" format:"uuid"`
	CreatedAt time.Time `json:"created_at"`
}

// CreateChannel adds a channel.
type CreateChannel struct {
	Name       string   `json:"name" minLength:"1" maxLength:"63" pattern:"^[a-z][a-z0-9-]*$" patternDescription:"lower-case letters, digits and -, beginning with a letter" doc:"unique in its workspace"`
	Type       string   `json:"type" enum:"webhook,email" doc:"how it delivers"`
	Enabled    *bool    `json:"enabled,omitempty" default:"true" doc:"send notifications"`
	Subscribes []string `json:"subscribes,omitempty" maxItems:"50" doc:"which conditions are sent: a noun, noun/condition, or * for all"`
	URL        string   `json:"url,omitempty" maxLength:"2048" doc:"of a webhook, http or https"`
	Secret     string   `json:"secret,omitempty" maxLength:"128" doc:"of a webhook, signs its messages: base64 of 24 to 64 random bytes; it is never shown again"`
	Server     string   `json:"server,omitempty" maxLength:"300" doc:"mail server, with a port if it is not 587 (starttls) or 465 (tls)"`
	TLS        string   `json:"tls,omitempty" enum:"starttls,tls,none" doc:"how the mail server is connected to; starttls if not given"`
	Username   string   `json:"username,omitempty" maxLength:"255" doc:"for the mail server; empty for no login"`
	Password   string   `json:"password,omitempty" maxLength:"1024" doc:"for the mail server; it is never shown again"`
	Sender     string   `json:"sender,omitempty" maxLength:"254" doc:"address that mail comes from"`
	Recipients []string `json:"recipients,omitempty" maxItems:"20" doc:"addresses that mail goes to"`
}

// ChangeChannel changes the fields that are given.
type ChangeChannel struct {
	Name       *string   `json:"name,omitempty" minLength:"1" maxLength:"63" pattern:"^[a-z][a-z0-9-]*$" patternDescription:"lower-case letters, digits and -, beginning with a letter" doc:"unique in its workspace"`
	Enabled    *bool     `json:"enabled,omitempty" doc:"send notifications"`
	Subscribes *[]string `json:"subscribes,omitempty" maxItems:"50" doc:"which conditions are sent: a noun, noun/condition, or * for all"`
	URL        *string   `json:"url,omitempty" maxLength:"2048" doc:"of a webhook, http or https"`
	Server     *string   `json:"server,omitempty" maxLength:"300" doc:"mail server, with a port if it is not 587 (starttls) or 465 (tls)"`
	TLS        *string   `json:"tls,omitempty" enum:"starttls,tls,none" doc:"how the mail server is connected to"`
	Username   *string   `json:"username,omitempty" maxLength:"255" doc:"for the mail server; empty for no login"`
	Password   *string   `json:"password,omitempty" maxLength:"1024" doc:"for the mail server; it is never shown again"`
	Sender     *string   `json:"sender,omitempty" maxLength:"254" doc:"address that mail comes from"`
	Recipients *[]string `json:"recipients,omitempty" maxItems:"20" doc:"addresses that mail goes to"`
}

// AddChannelSecret adds a secret, while the receiver still takes the one before.
type AddChannelSecret struct {
	Secret string `json:"secret" minLength:"1" maxLength:"128" doc:"base64 of 24 to 64 random bytes; whsec_ may stand before it; it is never shown again"`
}

// RemoveChannelSecret removes a secret.
type RemoveChannelSecret struct {
	SecretID string `json:"secret_id" format:"uuid" doc:"id of a secret of the channel"`
}

// ChannelFilter narrows a list of channels.
type ChannelFilter struct {
	PageQuery
	Type string `query:"type" enum:"webhook,email" doc:"how it delivers"`
}

// ChannelDelivery is one attempt to deliver one message.
type ChannelDelivery struct {
	ID         string    `json:"id" format:"uuid"`
	ChannelID  string    `json:"channel_id" format:"uuid" doc:"id of its channel"`
	MessageID  string    `json:"message_id" format:"uuid" doc:"the same for all attempts of one message"`
	Kind       string    `json:"kind" enum:"test,conditions" doc:"what the message tells"`
	Attempt    int64     `json:"attempt" doc:"of the message, from 1"`
	At         time.Time `json:"at"`
	Outcome    string    `json:"outcome" enum:"delivered,failed" doc:"what became of the attempt"`
	StatusCode *int64    `json:"status_code,omitempty" doc:"of HTTP or SMTP, if there was an answer"`
	DurationMS int64     `json:"duration_ms" doc:"milliseconds"`
	Error      string    `json:"error,omitempty" doc:"why it failed"`
}

// ChannelDeliveryFilter narrows a list of deliveries.
type ChannelDeliveryFilter struct {
	PageQuery
	Channel string `query:"channel" maxLength:"64" doc:"id or name of a channel"`
	Outcome string `query:"outcome" enum:"delivered,failed" doc:"what became of the attempt"`
}

var _ = addRoutes(
	Route{"list-channels", http.MethodGet, "/channels", "project.workspace.channel:read", "channels", "List notification channels", false},
	Route{"create-channel", http.MethodPost, "/channels", "project.workspace.channel:create", "channels", "Add a notification channel", false},
	Route{"get-channel", http.MethodGet, "/channels/{id}", "project.workspace.channel:read", "channels", "Show a channel", false},
	Route{"change-channel", http.MethodPatch, "/channels/{id}", "project.workspace.channel:update", "channels", "Change the settings of a channel", false},
	Route{"delete-channel", http.MethodDelete, "/channels/{id}", "project.workspace.channel:delete", "channels", "Delete a channel", false},
	Route{"test-channel", http.MethodPost, "/channels/{id}/test", "project.workspace.channel:test", "channels", "Deliver a test message", true},
	Route{"add-channel-secret", http.MethodPost, "/channels/{id}/add-secret", "project.workspace.channel:update", "channels", "Sign with one secret more", false},
	Route{"remove-channel-secret", http.MethodPost, "/channels/{id}/remove-secret", "project.workspace.channel:update", "channels", "Remove a secret", false},
	Route{"list-channel-deliveries", http.MethodGet, "/channel-deliveries", "project.workspace.channel:read", "channels", "List deliveries, newest first", false},
)

var _ = nameJobs(map[string]string{"channel_test": "Test channel"})
