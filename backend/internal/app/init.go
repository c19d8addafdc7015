// Package app wires the parts of a backend together. It is shared by the
// program and by the tests that need a whole one. It decides nothing itself.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"kloigos/agent/release"
	"kloigos/backend/api"
	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/config"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/store"
	"kloigos/crdb"
	"kloigos/playbooks"
)

// Administrator is the name of the first account.
const Administrator = "admin"

// descriptions of the playbooks that a release brings.
var seeds = []struct{ name, description string }{
	{"host_probe", "Reads what a host is: CPUs, NUMA nodes, memory, disks, uplink. Changes nothing."},
	{"host_measure", "Measures what the tenants of a host use: CPU, memory, processes, disk. Changes nothing."},
	{"host_initialize", "Brings the fence and the packages, keeps the system on its own CPUs, makes the units' volumes."},
	{"host_decommission", "Removes everything of Kloigos from a host, but packages and logs."},
	{"host_admin_key", "Changes which SSH keys of Kloigos log in as the admin user of a host."},
	{"unit_allocate", "Sets a unit up for its tenant: user, limits, confinement, address, keys."},
	{"unit_deallocate", "Ends all that runs in a unit, removes its tenant and wipes its volume."},
	{"kube_prepare", "Brings container runtime, programs and images of Kubernetes to a host, and its routes to other nodes."},
	{"kubeadm_init", "Makes the control plane of a cluster and has it sign the certificate of Kloigos."},
	{"kubeadm_join", "Joins a worker or another control plane to a cluster."},
	{"kube_etcd", "Asks the members of etcd of a cluster how they are, and takes one out."},
	{"kubeadm_upgrade", "Brings another version of Kubernetes to the nodes of a cluster."},
	{"kubeadm_certs", "Renews the certificates of a control plane, and restarts what runs with them."},
	{"kubeadm_reset", "Takes Kubernetes off a host; packages stay."},
}

