package kube

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/work"
)

// CertsPlaybook renews the certificates of a control plane.
const CertsPlaybook = "kubeadm_certs"

// RenewStep is the step of a renewal.
const RenewStep = "renew"

// Times before the end of a certificate.
const (
	// RenewBefore is when a policy asks for the renewal.
	RenewBefore = 60 * 24 * time.Hour
	// urgentBefore is when it no longer waits for the maintenance window.
	urgentBefore = 14 * 24 * time.Hour
	// renewAsked is what a person renews: whatever is older than two months.
	renewAsked = 300 * 24 * time.Hour
)

// CertificatesArgs are the arguments of the job of a renewal.
type CertificatesArgs struct {
	Until time.Time `json:"until"` // what ends before is renewed
}

// ClusterRenew is the job that renews the certificates of control planes.
var ClusterRenew = change("cluster_renew_certificates", "renews the certificates of the control planes and restarts them, one after the other",
	[]string{CertsPlaybook, EtcdPlaybook}, planned(renewal), []work.Step{
		{Name: RenewStep, Means: "renew the certificates of one control plane after the other, each while all members of etcd are well", Within: playsWithin},
	})

// AskRenew asks for the job that renews the certificates of control planes.
func AskRenew(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Cluster]) (job uuid.UUID, err error) {
	c, nodes, err := changeable(ctx, tx, ref)
	if err != nil {
		return uuid.Nil, err
	}
	wanted, err := c.renewJob(ctx, tx.Tx, nodes, time.Now().Add(renewAsked))
	if err != nil {
		return uuid.Nil, err
	}
	return kinds.Ask(ctx, tx, wanted, c.entry("renew_certificates", nil, nil))
}

// renewJob is a job that visits every control plane: whatever ends there before a time is renewed.
func (c Cluster) renewJob(ctx context.Context, tx *db.Tx, nodes []Node, until time.Time) (work.New, error) {
	for _, n := range nodes {
		tx.Touch(NodeNoun, n.ID)
	}
	if _, err := tx.Exec(ctx, sqlForgetCertificatesEnd, c.ID); err != nil {
		return work.New{}, fmt.Errorf("forget when certificates end: %w", err)
	}
	wanted := c.job(ClusterRenew.Name, nodes)
	wanted.Args = CertificatesArgs{Until: until.UTC().Truncate(time.Second)}
	return wanted, nil
}

// RenewalDue asks for a renewal on behalf of a policy. A closed maintenance window, or another job, lets it wait; the window only as
// long as there is time.
func RenewalDue(ctx context.Context, tx *db.Tx, kinds *work.Registry, cluster uuid.UUID, ends time.Time) (asked bool, err error) {
	c, err := holdCluster(ctx, tx, cluster)
	if err != nil {
		return false, err
	}
	now := time.Now()
	if c.State != ClusterActive || c.Hosted || !c.InWindow(now) && ends.Sub(now) > urgentBefore {
		return false, nil
	}
	nodes, err := NodesOf(ctx, tx.Reader, c.ID)
	if err != nil {
		return false, fmt.Errorf("list the nodes of a cluster: %w", err)
	}
	wanted, err := c.renewJob(ctx, tx, nodes, now.Add(RenewBefore))
	if err != nil {
		return false, err
	}
	actor := audit.Actor{Kind: audit.Policy, Name: "cluster_certificates"}
	job, err := kinds.Enqueue(ctx, tx, actor.Name, c.WorkspaceID, wanted)
	if err != nil {
		return false, err
	}
	told := c.entry("renew_certificates", nil, map[string]any{"ends": ends.UTC().Format(time.RFC3339)})
	told.JobID = job
	return true, audit.Append(ctx, tx, actor, told)
}

// SetCertificatesEnd notes when the first certificate of a control plane ends.
func SetCertificatesEnd(ctx context.Context, tx *db.Tx, node uuid.UUID, ends time.Time) error {
	tx.Touch(NodeNoun, node)
	return tx.One(ctx, fault.ErrNotFound, sqlSetCertificatesEnd, node, ends)
}

// RenewAccess keeps another certificate of our own access, and tells of it.
func RenewAccess(ctx context.Context, tx *db.Tx, c Cluster, certificate string) error {
	if err := SetAccess(ctx, tx, c.ID, c.CA, certificate); err != nil {
		return err
	}
	return audit.Append(ctx, tx, audit.Actor{Kind: audit.Policy, Name: "cluster"}, c.entry("renew_access", nil, nil))
}
