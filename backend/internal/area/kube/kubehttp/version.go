package kubehttp

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// setVersions is the permission to change the catalog.
const setVersions = "installation.kube_version:set"

// exampleSHA256 stands in the description of requests.
const exampleSHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func (h handlers) versions() {
	httpapi.Register(h.server, "list-kube-versions", h.listVersions, httpapi.Sorted(kube.VersionSorting))
	httpapi.Register(h.server, "create-kube-version", h.createVersion, httpapi.Created, httpapi.Example(api.CreateKubeVersion{
		Name: "v1.36.3", Bundle: "https://mirror.example.org/kubernetes-v1.36.3.tar", BundleSHA256: exampleSHA256, UpgradesTo: []string{"v1.36.4"},
	}))
	httpapi.Register(h.server, "get-kube-version", h.getVersion)
	httpapi.Register(h.server, "change-kube-version", h.changeVersion, httpapi.Example(map[string]any{"active": false}))
	httpapi.Register(h.server, "delete-kube-version", h.deleteVersion)
}

func (h handlers) listVersions(ctx context.Context, in *struct{ api.KubeVersionFilter }) (*httpapi.Object[api.Page[api.KubeVersion]], error) {
	return httpapi.PageOf(h.server, "list-kube-versions", in.PageQuery, nil, kube.VersionSorting,
		func(after *db.Position, limit int) ([]kube.Version, error) {
			return kube.Versions(ctx, h.server.DB().Reader, kube.VersionFilter{Sort: in.Sort, After: after, Limit: limit})
		},
		func(v kube.Version) api.KubeVersion { return presentVersion(ctx, v) })
}

func (h handlers) getVersion(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.KubeVersion], error) {
	v, err := kube.FindVersion(ctx, h.server.DB().Reader, in.ID)
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.KubeVersion]{ETag: httpapi.ETag(v.Version), Body: presentVersion(ctx, v)}, nil
}

// onCatalog runs one intent. The catalog is the installation's, and in no workspace.
func (h handlers) onCatalog(ctx context.Context, do func(ctx context.Context, tx *intent.Tx) (object uuid.UUID, err error)) (httpapi.Made, error) {
	return httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		call.Workspace, call.Installation = uuid.Nil, true
		err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error {
			made.Object, err = do(ctx, tx)
			return err
		})
		return made, err
	})
}

func (h handlers) createVersion(ctx context.Context, in *httpapi.BodyOf[api.CreateKubeVersion]) (*httpapi.Versioned[api.KubeVersion], error) {
	b := in.Body
	made, err := h.onCatalog(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		v, err := kube.CreateVersion(ctx, tx, kube.VersionDraft{
			Name: b.Name, Active: b.Active == nil || *b.Active, UpgradesTo: b.UpgradesTo, Bundle: b.Bundle, BundleSHA256: b.BundleSHA256,
		})
		return v.ID, err
	})
	if err != nil {
		return nil, err
	}
	return h.getVersion(ctx, &httpapi.ByID{ID: made.Object.String()})
}

func (h handlers) changeVersion(ctx context.Context, in *httpapi.ChangeOf[api.ChangeKubeVersion]) (*httpapi.Versioned[api.KubeVersion], error) {
	b := in.Body
	id, err := h.onVersion(ctx, in.Change, func(ctx context.Context, tx *intent.Tx, id uuid.UUID, version int64) error {
		_, err := kube.ChangeVersion(ctx, tx, id, version, func(d *kube.VersionDraft) {
			set(&d.Active, b.Active)
			set(&d.UpgradesTo, b.UpgradesTo)
			set(&d.Bundle, b.Bundle)
			set(&d.BundleSHA256, b.BundleSHA256)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return h.getVersion(ctx, &httpapi.ByID{ID: id.String()})
}

func (h handlers) deleteVersion(ctx context.Context, in *httpapi.Change) (*httpapi.Nothing, error) {
	_, err := h.onVersion(ctx, *in, kube.DeleteVersion)
	return nil, err
}

// onVersion runs one intent on a version.
func (h handlers) onVersion(ctx context.Context, in httpapi.Change, do func(ctx context.Context, tx *intent.Tx, id uuid.UUID, version int64) error) (id uuid.UUID, err error) {
	v, err := kube.FindVersion(ctx, h.server.DB().Reader, in.ID)
	if err != nil {
		return uuid.Nil, err
	}
	version, err := in.Version()
	if err != nil {
		return uuid.Nil, err
	}
	_, err = h.onCatalog(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) { return v.ID, do(ctx, tx, v.ID, version) })
	return v.ID, err
}

func presentVersion(ctx context.Context, v kube.Version) api.KubeVersion {
	out := api.KubeVersion{
		ID: v.ID.String(), Name: v.Name, Active: v.Active, UpgradesTo: orEmpty(v.UpgradesTo), Bundle: v.Bundle, BundleSHA256: v.BundleSHA256,
		Version: v.Version, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
	}
	for _, name := range []string{"change", "delete"} {
		var prevents error
		if !httpapi.AccessOf(ctx).At(setVersions, scope.Place{}) {
			prevents = fault.Conflictf("forbidden", "You do not have the permission %s.", setVersions)
		}
		out.Operations = append(out.Operations, httpapi.OperationOf(name, prevents))
	}
	return out
}
