package kube

import (
	"context"
	"testing"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/testkit/areatest"
)

func TestAssembledStatements(t *testing.T) {
	t.Parallel()
	areatest.Assembled(t, func(ctx context.Context, q db.Reader, after *db.Position) error {
		for _, sort := range VersionSorting.Names() {
			if _, err := Versions(ctx, q, VersionFilter{Sort: sort, After: after, Limit: 1}); err != nil {
				return err
			}
		}
		for _, filter := range []string{"", "x"} {
			for _, sort := range ClusterSorting.Names() {
				if _, err := Clusters(ctx, q, ClusterFilter{State: filter, Sort: sort, After: after, Limit: 1}); err != nil {
					return err
				}
			}
			for _, sort := range HostedSorting.Names() {
				if _, err := HostedPlanes(ctx, q, HostedFilter{State: filter, Sort: sort, After: after, Limit: 1}); err != nil {
					return err
				}
			}
			for _, sort := range ManagementSorting.Names() {
				if _, err := Managements(ctx, q, ManagementFilter{Pool: filter, Sort: sort, After: after, Limit: 1}); err != nil {
					return err
				}
			}
			for _, sort := range NamespaceSorting.Names() {
				for _, state := range []string{filter, NamespaceDeleting} {
					if _, err := Namespaces(ctx, q, NamespaceFilter{State: state, Sort: sort, After: after, Limit: 1}); err != nil {
						return err
					}
				}
			}
			for _, sort := range SnapshotSorting.Names() {
				if _, err := Snapshots(ctx, q, SnapshotFilter{Sort: sort, After: after, Limit: 1}); err != nil {
					return err
				}
			}
			for _, sort := range NodeSorting.Names() {
				if _, err := Nodes(ctx, q, NodeFilter{State: filter, Sort: sort, After: after, Limit: 1}); err != nil {
					return err
				}
			}
			for _, sort := range BindingSorting.Names() {
				if _, err := Bindings(ctx, q, BindingFilter{Role: filter, Sort: sort, After: after, Limit: 1}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
