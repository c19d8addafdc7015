package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/work"
)

// AskUpgrade asks for the job that upgrades a cluster.
func AskUpgrade(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Cluster], draft UpgradeDraft) (job uuid.UUID, err error) {
	if err := draft.check(); err != nil {
		return uuid.Nil, err
	}
	c, err := holdCluster(ctx, tx.Tx, ref.ID())
	if err != nil {
		return uuid.Nil, err
	}
	if err := c.CanUpgrade(); err != nil {
		return uuid.Nil, err
	}
	nodes, from, err := upgradeParts(ctx, tx.Reader, c)
	if err != nil {
		return uuid.Nil, err
	}
	to, err := keepVersion(ctx, tx.Tx, draft.To)
	if err != nil {
		return uuid.Nil, unknownVersion(err)
	}
	if err := draft.refuses(c, nodes, from, to, time.Now()); err != nil {
		return uuid.Nil, err
	}
	tx.Touch(ClusterNoun, c.ID)
	for _, one := range []struct {
		sql  db.Statement
		args []any
	}{
		{sqlSetUpgradeTarget, []any{c.ID, to.Name}},
		{sqlNoteVersions, []any{c.ID, c.KubeVersion}},
	} {
		if _, err := tx.Exec(ctx, one.sql, one.args...); err != nil {
			return uuid.Nil, fmt.Errorf("note the version of an upgrade: %w", err)
		}
	}
	for _, n := range nodes {
		tx.Touch(NodeNoun, n.ID)
	}
	wanted := c.job(ClusterUpgrade.Name, nodes)
	wanted.Args, wanted.Draft = UpgradeArgs{Parallel: draft.Parallel}, upgradePlan{To: to.Name, Parallel: draft.Parallel}
	facts := map[string]any{"kubernetes_version": to.Name, "parallel": draft.Parallel}
	if draft.Now && c.windowOpen(time.Now()) != nil {
		facts["outside_of_window"] = true
	}
	return kinds.Ask(ctx, tx, wanted, c.entry("upgrade", map[string]any{"kubernetes_version": c.KubeVersion}, facts))
}

func upgradeParts(ctx context.Context, q db.Reader, c Cluster) (nodes []Node, from Version, err error) {
	if nodes, err = NodesOf(ctx, q, c.ID); err != nil {
		return nil, Version{}, fmt.Errorf("list the nodes of a cluster: %w", err)
	}
	if from, err = FindVersion(ctx, q, c.KubeVersion); err != nil {
		return nil, Version{}, fmt.Errorf("look for the version of the cluster: %w", err)
	}
	return nodes, from, nil
}

func unknownVersion(err error) error {
	if !errors.Is(err, fault.ErrNotFound) {
		return fmt.Errorf("look for a version of Kubernetes: %w", err)
	}
	var bad fault.Invalid
	bad.Add("to", "The catalog has no such version.")
	return bad.OrNil()
}

// PlanUpgrades lists the upgrades that a cluster can have, and what each would do. The same rules decide when one is asked for. While an
// upgrade is not finished, only that one is listed.
func PlanUpgrades(ctx context.Context, q db.Reader, c Cluster) (plans []UpgradePlan, err error) {
	nodes, from, err := upgradeParts(ctx, q, c)
	if err != nil {
		return nil, err
	}
	targets := from.UpgradesTo
	if c.TargetVersion != "" {
		targets = []string{c.TargetVersion}
	}
	for _, name := range targets {
		to, err := FindVersion(ctx, q, name)
		if errors.Is(err, fault.ErrNotFound) {
			continue // the catalog names what it does not have yet
		}
		if err != nil {
			return nil, fmt.Errorf("look for a version of Kubernetes: %w", err)
		}
		draft := UpgradeDraft{To: to.Name, Parallel: DefaultParallel}
		plans = append(plans, UpgradePlan{To: to.Name, Nodes: draft.turns(nodes), Refused: draft.refuses(c, nodes, from, to, time.Now())})
	}
	return plans, nil
}

// SetPhase notes how far the upgrade of a node is.
func SetPhase(ctx context.Context, tx *db.Tx, node uuid.UUID, phase UpgradePhase) error {
	tx.Touch(NodeNoun, node)
	return tx.One(ctx, fault.ErrNotFound, sqlSetPhase, node, phase)
}

// SetNodeUpgraded notes that a node has a version, and that nothing of its upgrade is left to do.
func SetNodeUpgraded(ctx context.Context, tx *db.Tx, node uuid.UUID, version string) error {
	tx.Touch(NodeNoun, node)
	return tx.One(ctx, fault.ErrNotFound, sqlNodeUpgraded, node, version)
}

// SetClusterUpgraded notes that a cluster has the version that it was upgraded to.
func SetClusterUpgraded(ctx context.Context, tx *db.Tx, cluster uuid.UUID, version string) error {
	tx.Touch(ClusterNoun, cluster)
	if err := tx.One(ctx, movedMeanwhile(ClusterNoun), sqlUpgraded, cluster, version); err != nil {
		return fmt.Errorf("note the version of a cluster: %w", err)
	}
	return nil
}

// SetWindow changes when upgrades and automatic changes of a cluster may begin.
func SetWindow(ctx context.Context, tx *intent.Tx, ref scope.Ref[Cluster], version int64, window rollout.Window) error {
	c, err := holdCluster(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	if err := fault.CheckVersion("cluster", c.Version, version); err != nil {
		return err
	}
	var bad fault.Invalid
	window.Check(&bad)
	for i, f := range bad.Fields { // the window is the whole request
		if bad.Fields[i].Field = strings.TrimPrefix(f.Field, "window."); f.Field == "window" {
			bad.Fields[i].Field = "from"
		}
	}
	if err := bad.OrNil(); err != nil {
		return err
	}
	text, err := json.Marshal(window)
	if err != nil {
		return fmt.Errorf("write a maintenance window: %w", err)
	}
	tx.Touch(ClusterNoun, c.ID)
	if err := tx.One(ctx, fault.ErrNotFound, sqlSetWindow, c.ID, text); err != nil {
		return fmt.Errorf("change the maintenance window: %w", err)
	}
	told := func(w rollout.Window) map[string]any {
		return map[string]any{"days": w.Days, "from": w.From, "to": w.To}
	}
	return tx.Event(ctx, c.entry("set_window", told(c.Window()), told(window)))
}
