package httpapi_test

import (
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
)

// TestEveryKindOfJobHasATitle, in general and of a job whose objects are known.
func TestEveryKindOfJobHasATitle(t *testing.T) {
	t.Parallel()
	for _, j := range domain.JointTable {
		kind := string(j.Kind)
		if api.JobKindTitle(kind) == strings.ReplaceAll(kind, "_", " ") {
			t.Errorf("%s has no title", kind)
		}
		title := api.Job{Kind: kind, Host: "h1", Unit: "h1-cu01", LoginUser: "ada", HostCount: 2}.Title()
		if title == api.JobKindTitle(kind) || strings.ContainsAny(title, "{}") {
			t.Errorf("%s of h1 is called %q", kind, title)
		}
	}
}
