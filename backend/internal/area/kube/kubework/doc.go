// Package kubework owns what the jobs about clusters do, step by step, how certificates are issued, and the policy that holds
// clusters to their rows. It speaks to API servers through kubeapi, and to hosts by plays that are handed in.
//
// It refuses SQL and states: those are package kube's.
package kubework

import (
	"context"
	"encoding/json"
	"net/netip"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"

	"github.com/google/uuid"
)

// Play is one play on one host, under its fence.
type Play struct {
	Host     uuid.UUID
	Playbook string
	File     string // at the top of the bundle
	Vars     any
	Secrets  []string // that no log may show
	// Each takes what the host answers as it comes, of a loop each turn; nil: only the last answer counts. An error of it fails the play once
	// that is over.
	Each func(json.RawMessage) error
}

// Config of the steps of jobs and of the policy.
type Config struct {
	DB   *db.DB
	Keys *secret.Keyset
	// Check judges the addresses of API servers, by the rule for hosts.
	Check func(netip.Addr) error
	// Kinds are the jobs that the policies ask for.
	Kinds *work.Registry
	// PlanePort is where the API servers of control planes listen; "" for kube.APIPort.
	PlanePort string
	// Managers judges the addresses of management clusters.
	Managers egress.Rule
	// NameOf is the name that a zone gives to a cluster, and whether the name servers have it; "" for none.
	NameOf func(ctx context.Context, q db.Reader, cluster uuid.UUID) (name string, live bool, err error)
	// Play runs a play for an attempt, which comes to be the one holder of the host for as long as it takes. It returns what
	// the host answered. A host that another job holds is a work.NotYet.
	Play func(ctx context.Context, a *work.Attempt, p Play) (json.RawMessage, error)
}

// open makes a client with our own access to a cluster.
func (c Config) open(cluster kube.Cluster) (*kubeapi.Client, error) {
	key, err := cluster.OpenAdminKey(c.Keys)
	if err != nil {
		return nil, err
	}
	return kubeapi.New(kubeapi.Config{
		Endpoint: cluster.Endpoint, CA: []byte(cluster.CA), Certificate: []byte(cluster.AdminCertificate), Key: key, Check: c.Check,
	})
}
