package kube

import (
	"time"

	"kloigos/backend/internal/kernel/work"
)

// UpgradePlaybook upgrades a node.
const UpgradePlaybook = "kubeadm_upgrade"

// Steps of an upgrade.
const (
	CheckStep           = "check"
	BringStep           = "bring"
	UpgradePlanesStep   = "upgrade_control_planes"
	UpgradeWorkersStep  = "upgrade_workers"
	UpgradeFinishedStep = "finish"
)

// ClusterUpgrade is the job that brings another version of Kubernetes to all nodes of a cluster. It leaves the cluster degraded where it
// fails; nodes that are done are not done again.
var ClusterUpgrade = change("cluster_upgrade", "upgrades Kubernetes: the control planes one by one, then the workers in waves",
	[]string{UpgradePlaybook, EtcdPlaybook}, planned(upgrading), []work.Step{
		{Name: CheckStep, Means: "ask the API server, every node and every member of etcd whether they are well", Within: 15 * time.Minute},
		{Name: BringStep, Means: "bring programs and images of the new version to every host; nothing runs them yet", Within: changeWithin},
		{Name: UpgradePlanesStep, Means: "upgrade the control planes, one after the other, each while all members of etcd are well", Within: changeWithin},
		{Name: UpgradeWorkersStep, Means: "drain workers, upgrade their kubelets and wait until they are ready, some at the same time", Within: changeWithin},
		{Name: UpgradeFinishedStep, Means: "ask the API server and every node for their versions", Within: 15 * time.Minute},
	})
