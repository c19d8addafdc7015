package iamhttp

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// sshKeys answers the routes about SSH keys of organizations.
type sshKeys struct{ handlers }

// Permissions on SSH keys.
const (
	readSSHKey    = "organization.ssh_key:read"
	replaceSSHKey = "organization.ssh_key:replace"
)

// mostWaiting is how many hosts that are not done an answer names.
const mostWaiting = 200

func (h sshKeys) register() {
	s := h.server
	httpapi.Register(s, "get-ssh-key", h.get)
	httpapi.Register(s, "replace-ssh-key", h.replace)
	httpapi.Register(s, "leave-ssh-key-hosts", h.leave, httpapi.Example(api.LeaveHosts{Hosts: []string{"fra1-001"}}))
}

// find finds an organization at which the caller has a permission.
func (h sshKeys) find(ctx context.Context, text, permission string) (asker, iam.Scope, scope.Ref[iam.Scope], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return a, iam.Scope{}, scope.Ref[iam.Scope]{}, err
	}
	found, ref, err := iam.Organizations.Find(ctx, h.server.DB().Reader, a.viewer, path(text))
	if err != nil {
		return a, found, ref, err
	}
	return a, found, ref, a.needs(permission, found)
}

func (h sshKeys) get(ctx context.Context, in *httpapi.ByID) (*httpapi.Object[api.SSHKey], error) {
	a, found, _, err := h.find(ctx, in.ID, readSSHKey)
	if err != nil {
		return nil, err
	}
	return h.shown(ctx, a, found)
}

func (h sshKeys) shown(ctx context.Context, a asker, at iam.Scope) (*httpapi.Object[api.SSHKey], error) {
	k, err := iam.SSHKeyOf(ctx, h.server.DB().Reader, at.ID)
	if err != nil {
		return nil, err
	}
	hosts, err := iam.SSHKeyHosts(ctx, h.server.DB().Reader, at.ID, 0, mostWaiting)
	if err != nil {
		return nil, err
	}
	out := api.SSHKey{
		Version: k.Newest(), AuthorizedKey: k.NewestPublicKey(), State: string(k.State()), StateMeans: k.State().Means(), ReplacedAt: k.ReplacedAt,
		Hosts: k.Hosts, Done: k.Done, Left: k.Left, Waiting: []api.SSHKeyHost{},
	}
	if k.NextPublicKey != nil {
		out.FormerKey = k.PublicKey
	}
	if k.ReplacedBy != nil {
		out.ReplacedBy = *k.ReplacedBy
	}
	for _, w := range hosts {
		out.Waiting = append(out.Waiting, presentKeyHost(w))
	}
	cannotReplace, cannotLeave := at.CanWrite(), at.CanWrite()
	if cannotReplace == nil {
		cannotReplace, cannotLeave = k.CanReplace(), k.CanLeave()
	}
	out.Operations = []api.Operation{
		a.operation("replace", replaceSSHKey, at, cannotReplace),
		a.operation("leave", replaceSSHKey, at, cannotLeave),
	}
	return &httpapi.Object[api.SSHKey]{Body: out}, nil
}

func presentKeyHost(w iam.SSHKeyHost) api.SSHKeyHost {
	out := api.SSHKeyHost{ID: w.ID.String(), Name: w.Name, Workspace: w.Workspace, State: w.State()}
	if w.JobID != nil {
		out.JobID = w.JobID.String()
	}
	if w.JobMessage != nil {
		out.Message = *w.JobMessage
	}
	return out
}

// do runs an intent on the key of an organization, and shows the key after it.
func (h sshKeys) do(ctx context.Context, text string, run func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Scope]) error) (*httpapi.Object[api.SSHKey], error) {
	a, found, ref, err := h.find(ctx, text, replaceSSHKey)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) { return ref.ID(), run(ctx, tx, ref) })
	if err != nil {
		return nil, err
	}
	return h.shown(ctx, a, found)
}

func (h sshKeys) replace(ctx context.Context, in *httpapi.ByID) (*httpapi.Object[api.SSHKey], error) {
	return h.do(ctx, in.ID, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Scope]) error {
		return iam.ReplaceSSHKey(ctx, tx, h.Keys, ref)
	})
}

func (h sshKeys) leave(ctx context.Context, in *struct {
	httpapi.ByID
	Body api.LeaveHosts
},
) (*httpapi.Object[api.SSHKey], error) {
	return h.do(ctx, in.ID, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Scope]) error {
		return iam.LeaveSSHKeyHosts(ctx, tx, ref, in.Body.Hosts)
	})
}
