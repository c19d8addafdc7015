package iam

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/crypto/ssh"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

func TestScopeNames(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"acme": true, "a": true, "9-lives": true, "": false, "-a": false, "a-": false, "A": false, "a_b": false, "a/b": false, "a#b": false, "ä": false,
		"0123456789012345678901234567890123456789012345678901234567890123": false, uuid.NewString(): false,
	} {
		if err := checkName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// An organization begins with a key, a project, a workspace and an owner, and keeps older backends out.
func TestCreateOrganization(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	if acme.State != ScopeActive || acme.Path() != "acme" || acme.Place() != (scope.Place{Organization: acme.ID}) {
		t.Errorf("made %+v", acme)
	}
	if seen := p.sees(t, Workspaces, Viewer{Account: p.ada.ID}); !slices.Equal(seen, []string{"acme/default/default"}) {
		t.Errorf("the owner sees %v", seen)
	}
	key := p.texts(t, "SELECT public_key, encode(private_sealed, 'hex') FROM organization_keys WHERE organization_id = $1", acme.ID)[0]
	sealed, err := hex.DecodeString(key[1])
	if err != nil {
		t.Fatal(err)
	}
	private, err := p.keys.Open(sealed, acme.ID.String())
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(key[0])) //nolint:dogsled // the standard signature
	if err != nil || string(public.Marshal()) != string(signer.PublicKey().Marshal()) {
		t.Errorf("the public key is another one: %v", err)
	}
	if oldest := p.texts(t, "SELECT convert_from(value, 'UTF8') FROM settings WHERE name = 'oldest_backend_allowed'"); len(oldest) != 1 || oldest[0][0] != fmt.Sprint(SharedGeneration) {
		t.Errorf("the oldest backend allowed is %v", oldest)
	}
	_, err = do(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
		return CreateOrganization(ctx, tx, p.keys, NewOrganization{Name: "acme", Owner: p.ada.ID, Release: release})
	})
	wantConflict(t, err, "name_taken")
}

// While a backend of another release is there, no second organization is made; once it is gone, it is.
func TestNoSecondOrganizationBesideOlderBackends(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.sql(t, "INSERT INTO backends (id, name, version, roles) VALUES ($1, 'old-1', 'v1.2.2', 'api'), ($2, 'new-1', $3, 'api')", uuid.New(), uuid.New(), release)
	make := func() error {
		_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
			return CreateOrganization(ctx, tx, p.keys, NewOrganization{Name: "acme", Owner: p.ada.ID, Release: release})
		})
		return err
	}
	wantConflict(t, make(), "older_backend")
	p.sql(t, "UPDATE backends SET seen_at = now() - INTERVAL '2 minutes' WHERE name = 'old-1'")
	if err := make(); err != nil {
		t.Error(err)
	}
}

