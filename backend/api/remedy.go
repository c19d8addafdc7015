package api

import (
	"net/http"
	"time"
)

// Remedy is a job that is asked for by itself where a condition is false.
type Remedy struct {
	ID          string      `json:"id" format:"uuid"`
	Workspace   string      `json:"workspace"`
	Name        string      `json:"name" doc:"unique in its workspace"`
	Noun        string      `json:"noun" doc:"kind of the objects that it is for"`
	Condition   string      `json:"condition" doc:"type of the condition, such as healthy"`
	Job         string      `json:"job" doc:"kind of the job that is asked for"`
	WaitSeconds int64       `json:"wait_seconds" doc:"for how long the condition is false before, and what lies between two jobs about one object"`
	PerDay      int64       `json:"per_day" doc:"jobs about one object within 24 hours"`
	AtOnce      int64       `json:"at_once" doc:"jobs of the remedy that have not ended"`
	Enabled     bool        `json:"enabled" doc:"whether it asks for jobs"`
	Operations  []Operation `json:"operations" nullable:"false" doc:"what can be done with it now"`
	Version     int64       `json:"version" doc:"also the ETag"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
}

// CreateRemedy adds a remedy.
type CreateRemedy struct {
	Name        string `json:"name" minLength:"1" maxLength:"63" pattern:"^[a-z][a-z0-9-]*$" patternDescription:"lower-case letters, digits and -; a letter first" doc:"unique in its workspace"`
	Noun        string `json:"noun" enum:"host,dns_zone" doc:"kind of the objects that it is for"`
	Condition   string `json:"condition" minLength:"1" maxLength:"63" doc:"type of the condition, such as healthy"`
	Job         string `json:"job" enum:"host_probe,host_initialize,zone_sync" doc:"kind of the job that is asked for; the noun must have it"`
	WaitSeconds int64  `json:"wait_seconds,omitempty" minimum:"60" maximum:"86400" default:"300" doc:"for how long the condition is false before, and what lies between two jobs about one object"`
	PerDay      int64  `json:"per_day,omitempty" minimum:"1" maximum:"24" default:"3" doc:"jobs about one object within 24 hours"`
	AtOnce      int64  `json:"at_once,omitempty" minimum:"1" maximum:"20" default:"2" doc:"jobs of the remedy that have not ended"`
	Enabled     *bool  `json:"enabled,omitempty" doc:"whether it asks for jobs; default true"`
}

// ChangeRemedy changes the fields that are given.
type ChangeRemedy struct {
	Name        *string `json:"name,omitempty" minLength:"1" maxLength:"63" pattern:"^[a-z][a-z0-9-]*$" patternDescription:"lower-case letters, digits and -; a letter first" doc:"unique in its workspace"`
	Condition   *string `json:"condition,omitempty" minLength:"1" maxLength:"63" doc:"type of the condition, such as healthy"`
	Job         *string `json:"job,omitempty" enum:"host_probe,host_initialize,zone_sync" doc:"kind of the job that is asked for; the noun must have it"`
	WaitSeconds *int64  `json:"wait_seconds,omitempty" minimum:"60" maximum:"86400" doc:"for how long the condition is false before, and what lies between two jobs about one object"`
	PerDay      *int64  `json:"per_day,omitempty" minimum:"1" maximum:"24" doc:"jobs about one object within 24 hours"`
	AtOnce      *int64  `json:"at_once,omitempty" minimum:"1" maximum:"20" doc:"jobs of the remedy that have not ended"`
	Enabled     *bool   `json:"enabled,omitempty" doc:"whether it asks for jobs"`
}

// RemedyFilter asks for a list of remedies.
type RemedyFilter struct {
	PageQuery
	Noun string `query:"noun" enum:"host,dns_zone" doc:"kind of the objects"`
}

// RemedyRun is one time that a remedy asked for a job.
type RemedyRun struct {
	ID       string    `json:"id" format:"uuid"`
	At       time.Time `json:"at"`
	Outcome  string    `json:"outcome" enum:"asking,asked,refused" doc:"asking: a backend is about to ask for the job, or died then"`
	RemedyID string    `json:"remedy_id" format:"uuid" doc:"id of the remedy"`
	Remedy   string    `json:"remedy" doc:"name of the remedy"`
	ObjectID string    `json:"object_id" format:"uuid"`
	Object   string    `json:"object" doc:"name of the object then"`
	Reason   string    `json:"reason" doc:"of the condition then"`
	JobID    string    `json:"job_id,omitempty" format:"uuid"`
	Message  string    `json:"message,omitempty" doc:"why the job was refused"`
}

// RemedyRunFilter asks for a list of runs.
type RemedyRunFilter struct {
	PageQuery
	Remedy string `query:"remedy" maxLength:"63" doc:"name or id of the remedy"`
}

var _ = addRoutes(
	Route{"list-remedies", http.MethodGet, "/remedies", "project.workspace.remedy:read", "remedies", "List remedies", false},
	Route{"create-remedy", http.MethodPost, "/remedies", "project.workspace.remedy:create", "remedies", "Add a remedy", false},
	Route{"get-remedy", http.MethodGet, "/remedies/{id}", "project.workspace.remedy:read", "remedies", "Show a remedy", false},
	Route{"change-remedy", http.MethodPatch, "/remedies/{id}", "project.workspace.remedy:update", "remedies", "Change a remedy", false},
	Route{"delete-remedy", http.MethodDelete, "/remedies/{id}", "project.workspace.remedy:delete", "remedies", "Delete a remedy", false},
	Route{"list-remedy-runs", http.MethodGet, "/remedy-runs", "project.workspace.remedy:read", "remedies", "List what remedies did", false},
)
