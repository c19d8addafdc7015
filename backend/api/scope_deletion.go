package api

import "net/http"

// Cascade confirms the deletion of a scope with all that is in it.
type Cascade struct {
	Confirm string `json:"confirm,omitempty" maxLength:"63" doc:"name of the scope; needed with plan_id, and for a scope without workspaces, which is deleted at once"`
}

// ScopeDeletion is the deletion of a scope with all that is in it. Its job stands in a workspace that goes last.
type ScopeDeletion struct {
	JobID     string `json:"job_id" format:"uuid" doc:"the job that deletes it"`
	Workspace string `json:"workspace" format:"uuid" doc:"the workspace that the job stands in"`
	State     string `json:"state" enum:"queued,running,cancelling,succeeded,failed,cancelled" doc:"state of the job"`
}

var _ = addRoutes(
	Route{"cascade-organization", http.MethodPost, "/organizations/{id}/cascade", "organization:delete", "tenancy", "Delete an organization with all that is in it", true},
	Route{"cascade-project", http.MethodPost, "/projects/{id}/cascade", "project:delete", "tenancy", "Delete a project with all that is in it", true},
	Route{"cascade-workspace", http.MethodPost, "/workspaces/{id}/cascade", "project.workspace:delete", "tenancy", "Delete a workspace with all that is in it", true},
)

var _ = nameJobs(map[string]string{"scope_delete": "Delete scope"})
