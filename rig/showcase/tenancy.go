package showcase

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Everybody of the showcase has the password of its administrator.
const (
	ownerOfAcme = "ada"
	viewerHere  = "linus"
)

// scopes are rows of organizations, projects and workspaces, of people and of what they may do.
type scopes struct {
	organizations, projects, workspaces, accounts, roles, grants, quotas, keys, rules table
}

// tenancy makes a second organization, which the administrator operates and does not see into; people in both; and quotas that
// are nearly and wholly used up.
func (w *world) tenancy() {
	s := scopes{
		organizations: table{name: "organizations", columns: []string{"id", "name", "created_at", "updated_at"}},
		projects:      table{name: "projects", columns: []string{"id", "organization_id", "name", "state", "created_at", "updated_at"}},
		workspaces:    table{name: "workspaces", columns: []string{"id", "project_id", "name", "created_at", "updated_at"}},
		accounts:      table{name: "accounts", columns: []string{"id", "name", "password_hash", "role", "kind", "organization_id", "email", "state", "created_at", "updated_at"}},
		roles:         table{name: "roles", columns: []string{"id", "organization_id", "name", "description", "permissions", "created_at", "updated_at"}},
		grants:        table{name: "grants", columns: []string{"id", "account_id", "role", "role_id", "scope", "scope_id", "created_by", "created_at"}},
		quotas:        table{name: "quotas", columns: []string{"scope", "scope_id", "resource", "amount", "used", "updated_by", "updated_at"}},
	}
	s.keys = table{name: "tokens", columns: []string{"id", "kind", "account_id", "name", "prefix", "hash", "created_at", "expires_at", "last_used_at", "permissions"}}
	s.rules = table{name: "approval_rules", columns: []string{"id", "organization_id", "scope", "scope_id", "name", "kinds", "approvals", "hours", "created_by", "created_at", "updated_at"}}
	w.more = append(w.more, &s.organizations, &s.projects, &s.workspaces, &s.accounts, &s.roles, &s.grants, &s.quotas, &s.keys, &s.rules)
	w.teamHere(&s)
	w.acme(&s)
}

func (w *world) person(s *scopes, name, state string) uuid.UUID {
	id, at := w.id(), w.ago(12*24*time.Hour)
	s.accounts.add(id, name, w.passwordHash, "account", "person", nil, name+"@kloigos.example", state, at, at)
	return id
}

func (w *world) grant(s *scopes, account uuid.UUID, role string, custom *uuid.UUID, scope string, at uuid.UUID) {
	s.grants.add(w.id(), account, role, custom, scope, at, "admin", w.ago(11*24*time.Hour))
}

// teamHere is the people and quotas of the organization that everything else of the showcase is in.
func (w *world) teamHere(s *scopes) {
	w.grant(s, w.person(s, "grace", "active"), "operator", nil, "organization", w.org)
	w.grant(s, w.person(s, viewerHere, "active"), "viewer", nil, "workspace", w.workspace)
	w.grant(s, w.person(s, "tim", "disabled"), "member", nil, "organization", w.org)
	w.dashboard(s, w.org, "organization", w.org)
	at, units, hosts := w.ago(3*24*time.Hour), int64(len(w.allocations.rows)), int64(len(w.hosts.rows))
	s.quotas.add("organization", w.org, "units", units*10/9+1, units, "admin", at)
	s.quotas.add("organization", w.org, "hosts", hosts+10, hosts, "admin", at) // the walk registers some more
	s.quotas.add("workspace", w.workspace, "memory_bytes", units<<34, units<<33, "admin", at)
	s.rules.add(w.id(), w.org, "organization", w.org, "layouts-by-two", []string{"host_relayout"}, int64(1), int64(24), "admin", at, at)
}

// dashboard is a program with a role that the organization made, and with a key.
func (w *world) dashboard(s *scopes, organization uuid.UUID, scope string, at uuid.UUID) {
	role, account, made := w.id(), w.id(), w.ago(10*24*time.Hour)
	sees := []string{"project.workspace.host:read", "project.workspace.job:read"}
	s.roles.add(role, organization, "watcher", "Sees hosts and jobs, for a dashboard.", sees, made, made)
	s.accounts.add(account, "dashboard@"+organization.String()[:8], "", "account", "service", organization, "", "active", made, made)
	w.grant(s, account, "custom", &role, scope, at)
	hash := sha256.Sum256(account[:]) // of no secret that anybody has
	s.keys.add(w.id(), "api", account, "wall screen", "kl_Xk2", hash[:], made, w.now.AddDate(0, 0, 80), w.ago(4*time.Minute), sees[:1])
}

func (w *world) acme(s *scopes) {
	at := w.ago(10 * 24 * time.Hour)
	acme, web, shop, live, test, counter := w.id(), w.id(), w.id(), w.id(), w.id(), w.id()
	w.acmeID, w.acmeLive = acme, live
	s.organizations.add(acme, "acme", at, at)
	s.projects.add(web, acme, "web", "active", at, at)
	s.projects.add(shop, acme, "shop", "suspended", at, at)
	s.workspaces.add(live, web, "live", at, at)
	s.workspaces.add(test, web, "test", at, at)
	s.workspaces.add(counter, shop, "live", at, at)

	ada := w.person(s, ownerOfAcme, "active")
	w.grant(s, ada, "owner", nil, "organization", acme)
	w.grant(s, w.person(s, "barbara", "active"), "admin", nil, "project", web)
	w.grant(s, w.person(s, "ken", "active"), "member", nil, "workspace", live)
	w.dashboard(s, acme, "project", web)
	w.cluster(acme, web, ada)

	s.quotas.add("organization", acme, "hosts", int64(20), int64(3), "admin", at)
	s.quotas.add("project", web, "cpus", int64(64), int64(52), ownerOfAcme, at)
	s.quotas.add("workspace", live, "units", int64(12), int64(12), ownerOfAcme, at)
}

// readPeople takes up the account that init made.
func (w *world) readPeople(ctx context.Context, conn *pgx.Conn) error {
	return conn.QueryRow(ctx, "SELECT password_hash FROM accounts WHERE role = 'administrator' LIMIT 1").Scan(&w.passwordHash)
}
