package app

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamwork"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/network"
	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// deletions carry out deletions of scopes with all that is in them.
func deletions(p Parts) iamwork.Deletions {
	return iamwork.Deletions{DB: p.DB, Removers: func() iamwork.Removers { return removers(p) }}
}

// removers ask for the end of what lives in a workspace, each by its own area.
func removers(p Parts) iamwork.Removers {
	host := func(f func(in *intent.Intents, ctx context.Context, call intent.Call, p iam.Part) error) func(context.Context, audit.Actor, iam.Part) error {
		return func(ctx context.Context, by audit.Actor, part iam.Part) error {
			return f(*p.Intents, ctx, intent.By(by).In(part.ScopeID), part)
		}
	}
	return iamwork.Removers{
		iam.PartCluster: removes(p, kube.FindCluster, func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[kube.Cluster], part iam.Part) error {
			_, err := kube.AskDelete(ctx, tx, p.Kinds, ref, 0, part.Name)
			return err
		}),
		iam.PartAllocation: host(func(in *intent.Intents, ctx context.Context, call intent.Call, part iam.Part) error {
			_, err := in.Deallocate(ctx, call, part.ID, 0, part.Name)
			return err
		}),
		iam.PartRecordSet: removes(p, dns.FindRecordSet, func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[dns.ManagedSet], _ iam.Part) error {
			_, err := dns.DeleteRecordSet(ctx, tx, dns.OwnedByUser, ref, 0)
			return err
		}),
		iam.PartZone: removes(p, dns.FindZone, func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[dns.Zone], _ iam.Part) error {
			return dns.DeleteZone(ctx, tx, ref, 0)
		}),
		iam.PartRemedy: removes(p, watch.FindRemedy, func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[watch.Remedy], _ iam.Part) error {
			return watch.DeleteRemedy(ctx, tx, ref, 0)
		}),
		iam.PartChannel: removes(p, watch.FindChannel, func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[watch.Channel], _ iam.Part) error {
			return watch.DeleteChannel(ctx, tx, ref, 0)
		}),
		iam.PartHost: host(func(in *intent.Intents, ctx context.Context, call intent.Call, part iam.Part) error {
			return in.RemoveHost(ctx, call, part.ID, 0)
		}),
		iam.PartAddress: host(func(in *intent.Intents, ctx context.Context, call intent.Call, part iam.Part) error {
			return in.RemoveAddress(ctx, call, part.ID, 0)
		}),
		iam.PartNetwork: removes(p, network.Find, func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[network.Network], _ iam.Part) error {
			return network.Delete(ctx, tx, ref, 0)
		}),
	}
}

type find[T any] func(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (T, scope.Ref[T], error)

// removes runs the intent of an area on a part.
func removes[T any](p Parts, find find[T], remove func(context.Context, *kernel.Tx, scope.Ref[T], iam.Part) error) func(context.Context, audit.Actor, iam.Part) error {
	return func(ctx context.Context, by audit.Actor, part iam.Part) error {
		return p.Engine.Do(ctx, kernel.Call{Actor: by, Workspace: part.ScopeID}, func(tx *kernel.Tx) error {
			_, ref, err := find(ctx, tx.Reader, part.ScopeID, part.ID.String())
			if err != nil {
				return err
			}
			return remove(ctx, tx, ref, part)
		})
	}
}