// A scope is visible with a grant at it, above it or below it, and with nothing else.
func TestVisibleScopes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme, other := p.organization(t, "acme"), p.organization(t, "other")
	web, shop := p.project(t, acme, "web"), p.project(t, acme, "shop")
	live, test := p.workspace(t, web, "live"), p.workspace(t, web, "test")
	p.workspace(t, shop, "live")
	for _, c := range []struct {
		name                                string
		at                                  Scope
		within                              uuid.UUID
		organizations, projects, workspaces []string
	}{
		{"at-organization", acme, uuid.Nil, []string{"acme"}, []string{"acme/default", "acme/shop", "acme/web"}, []string{"acme/default/default", "acme/shop/live", "acme/web/live", "acme/web/test"}},
		{"at-project", web, uuid.Nil, []string{"acme"}, []string{"acme/web"}, []string{"acme/web/live", "acme/web/test"}},
		{"at-workspace", test, uuid.Nil, []string{"acme"}, []string{"acme/web"}, []string{"acme/web/test"}},
		{"token-of-workspace", acme, live.ID, []string{"acme"}, []string{"acme/web"}, []string{"acme/web/live"}},
		{"token-of-project", acme, shop.ID, []string{"acme"}, []string{"acme/shop"}, []string{"acme/shop/live"}},
		{"token-of-other", acme, other.ID, []string{}, []string{}, []string{}},
		{"nobody", Scope{}, uuid.Nil, []string{}, []string{}, []string{}},
	} {
		account := p.account(t, c.name)
		if c.at.ID != uuid.Nil {
			p.mustGive(t, c.at, account, "viewer")
		}
		who := Viewer{Account: account.ID, Within: c.within}
		for level, want := range map[string][]string{OrganizationNoun: c.organizations, ProjectNoun: c.projects, WorkspaceNoun: c.workspaces} {
			got := p.sees(t, levelOf(level), who)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s sees %ss %v, want %v", c.name, level, got, want)
			}
			// What is seen is found, and nothing else: by id and by path.
			for _, s := range []Scope{acme, other, web, shop, live, test} {
				for _, text := range []string{s.ID.String(), s.Path()} {
					_, ref, err := FindScope(t.Context(), p.Reader, who, text)
					if s.Kind == level && (err == nil) != slices.Contains(want, s.Path()) {
						t.Errorf("%s finds %s: %v", c.name, text, err)
					}
					if err == nil && ref.ID() != s.ID || err != nil && !errors.Is(err, fault.ErrNotFound) {
						t.Errorf("%s finds %s: %v, %v", c.name, text, ref.ID(), err)
					}
				}
			}
		}
	}
	operator := p.account(t, "op")
	p.sql(t, "INSERT INTO grants (id, account_id, role, scope, scope_id, created_by) VALUES ($1, $2, 'installation_operator', 'installation', $3, 'test')", uuid.New(), operator.ID, uuid.Nil)
	if got := p.sees(t, Organizations, Viewer{Account: operator.ID}); len(got) != 2 {
		t.Errorf("an operator sees organizations %v", got)
	}
	if got := append(p.sees(t, Projects, Viewer{Account: operator.ID}), p.sees(t, Workspaces, Viewer{Account: operator.ID})...); len(got) != 0 {
		t.Errorf("an operator sees inside: %v", got)
	}
}

// What can be no name is none: it is not looked for.
func TestFindNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	for _, text := range []string{"", "/", "a\x00b", "acme/", "acme/default/", "/default", "acme/default/default/x", "ACME", "\xff", acme.ID.String() + "/default"} {
		if _, _, err := FindScope(t.Context(), p.Reader, Viewer{Account: p.ada.ID}, text); !errors.Is(err, fault.ErrNotFound) {
			t.Errorf("scope %q: %v", text, err)
		}
		if _, err := FindAccount(t.Context(), p.Reader, uuid.Nil, text); !errors.Is(err, fault.ErrNotFound) {
			t.Errorf("account %q: %v", text, err)
		}
	}
}

// A name that several visible scopes have is ambiguous; one that only a hidden one has too is not.
func TestAmbiguousNames(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme, other := p.organization(t, "acme"), p.organization(t, "other")
	web := p.project(t, acme, "web")
	p.project(t, other, "web")
	_, _, err := Projects.Find(t.Context(), p.Reader, Viewer{Account: p.ada.ID}, "web")
	wantConflict(t, err, "ambiguous_name")
	bob := p.account(t, "bob")
	p.mustGive(t, web, bob, "viewer")
	found, _, err := Projects.Find(t.Context(), p.Reader, Viewer{Account: bob.ID}, "web")
	if err != nil || found.ID != web.ID {
		t.Errorf("bob finds %+v, %v", found, err)
	}
}

func TestRenameScope(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	web, shop := p.project(t, acme, "web"), p.project(t, acme, "shop")
	rename := func(s Scope, version int64, name string) (Scope, error) {
		return do(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
			return levelOf(s.Kind).Rename(ctx, tx, refOf(s), version, name)
		})
	}
	for _, s := range []Scope{acme, web} {
		after, err := rename(s, s.Version, s.Name+"2")
		if err != nil || after.Name != s.Name+"2" || after.Version != s.Version+1 {
			t.Errorf("renamed to %+v, %v", after, err)
		}
	}
	_, err := rename(web, web.Version, "web3")
	wantConflict(t, err, "version_mismatch")
	_, err = rename(shop, 0, "web2")
	wantConflict(t, err, "name_taken")
	_, err = rename(shop, 0, "Web")
	wantInvalid(t, err, "name")
}

