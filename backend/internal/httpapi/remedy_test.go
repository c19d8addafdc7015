package httpapi_test

import (
	"net/http"
	"testing"

	"kloigos/backend/api"
)

// Who may set remedies, and not ask for their jobs, sets none that asks in their place; deleting one takes nothing.
func TestARemedyNeedsThePermissionOfItsJob(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustDo(http.MethodPost, "/roles", api.CreateRole{Name: "remedier", Organization: "default", Permissions: []string{
		"project.workspace.remedy:create", "project.workspace.remedy:read", "project.workspace.remedy:update", "project.workspace.remedy:delete", "project.workspace.dns_zone:update",
	}}, 201)
	_, token := b.newAccount("eve", "account")
	b.mustDo(http.MethodPost, "/grants", api.CreateGrant{Account: "eve", Role: "remedier", Scope: "default"}, 201)
	want := func(what string, status int, method, path string, body any) {
		t.Helper()
		if a := b.do(method, path, body, "Authorization", "Bearer "+token); a.status != status {
			t.Errorf("%s: %d %s, want %d", what, a.status, a.body, status)
		}
	}
	hosts := api.CreateRemedy{Name: "hosts", Noun: "host", Condition: "healthy", Job: "host_initialize"}
	zones := api.CreateRemedy{Name: "zones", Noun: "dns_zone", Condition: "synced", Job: "zone_sync"}
	want("of hosts", 403, http.MethodPost, "/remedies", hosts)
	want("of zones", 201, http.MethodPost, "/remedies", zones)
	b.mustDo(http.MethodPost, "/remedies", hosts, 201)
	want("changes one of hosts", 403, http.MethodPatch, "/remedies/hosts", map[string]any{"per_day": 24})
	want("changes one of zones", 200, http.MethodPatch, "/remedies/zones", map[string]any{"per_day": 24})
	want("gives one of zones a job of hosts", 403, http.MethodPatch, "/remedies/zones", map[string]any{"job": "host_probe"})
	want("deletes one of hosts", 204, http.MethodDelete, "/remedies/hosts", nil)
}
