package kube

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// What a workspace and a host have to be for.
const (
	workspaceType = "kubernetes"
	hostPurpose   = "kubernetes"
	hostReady     = "ready"
)

func (c Cluster) entry(action string, before, after map[string]any) audit.Entry {
	return audit.Entry{
		Workspace: c.WorkspaceID, Action: ClusterNoun + "." + action, ObjectKind: ClusterNoun, ObjectID: c.ID, ObjectName: c.Name, Before: before, After: after,
	}
}

// CreateCluster makes the cluster of the workspace of the call, out of hosts that are ready and have the purpose kubernetes,
// and asks for the job that carries it out.
func CreateCluster(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, kinds *work.Registry, draft ClusterDraft) (cluster, job uuid.UUID, err error) {
	pods, services, err := draft.check()
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	in, err := keepWorkspace(ctx, tx.Tx, tx.Call().Workspace)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	if in.Type != workspaceType {
		return uuid.Nil, uuid.Nil, fault.Conflictf("workspace_type", "The workspace %s is of type %s. A cluster needs a workspace of type %s.", in.Name, in.Type, workspaceType)
	}
	made := Cluster{ID: uuid.New(), WorkspaceID: tx.Call().Workspace, Name: draft.Name, PodRange: pods.String(), ServiceRange: services.String(), State: ClusterLifecycle.Initial}
	nodes, err := chosen(ctx, tx, draft, true)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	if made.Endpoint = draft.Endpoint; made.Endpoint == "" {
		made.Endpoint = net.JoinHostPort(nodes[0].Address, APIPort)
	} else if made.Endpoint, err = ParseEndpoint(draft.Endpoint); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	made.KubeVersion = draft.KubeVersion
	login := draft.OIDC.checked(new(fault.Invalid)) // the mistakes were told before
	made.OIDCIssuer, made.OIDCClientID, made.OIDCUsername, made.OIDCGroups = login.Issuer, login.ClientID, login.UsernameClaim, login.GroupsClaim
	if made.AdminKeySealed, err = newKey(keys, made.ID); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	if err := insert(ctx, tx, made, nodes, pods); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	facts := made.facts()
	facts["hosts"] = names(nodes)
	wanted := made.job(ClusterCreate.Name, nodes)
	wanted.Draft = nodesPlan{
		Comes: comers(nodes), Name: made.Name, Version: made.KubeVersion, Endpoint: made.Endpoint, PodRange: made.PodRange, ServiceRange: made.ServiceRange,
	}
	job, err = kinds.Ask(ctx, tx, wanted, made.entry("create", nil, facts))
	return made.ID, job, err
}

// chosen are the hosts that a draft names, the control planes first; a fault.Invalid says which of them can't be nodes. anew:
// they are for a new cluster, whose version has to be offered.
func chosen(ctx context.Context, tx *intent.Tx, draft ClusterDraft, anew bool) ([]Node, error) {
	var bad fault.Invalid
	version, err := keepVersion(ctx, tx.Tx, draft.KubeVersion)
	switch {
	case errors.Is(err, fault.ErrNotFound):
		bad.Add("kubernetes_version", "The catalog has no such version.")
	case err != nil:
		return nil, fmt.Errorf("look for a version of Kubernetes: %w", err)
	case !version.Active && anew:
		bad.Add("kubernetes_version", "%s is not offered to new clusters.", version.Name)
	}
	found, err := keepHosts(ctx, tx.Tx, tx.Call().Workspace, slices.Concat(draft.ControlPlane, draft.Workers))
	if err != nil {
		return nil, fmt.Errorf("look for hosts: %w", err)
	}
	var nodes []Node
	for _, of := range []struct {
		role, field string
		names       []string
	}{{ControlPlane, "control_plane", draft.ControlPlane}, {Worker, "workers", draft.Workers}} {
		for _, name := range of.names {
			at := slices.IndexFunc(found, func(h host) bool { return h.Name == name || h.ID.String() == name })
			if at < 0 {
				bad.Add(of.field, "The workspace has no host %s.", name)
				continue
			}
			h := found[at]
			if slices.ContainsFunc(nodes, func(n Node) bool { return n.HostID == h.ID }) {
				bad.Add(of.field, "The host %s is named twice.", h.Name)
				continue
			}
			if why := h.cannotJoin(); why != "" {
				bad.Add(of.field, "%s", why)
			}
			nodes = append(nodes, Node{ID: uuid.New(), HostID: h.ID, Name: h.Name, Role: of.role, Address: h.Address})
		}
	}
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.Role+"/"+a.Name, b.Role+"/"+b.Name) })
	return nodes, bad.OrNil()
}