func (p *place) turn(t *testing.T, s Scope, suspend bool) error {
	t.Helper()
	_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
		if suspend {
			return levelOf(s.Kind).Suspend(ctx, tx, refOf(s), 0)
		}
		return levelOf(s.Kind).Resume(ctx, tx, refOf(s), 0)
	})
	return err
}

// What is suspended takes no change, nor does anything below it; resumed, it does again.
func TestSuspendedScopes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	web := p.project(t, acme, "web")
	live := p.workspace(t, web, "live")
	changes := map[string]func() error{
		"project": func() error {
			_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
				return CreateProject(ctx, tx, refOf(acme), "p"+uuid.NewString()[:8])
			})
			return err
		},
		"workspace": func() error {
			_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
				return CreateWorkspace(ctx, tx, refOf(web), "w"+uuid.NewString()[:8], bareMetal)
			})
			return err
		},
		"rename": func() error {
			_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
				return Workspaces.Rename(ctx, tx, refOf(live), 0, "w"+uuid.NewString()[:8])
			})
			return err
		},
		"grant": func() error {
			_, err := p.give(t, everything, live, p.account(t, "x"+uuid.NewString()[:8]), "viewer")
			return err
		},
	}
	for _, c := range []struct {
		suspended Scope
		refused   []string
	}{
		{acme, []string{"grant", "project", "rename", "workspace"}}, {web, []string{"grant", "rename", "workspace"}}, {live, []string{"grant", "rename"}},
	} {
		if err := p.turn(t, c.suspended, true); err != nil {
			t.Fatal(err)
		}
		wantConflict(t, p.turn(t, c.suspended, true), "scope_state")
		for name, change := range changes {
			err := change()
			if slices.Contains(c.refused, name) {
				wantConflict(t, err, "scope_suspended")
			} else if err != nil {
				t.Errorf("%s is suspended, and %s ends with %v", c.suspended.Path(), name, err)
			}
		}
		if err := p.turn(t, c.suspended, false); err != nil {
			t.Fatal(err)
		}
		for name, change := range changes {
			if err := change(); err != nil {
				t.Errorf("%s is resumed, and %s ends with %v", c.suspended.Path(), name, err)
			}
		}
	}
}

func TestMoveWorkspace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme, other := p.organization(t, "acme"), p.organization(t, "other")
	web, shop, far := p.project(t, acme, "web"), p.project(t, acme, "shop"), p.project(t, other, "far")
	live := p.workspace(t, web, "live")
	bob := p.account(t, "bob")
	p.mustGive(t, shop, bob, "viewer")
	move := func(to Scope) (Scope, error) {
		return do(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
			return MoveWorkspace(ctx, tx, refOf(live), 0, refOf(to))
		})
	}
	_, err := move(far)
	wantConflict(t, err, "other_organization")
	after, err := move(shop)
	if err != nil || after.Path() != "acme/shop/live" {
		t.Fatalf("moved to %+v, %v", after, err)
	}
	if got := p.sees(t, Workspaces, Viewer{Account: bob.ID}); !slices.Equal(got, []string{"acme/shop/live"}) {
		t.Errorf("bob sees %v", got)
	}
	p.workspace(t, web, "live")
	_, err = move(web)
	wantConflict(t, err, "name_taken")
}

func (p *place) remove(t *testing.T, s Scope) error {
	t.Helper()
	_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (none, error) {
		return none{}, levelOf(s.Kind).Remove(ctx, tx, refOf(s), 0)
	})
	return err
}

