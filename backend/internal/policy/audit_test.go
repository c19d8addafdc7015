package policy_test

import (
	"path/filepath"
	"strings"
	"testing"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/policy"
	"kloigos/backend/internal/testkit/site"
)

func keyset(s *site.Site) *secret.Keyset {
	s.T.Helper()
	keys, err := secret.Create(filepath.Join(s.T.TempDir(), "keyset.json"))
	if err != nil {
		s.T.Fatal(err)
	}
	return keys
}

// sealed seals all events that are old enough, and gives the keyset of the seals.
func sealed(s *site.Site) *secret.Keyset {
	s.T.Helper()
	keys := keyset(s)
	p := policy.SealEvents(s.DB, keys)
	for {
		out, err := p.Run(s.T.Context(), reconcile.Item{})
		if err != nil {
			s.T.Fatal(err)
		}
		if out.Again == 0 {
			return keys
		}
	}
}

// TestSealedEvents: whatever is done to the trail behind the program's back is found,
// and named.
func TestSealedEvents(t *testing.T) {
	t.Parallel()
	const ofADay = `INSERT INTO events (id, at, workspace_id, actor_kind, actor_name, action, object_kind, object_name, state_before, state_after)
	    SELECT gen_random_uuid(), now() - n * INTERVAL '1 hour', $1, 'account', 'ada', 'host.drain', 'host', 'h' || n, '{"b": 1.50, "a": [1, {"z": null}]}', '{"state": "draining"}'
	      FROM generate_series(1, 100) AS n`
	for what, want := range map[string]string{
		"": "",
		`UPDATE events SET actor_name = 'eve' WHERE object_name = 'h50'`:                     "(host.drain of h50",
		`UPDATE events SET state_after = '{"state": "ready"}' WHERE object_name = 'h7'`:      "(host.drain of h7",
		`UPDATE events SET at = at + INTERVAL '1 second' WHERE object_name = 'h50'`:          "is not as it was sealed",
		`DELETE FROM events WHERE object_name = 'h99'`:                                       "1 of the 25 events between",
		`UPDATE events SET seal = 1 WHERE seal = 2 AND object_name = 'h60'`:                  "is not as it was sealed",
		`DELETE FROM event_seals WHERE number = 2`:                                           "the 1 seals before it are missing",
		`DELETE FROM event_seals WHERE number = 1`:                                           "the 1 seals before it are missing",
		`UPDATE event_seals SET number = 99 WHERE number = 1`:                                "seals before it are missing",
		`UPDATE event_seals SET hashes = '' WHERE number = 3`:                                "does not follow from the seal before it",
		`UPDATE event_seals SET chain = sha256(chain), code = sha256(code) WHERE number = 4`: "not made with the keyset",
		`INSERT INTO events SELECT gen_random_uuid(), at, workspace_id, actor_kind, actor_id, actor_name, client, request_id, action, object_kind, object_id, 'more', job_id, state_before, state_after, organization_id, project_id, seal FROM events WHERE object_name = 'h20'`: "(host.drain of more",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := site.New(t)
			sql(s, ofADay, domain.DefaultWorkspace)
			keys := sealed(s)
			if n := count(s, `SELECT count(*) FROM events WHERE seal IS NULL AND at < now() - INTERVAL '10 minutes'`); n != 0 {
				t.Fatalf("%d are not sealed", n)
			}
			if n := count(s, `SELECT count(*) FROM event_seals WHERE organization_id = '00000000-0000-4000-8000-000000000001'`); n != 4 && n != 5 {
				t.Fatalf("%d seals", n)
			}
			if what != "" {
				sql(s, what)
			}
			faults, err := audit.Check(t.Context(), s.DB.Reader, keys.Vouched)
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(faults, "\n"); (want == "") != (all == "") || !strings.Contains(all, want) {
				t.Errorf("want %q, got %q", want, all)
			}
			out, err := policy.CheckEvents(s.DB, keys).Run(t.Context(), reconcile.Item{})
			if err != nil || len(out.Conditions) != 1 || (out.Conditions[0].Status == reconcile.True) != (want == "") {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

// A trail grows while it is checked, sealed and shortened: no order of these gives a
// fault.
func TestTheTrailGoesOn(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	keys := keyset(s)
	for n := range 3 {
		sql(s, `INSERT INTO events (id, at, workspace_id, actor_kind, actor_name, action, object_kind)
		    SELECT gen_random_uuid(), now() - n * INTERVAL '1 hour', $1, 'account', 'ada', 'x', 'host' FROM generate_series($2::INT8, $3::INT8) AS n`, domain.DefaultWorkspace, 1+n, 60+n)
		if _, err := policy.SealEvents(s.DB, keys).Run(t.Context(), reconcile.Item{}); err != nil {
			t.Fatal(err)
		}
		if n == 1 && run(s, policy.Retention{Events: day}, "old_events") < 20 {
			t.Error("nothing was removed")
		}
		faults, err := audit.Check(t.Context(), s.DB.Reader, keys.Vouched)
		if err != nil || len(faults) > 0 {
			t.Errorf("after %d: %q, %v", n, faults, err)
		}
	}
}