// cannotJoin says why a host can't be a node of a new cluster; "" if it can.
func (h host) cannotJoin() string {
	switch {
	case h.Purpose != hostPurpose:
		return fmt.Sprintf("The host %s is for %s. Only hosts for kubernetes can be nodes.", h.Name, h.Purpose)
	case h.State != hostReady:
		return fmt.Sprintf("The host %s is %s. Initialize it first.", h.Name, h.State)
	case h.Cluster != "":
		return fmt.Sprintf("The host %s is a node of the cluster %s.", h.Name, h.Cluster)
	case h.Address == "":
		return fmt.Sprintf("No address of the host %s is known. Probe it first.", h.Name)
	}
	return ""
}

func newKey(keys *secret.Keyset, cluster uuid.UUID) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	sealed, err := keys.Seal(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), sealedFor(cluster))
	if err != nil {
		return nil, fmt.Errorf("seal the key of a cluster: %w", err)
	}
	return sealed, nil
}

func insert(ctx context.Context, tx *intent.Tx, c Cluster, nodes []Node, pods netip.Prefix) error {
	taken := fault.Conflictf("cluster_exists", "The workspace already has a cluster.")
	err := tx.One(ctx, taken, sqlInsertCluster, c.ID, c.WorkspaceID, c.Name, c.KubeVersion, c.Endpoint, c.PodRange, c.ServiceRange, c.State, c.AdminKeySealed,
		c.OIDCIssuer, c.OIDCClientID, c.OIDCUsername, c.OIDCGroups)
	if err != nil {
		return fmt.Errorf("insert a cluster: %w", err)
	}
	tx.Touch(ClusterNoun, c.ID)
	for i, n := range nodes {
		inUse := fault.Conflictf("host_in_use", "The host %s is a node of another cluster.", n.Name)
		if err := tx.One(ctx, inUse, sqlInsertNode, n.ID, c.WorkspaceID, c.ID, n.HostID, n.Name, n.Role, podRangeOf(pods, i).String(), NodeLifecycle.Initial); err != nil {
			return fmt.Errorf("insert a node: %w", err)
		}
		tx.Touch(NodeNoun, n.ID)
	}
	return nil
}

func names(nodes []Node) []string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = n.Name
	}
	return all
}

// AskDelete asks for the job that takes Kubernetes off the hosts of a cluster and then forgets it. confirm repeats the name.
func AskDelete(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Cluster], version int64, confirm string) (job uuid.UUID, err error) {
	c, err := holdCluster(ctx, tx.Tx, ref.ID())
	if err != nil {
		return uuid.Nil, err
	}
	if err := errors.Join(fault.CheckVersion("cluster", c.Version, version), c.CanDelete()); err != nil {
		return uuid.Nil, err
	}
	if confirm != c.Name {
		var bad fault.Invalid
		bad.Add("confirm", "Type the name of the cluster, %s.", c.Name)
		return uuid.Nil, bad.OrNil()
	}
	nodes, err := NodesOf(ctx, tx.Reader, c.ID)
	if err != nil {
		return uuid.Nil, fmt.Errorf("list the nodes of a cluster: %w", err)
	}
	wanted := c.job(ClusterDelete.Name, nodes)
	h, err := HostedOf(ctx, tx.Reader, c.ID)
	switch {
	case err == nil:
		wanted = h.job(HostedDelete.Name, nodes)
	case !errors.Is(err, fault.ErrNotFound):
		return uuid.Nil, fmt.Errorf("look for a hosted control plane: %w", err)
	}
	return kinds.Ask(ctx, tx, wanted, c.entry("delete", c.facts(), nil))
}

// moveCluster moves a cluster on an event. message says why, where the event is a failure.
func moveCluster(ctx context.Context, tx *db.Tx, id uuid.UUID, on lifecycle.Event, message string) error {
	c, err := holdCluster(ctx, tx, id)
	if err != nil {
		return err
	}
	state, err := ClusterLifecycle.Next(c.State, on)
	if err != nil {
		return err
	}
	tx.Touch(ClusterNoun, id)
	if err := tx.One(ctx, movedMeanwhile(ClusterNoun), sqlMoveCluster, id, c.State, state, message); err != nil {
		return fmt.Errorf("move a cluster: %w", err)
	}
	return nil
}

