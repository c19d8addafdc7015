package app

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"kloigos/backend/internal/kernel/config"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/secret"
)

// AddKey adds a key to the keyset, and tells what comes next.
func AddKey(_ context.Context, cfg config.Config, out io.Writer) error {
	id, err := secret.AddKey(cfg.KeysetFile)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Added key %08x. It seals nothing yet.\nNext: copy %s to every backend and restart each, then keyset promote.\n", id, cfg.KeysetFile)
	return err
}

// PromoteKey has the newest key seal.
func PromoteKey(_ context.Context, cfg config.Config, out io.Writer) error {
	id, err := secret.Promote(cfg.KeysetFile)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Key %08x seals from now on.\nNext: copy %s to every backend and restart each, then keyset reseal.\n", id, cfg.KeysetFile)
	return err
}

// RetireKeys takes the older keys out of use, if they sealed nothing that is left.
func RetireKeys(ctx context.Context, cfg config.Config, out io.Writer) error {
	keys, opened, err := openSealed(ctx, cfg)
	if err != nil {
		return err
	}
	defer opened.Close()
	left, err := sealedByOthers(ctx, keys, opened)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%d values are still sealed by older keys; run keyset reseal first", len(left))
	}
	ids, err := secret.Retire(cfg.KeysetFile)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := fmt.Fprintf(out, "Key %08x opens nothing any more.\n", id); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "Next: copy %s to every backend and restart each. Back it up, and destroy older copies.\n", cfg.KeysetFile)
	return err
}

// Reseal has the primary key seal what older ones sealed, beside backends that go on.
func Reseal(ctx context.Context, cfg config.Config, out io.Writer) error {
	keys, opened, err := openSealed(ctx, cfg)
	if err != nil {
		return err
	}
	defer opened.Close()
	values, err := sealedByOthers(ctx, keys, opened)
	if err != nil {
		return err
	}
	failed := 0
	for _, v := range values {
		if err := keys.Reseal(ctx, opened, v); err != nil {
			failed++
			if _, err := fmt.Fprintf(out, "%s %s: %v\n", v.Place, v.ID, err); err != nil {
				return err
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d values could not be sealed again", failed, len(values))
	}
	left, err := sealedByOthers(ctx, keys, opened)
	if err != nil {
		return err
	}
	next := "keyset retire"
	if len(left) > 0 { // a backend wrote them meanwhile
		next = fmt.Sprintf("%d are sealed by older keys again, so some backend was not restarted with this keyset; restart it, then keyset reseal", len(left))
	}
	_, err = fmt.Fprintf(out, "%d values are sealed by key %08x now.\nNext: %s.\n", len(values), keys.Primary(), next)
	return err
}

// KeysetStatus lists the keys, with how many values each one sealed.
func KeysetStatus(ctx context.Context, cfg config.Config, out io.Writer) error {
	keys, err := secret.Keys(cfg.KeysetFile)
	if err != nil {
		return err
	}
	_, opened, err := openSealed(ctx, cfg)
	if err != nil {
		return err
	}
	defer opened.Close()
	values, err := secret.Values(ctx, opened.Reader)
	if err != nil {
		return err
	}
	sealed := map[uint32]int{}
	for _, v := range values {
		id, _ := secret.SealedBy(v.Sealed)
		sealed[id]++
	}
	for _, k := range keys {
		state := "opens"
		switch {
		case k.Primary:
			state = "seals and opens"
		case k.Retired:
			state = "retired"
		}
		if _, err := fmt.Fprintf(out, "%08x  %-16s %d values\n", k.ID, state, sealed[k.ID]); err != nil {
			return err
		}
		delete(sealed, k.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(sealed)) {
		if _, err := fmt.Fprintf(out, "%08x  %-16s %d values\n", id, "not in the keyset", sealed[id]); err != nil {
			return err
		}
	}
	return nil
}

// openSealed opens the keyset and its database.
func openSealed(ctx context.Context, cfg config.Config) (*secret.Keyset, *db.DB, error) {
	keys, err := secret.Load(cfg.KeysetFile)
	if err != nil {
		return nil, nil, err
	}
	opened, err := db.Open(ctx, cfg.DatabaseURL)
	return keys, opened, err
}

func sealedByOthers(ctx context.Context, keys *secret.Keyset, d *db.DB) ([]secret.Value, error) {
	values, err := secret.Values(ctx, d.Reader)
	return slices.DeleteFunc(values, func(v secret.Value) bool {
		id, ok := secret.SealedBy(v.Sealed)
		return ok && id == keys.Primary()
	}), err
}
