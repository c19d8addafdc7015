package kube

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Roles of bindings, weakest first.
const (
	Viewer = "viewer"
	Editor = "editor"
	Admin  = "admin"
)

// BindingRoles are the roles that an account may have in a cluster.
func BindingRoles() []string { return []string{Viewer, Editor, Admin} }

// Binding is one row of kube_bindings.
type Binding struct {
	ID          uuid.UUID `db:"id"`
	WorkspaceID uuid.UUID `db:"workspace_id"`
	ClusterID   uuid.UUID `db:"cluster_id"`
	Cluster     string    `db:"cluster"` // its name
	AccountID   uuid.UUID `db:"account_id"`
	Account     string    `db:"account"`
	Role        string    `db:"role"`
	Namespace   string    `db:"namespace"` // that the role is limited to; "" for all
	Version     int64     `db:"version"`
	CreatedAt   time.Time `db:"created_at"`
	UpdatedAt   time.Time `db:"updated_at"`
}

// User is how a cluster knows an account. A name may be another person's one day; an id is not.
func User(account uuid.UUID) string { return "kloigos:" + account.String() }

func goodRole(role string) bool { return slices.Contains(BindingRoles(), role) }

func (b Binding) facts() map[string]any {
	return map[string]any{"cluster": b.Cluster, "account": b.Account, "role": b.Role, "namespace": b.Namespace}
}
