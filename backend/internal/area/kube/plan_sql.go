package kube

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// planHost is what a plan depends on of a host.
type planHost struct {
	ID          uuid.UUID `db:"id"`
	Name        string    `db:"name"`
	Incarnation uuid.UUID `db:"incarnation"`
	Purpose     string    `db:"purpose"`
	State       string    `db:"state"`
	Address     string    `db:"address"` // of its uplink; "" before a probe
}

const sqlPlanHosts = `
SELECT h.id, h.name, h.incarnation, h.purpose, h.state, COALESCE(h.facts->'uplink'->>'address', '') AS address
  FROM hosts h
 WHERE h.id = ANY($1::UUID[])
 ORDER BY h.name, h.id`

func planHosts(ctx context.Context, q db.Reader, ids []uuid.UUID) ([]planHost, error) {
	hosts, err := db.Collect[planHost](ctx, q, sqlPlanHosts, ids)
	if err != nil {
		return nil, fmt.Errorf("read the hosts of a plan: %w", err)
	}
	return hosts, nil
}

const sqlPlanNames = `
SELECT s.name || ' ' || s.type AS name
  FROM dns_record_sets s
 WHERE s.owner = $1 AND s.owner <> 'user' AND s.state <> 'deleting'
 ORDER BY s.name, s.type`

// planNames are the record sets that belong to a cluster: the name that a zone gives to it.
func planNames(ctx context.Context, q db.Reader, cluster uuid.UUID) ([]string, error) {
	type named struct {
		Name string `db:"name"`
	}
	found, err := db.Collect[named](ctx, q, sqlPlanNames, ClusterNoun+":"+cluster.String())
	names := make([]string, len(found))
	for i, n := range found {
		names[i] = n.Name
	}
	return names, err
}