// SetAccess keeps what our own access to a cluster needs beside its key. It can be repeated.
func SetAccess(ctx context.Context, tx *db.Tx, cluster uuid.UUID, ca, certificate string) error {
	tx.Touch(ClusterNoun, cluster)
	if _, err := tx.Exec(ctx, sqlSetAccess, cluster, ca, certificate); err != nil {
		return fmt.Errorf("keep the access to a cluster: %w", err)
	}
	return nil
}

// Forget removes a cluster whose hosts are clean.
func Forget(ctx context.Context, tx *db.Tx, cluster uuid.UUID) error {
	nodes, err := NodesOf(ctx, tx.Reader, cluster)
	if err != nil {
		return fmt.Errorf("list the nodes of a cluster: %w", err)
	}
	for _, n := range nodes {
		tx.Touch(NodeNoun, n.ID)
	}
	bindings, err := bindingsOf(ctx, tx.Reader, cluster)
	if err != nil {
		return fmt.Errorf("list the bindings of a cluster: %w", err)
	}
	for _, b := range bindings {
		tx.Touch(BindingNoun, b.ID)
	}
	namespaces, err := NamespacesIn(ctx, tx.Reader, cluster)
	if err != nil {
		return fmt.Errorf("list the namespaces of a cluster: %w", err)
	}
	for _, n := range namespaces {
		tx.Touch(NamespaceNoun, n.ID)
	}
	snapshots, err := allSnapshotsOf(ctx, tx.Reader, cluster)
	if err != nil {
		return fmt.Errorf("list the snapshots of a cluster: %w", err)
	}
	for _, s := range snapshots {
		tx.Touch(SnapshotNoun, s.ID)
	}
	tx.Touch(ClusterNoun, cluster)
	for _, sql := range []db.Statement{sqlDeleteSnapshotsOf, sqlDeleteNamespaceBindingsOf, sqlDeleteNamespacesOf, sqlDeleteBindingsOf, sqlDeleteNodesOf} {
		if _, err := tx.Exec(ctx, sql, cluster); err != nil {
			return fmt.Errorf("forget what belongs to a cluster: %w", err)
		}
	}
	if err := tx.One(ctx, movedMeanwhile(ClusterNoun), sqlDeleteCluster, cluster); err != nil {
		return fmt.Errorf("forget a cluster: %w", err)
	}
	return nil
}

// MoveNode moves a node on an event, unless the event has happened already. message says why it is not ready.
func MoveNode(ctx context.Context, tx *db.Tx, id uuid.UUID, on lifecycle.Event, message string) error {
	n, err := NodeByID(ctx, tx.Reader, id)
	if err != nil {
		return err
	}
	state, err := NodeLifecycle.Next(n.State, on)
	switch {
	case slices.Contains(NodeLifecycle.After(on), n.State) && n.StateMessage == message:
		return nil
	case slices.Contains(NodeLifecycle.After(on), n.State): // the same for another reason
		state = n.State
	case err != nil:
		return err
	}
	tx.Touch(NodeNoun, id)
	if on == NodeHasJoined || on == NodeHasLeft { // the name of the cluster leads to its control planes
		tx.Touch(ClusterNoun, n.ClusterID)
	}
	if err := tx.One(ctx, movedMeanwhile(NodeNoun), sqlMoveNode, id, n.State, state, message); err != nil {
		return fmt.Errorf("move a node: %w", err)
	}
	return nil
}

// SetToken notes the id of the token that a node joins with, before there is one; "" after it is gone.
func SetToken(ctx context.Context, tx *db.Tx, node uuid.UUID, token string) error {
	tx.Touch(NodeNoun, node)
	return tx.One(ctx, fault.ErrNotFound, sqlSetToken, node, token)
}

// NoteIssued writes the event of a kubeconfig before anybody gets it.
func NoteIssued(ctx context.Context, tx *intent.Tx, c Cluster, b Binding, issued Credential) error {
	facts := map[string]any{"user": issued.User, "role": b.Role, "ends": issued.Ends.UTC().Format(time.RFC3339), "request": issued.Request}
	if err := tx.Event(ctx, c.entry("connect", nil, facts)); err != nil {
		return err
	}
	return tx.Made(ctx, ClusterNoun, c.ID, uuid.Nil)
}