// Only an empty scope is deleted. Its name is free again, and its grants are gone.
func TestRemoveScope(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	web := p.project(t, acme, "web")
	live := p.workspace(t, web, "live")
	bob := p.account(t, "bob")
	p.mustGive(t, live, bob, "viewer")
	wantConflict(t, p.remove(t, acme), "scope_in_use")
	wantConflict(t, p.remove(t, web), "scope_in_use")
	p.sql(t, `INSERT INTO dns_zones (id, workspace_id, name, provider, server, allow_private, key_name, key_algorithm, key_sealed, patterns, mode, state)
		VALUES ($1, $2, 'example.org.', 'rfc2136', 'ns:53', false, 'k.', 'hmac-sha256', 'x', '{}', 'sync', 'pending')`, uuid.New(), live.ID)
	err := p.remove(t, live)
	wantConflict(t, err, "scope_in_use")
	if want := "scope_in_use: The workspace acme/web/live still has 1 DNS zones. Remove them first."; err == nil || err.Error() != want {
		t.Errorf("refused with %v", err)
	}
	p.sql(t, "DELETE FROM dns_zones")
	for _, s := range []Scope{live, web} {
		if err := p.remove(t, s); err != nil {
			t.Fatal(err)
		}
		if err := p.remove(t, s); !errors.Is(err, fault.ErrNotFound) {
			t.Errorf("%s is removed twice: %v", s.Path(), err)
		}
	}
	if got := p.sees(t, Organizations, Viewer{Account: bob.ID}); len(got) != 0 {
		t.Errorf("bob still sees %v", got)
	}
	p.workspace(t, p.project(t, acme, "web"), "live")
	_, _, err = Workspaces.Find(t.Context(), p.Reader, Viewer{Account: p.ada.ID}, live.ID.String())
	if !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("the removed workspace is found: %v", err)
	}
}

// The scopes that came with the installation stay.
func TestFirstScopesStay(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.sql(t, "INSERT INTO organizations (id, name) VALUES ($1, 'default')", first[0])
	p.sql(t, "INSERT INTO projects (id, organization_id, name) VALUES ($1, $2, 'default')", first[1], first[0])
	p.sql(t, "INSERT INTO workspaces (id, project_id, name) VALUES ($1, $2, 'default')", first[2], first[1])
	for i, noun := range []string{OrganizationNoun, ProjectNoun, WorkspaceNoun} {
		wantConflict(t, p.remove(t, Scope{ID: first[i], Kind: noun}), "scope_stays")
	}
}

// notCounted are the tables with a column workspace_id whose rows do not keep a workspace from being deleted.
var notCounted = map[string]string{
	"usage_records": "the ground of statements stays", "networks": "their hosts and addresses are counted",
	"events": "the history stays", "plans": "they only expire", "dns_foreign_records": "they belong to a zone, which is counted",
	"dns_zone_grants": "they belong to a zone, which is counted", "dns_naming_choices": "a setting, which goes with the workspace", "channel_deliveries": "they belong to a channel, which is counted",
	"kube_nodes": "they belong to a cluster, which is counted", "kube_bindings": "they belong to a cluster, which is counted",
	"network_grants": "they belong to a network, whose addresses are counted",
	"host_grants":    "they belong to a host, which is counted",
	"kube_hosted":    "they belong to a cluster, which is counted", "kube_namespaces": "they belong to a cluster, which is counted",
	"kube_namespace_bindings": "they belong to a cluster, which is counted", "kube_snapshots": "they belong to a cluster, which is counted",
	"agents": "they belong to a host, which is counted", "drifts": "they belong to a host, which is counted", "agent_tokens": "they only expire",
}

// Every table with a column workspace_id is counted before a workspace is deleted, or said not to be.
func TestEveryTableOfAWorkspaceIsCounted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	tables := p.texts(t, "SELECT table_name FROM information_schema.columns WHERE column_name = 'workspace_id' AND table_schema = 'public'")
	if len(tables) < 6 {
		t.Fatalf("tables %v", tables)
	}
	for _, row := range tables {
		if table := row[0]; counts(sqlInWorkspace, table) == (notCounted[table] != "") {
			t.Errorf("the table %s has a column workspace_id: count it in sqlInWorkspace, or name it in notCounted", table)
		}
	}
}

func counts(sql, table string) bool { return strings.Contains(sql, "FROM "+table+" c ") }