// Init prepares an installation: schema, default scopes, keyset, the
// organization's SSH key, the playbooks of this release and the first
// administrator, whose password is written to out and nowhere else. Each part
// is left alone where it is there already, so it can be run again, and at the
// same time as another.
func Init(ctx context.Context, cfg config.Config, out io.Writer) error {
	if err := crdb.Migrate(ctx, cfg.DatabaseURL); err != nil {
		return err
	}
	db, err := store.Open(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.InTx(ctx, func(tx *store.Tx) error { return tx.EnsureDefaultScopes(ctx) }); err != nil {
		return err
	}
	keyset, err := initKeyset(ctx, db, cfg.KeysetFile, out)
	if err != nil {
		return err
	}
	if err := initOrganizationKey(ctx, db, keyset); err != nil {
		return err
	}
	if err := seedPlaybooks(ctx, db, playbooks.Files, out); err != nil {
		return err
	}
	if err := storeBuilds(ctx, cfg, out); err != nil {
		return err
	}
	who := domain.Actor{Kind: domain.ActorInit, Name: "init"}
	password, made, err := intent.CreateAdministrator(ctx, db, who, Administrator)
	if err != nil {
		return fmt.Errorf("make the administrator: %w", err)
	}
	if made {
		_, err = fmt.Fprintf(out, "account: %s\npassword: %s\n", Administrator, password)
	}
	return err
}

// initKeyset makes the keyset where neither file nor canary is there. A canary
// without the file means that the keyset of this database is elsewhere: a new
// one would make everything sealed unreadable.
func initKeyset(ctx context.Context, db *store.DB, path string, out io.Writer) (*secret.Keyset, error) {
	canary, err := db.Setting(ctx, secret.CanarySetting)
	if err != nil {
		return nil, fmt.Errorf("read the keyset's canary: %w", err)
	}
	keyset, err := secret.Load(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && canary != nil:
		return nil, fmt.Errorf("the database was made with a keyset that is not at %s; bring it there", path)
	case errors.Is(err, os.ErrNotExist):
		if keyset, err = secret.Create(path); errors.Is(err, os.ErrExist) {
			keyset, err = secret.Load(path) // another init was faster
		} else if err == nil {
			_, _ = fmt.Fprintf(out, "keyset: %s (back it up apart from the database; every backend needs the same)\n", path)
		}
	}
	if err != nil {
		return nil, err
	}
	if canary != nil {
		return keyset, keyset.CheckCanary(ctx, db.Setting)
	}
	sealed, err := keyset.Canary()
	if err != nil {
		return nil, err
	}
	return keyset, db.InTx(ctx, func(tx *store.Tx) error { return tx.SetSetting(ctx, secret.CanarySetting, sealed) })
}

func initOrganizationKey(ctx context.Context, db *store.DB, keyset *secret.Keyset) error {
	_, err := db.OrganizationKey(ctx, domain.DefaultOrganization)
	if !errors.Is(err, domain.ErrNotFound) {
		return err
	}
	public, sealed, err := iam.NewOrganizationKey(keyset, domain.DefaultOrganization)
	if err != nil {
		return err
	}
	k := store.OrganizationKey{OrganizationID: domain.DefaultOrganization, PublicKey: public, PrivateSealed: sealed}
	return db.InTx(ctx, func(tx *store.Tx) error { return tx.InsertOrganizationKey(ctx, k) })
}

// storeBuilds takes the builds of the agent of a release. Each host checks their signatures itself. They are looked at here too if
// this backend knows the keys: no host would take a build of another key.
func storeBuilds(ctx context.Context, cfg config.Config, out io.Writer) error {
	if cfg.AgentReleaseDir == "" {
		return nil
	}
	builds, err := release.Folder(cfg.AgentReleaseDir)
	if err != nil {
		return fmt.Errorf("read the builds of the agent: %w", err)
	}
	if err := signed(cfg, builds); err != nil {
		return err
	}
	opened, err := db.Open(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer opened.Close()
	for _, b := range builds {
		added, err := storeBuild(ctx, opened, b)
		if err != nil {
			return fmt.Errorf("store build %s of the agent: %w", b.Path, err)
		}
		if added {
			_, _ = fmt.Fprintf(out, "agent: %s for %s (%s)\n", b.Version, b.Arch, b.SHA256[:12])
		}
	}
	return nil
}

func signed(cfg config.Config, builds []release.Build) error {
	keys, err := releaseKeys(cfg)
	if err != nil || keys == nil {
		return err
	}
	for _, b := range builds {
		if _, err := keys.Verify(b.Text, b.Signature); err != nil {
			return fmt.Errorf("build %s of the agent: %w", b.Path, err)
		}
	}
	return nil
}

func storeBuild(ctx context.Context, opened *db.DB, b release.Build) (added bool, err error) {
	f, err := os.Open(b.Path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	return agent.PutBuild(ctx, opened, agent.Build{
		Version: b.Version, Arch: b.Arch, LowestBefore: b.LowestBefore, Expires: b.Expires, Size: b.Size, SHA256: b.SHA256, Manifest: b.Text, Signature: b.Signature,
	}, f, api.AgentPartSize)
}

func seedPlaybooks(ctx context.Context, db *store.DB, files fs.FS, out io.Writer) error {
	for _, s := range seeds {
		b, err := bundle.Build(files, s.name)
		if err != nil {
			return fmt.Errorf("pack playbook %s: %w", s.name, err)
		}
		v := store.PlaybookVersion{
			Playbook: s.name, SHA256: b.SHA256, TreeSHA256: &b.TreeSHA256, SizeBytes: int64(len(b.Content)), DecodedBytes: b.DecodedBytes,
			Files: b.Files, Seeded: true, CreatedBy: "init",
		}
		var version int
		var added bool
		err = db.InTx(ctx, func(tx *store.Tx) (err error) {
			version, added, err = tx.SeedPlaybook(ctx, s.description, v, b.Content)
			return err
		})
		if err != nil {
			return fmt.Errorf("seed playbook %s: %w", s.name, err)
		}
		if added {
			_, _ = fmt.Fprintf(out, "playbook: %s version %d (%s)\n", s.name, version, b.SHA256[:12])
		}
	}
	return nil
}
