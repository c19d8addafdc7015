package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

func sshKeyOf() api.SSHKey {
	return api.SSHKey{
		Version: 2, AuthorizedKey: apitest.Key, FormerKey: "ssh-ed25519 AAAAformer kloigos", State: "deploying", StateMeans: "hosts get the next key", Hosts: 4, Done: 2, Left: 1,
		Waiting: []api.SSHKeyHost{
			{ID: apitest.HostID, Name: "fra1-001", Workspace: "acme/web/live", State: "failed", JobID: apitest.JobID, Message: "The host is down."},
			{ID: apitest.HostID, Name: "fra1-002", Workspace: "acme/web/live", State: "left_behind"},
		},
		Operations: []api.Operation{{Name: "replace", Allowed: true}, {Name: "leave", Allowed: true}},
	}
}

// TestSSHKey: the page names what is not done with its job, and its buttons replace the key and leave a host behind.
func TestSSHKey(t *testing.T) {
	t.Parallel()
	s := setup(t)
	at := "/organizations/" + organizationID + "/ssh-key"
	a := s.get(at)
	s.wantText(a, "The host is down.", `/w/acme/web/live/jobs/`+apitest.JobID, "AAAAformer", "Leave behind")
	if n := strings.Count(a.body, at+"/leave"); n != 1 {
		t.Errorf("%d hosts can be left behind, not 1", n)
	}
	s.api.Answer("leave-ssh-key-hosts", 200, sshKeyOf())
	s.wantRedirectTo(s.post(at+"/leave", url.Values{"host": {apitest.HostID}}), at+"?said=key-left")
	var sent api.LeaveHosts
	s.only("leave-ssh-key-hosts").Into(t, &sent)
	if len(sent.Hosts) != 1 || sent.Hosts[0] != apitest.HostID {
		t.Errorf("%+v", sent)
	}
	s.api.Answer("replace-ssh-key", 200, sshKeyOf())
	a = s.post(at+"/replace", url.Values{"confirm": {"other"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "The typed text is not acme")
	s.wantRedirectTo(s.post(at+"/replace", url.Values{"confirm": {"acme"}}), at+"?said=key-replacing")
	if n := len(s.api.Calls("replace-ssh-key")); n != 1 {
		t.Errorf("replaced %d times", n)
	}
	s.api.Refuse("replace-ssh-key", api.Problem{Status: http.StatusConflict, Code: "ssh_key_replacing", Detail: "The key is being replaced already."})
	a = s.post(at+"/replace", url.Values{"confirm": {"acme"}})
	s.wantText(a, "The key is being replaced already.", "Hosts that are not done")
}
