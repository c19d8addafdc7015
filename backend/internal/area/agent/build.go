package agent

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// Build is a build of the agent with its signed manifest. Hosts check the signature: a backend only keeps it.
type Build struct {
	Version, Arch       string
	LowestBefore        string
	Expires             time.Time
	Size                int64  // bytes
	SHA256              string // hexadecimal
	Manifest, Signature []byte
}

// PutBuild stores a build, cut into parts of so many bytes. added is false if the same one is there; another one of the same
// version and architecture is refused.
func PutBuild(ctx context.Context, d *db.DB, b Build, content io.Reader, partSize int) (added bool, err error) {
	sum, err := hex.DecodeString(b.SHA256)
	if err != nil {
		return false, fmt.Errorf("read the SHA-256 of a build: %w", err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return false, err
	}
	if _, err = io.Copy(w, content); err == nil {
		err = w.Close()
	}
	if err != nil {
		return false, fmt.Errorf("compress a build: %w", err)
	}
	parts := (packed.Len() + partSize - 1) / partSize
	err = d.InTx(ctx, func(tx *db.Tx) error {
		added = false
		n, err := tx.Exec(ctx, sqlInsertBuild, b.Version, b.Arch, b.Manifest, b.Signature, b.LowestBefore, b.Expires, b.Size, sum, parts)
		if err != nil {
			return fmt.Errorf("insert a build: %w", err)
		}
		if n == 0 {
			return sameBuild(ctx, tx.Reader, b, sum)
		}
		added = true
		for i := range parts {
			part := packed.Bytes()[i*partSize : min((i+1)*partSize, packed.Len())]
			if _, err := tx.Exec(ctx, sqlInsertBuildPart, b.Version, b.Arch, i, part); err != nil {
				return fmt.Errorf("insert a part of a build: %w", err)
			}
		}
		return nil
	})
	return added, err
}

func sameBuild(ctx context.Context, q db.Reader, b Build, sum []byte) error {
	there, err := db.First[buildRow](ctx, q, fault.ErrNotFound, sqlBuild, b.Version, b.Arch)
	if err != nil {
		return fmt.Errorf("read a build: %w", err)
	}
	if !bytes.Equal(there.SHA256, sum) {
		return fault.Conflictf("build_exists", "There is another build of version %s for %s. A version is built once.", b.Version, b.Arch)
	}
	return nil
}

// BuildPart is a part of a build as it is sent to an agent.
type BuildPart struct {
	Manifest  []byte `db:"manifest"`
	Signature []byte `db:"signature"`
	Content   []byte `db:"content"` // of the whole, compressed with gzip
	Parts     int64  `db:"parts"`
}

// BuildPartOf returns a part of a build.
func BuildPartOf(ctx context.Context, q db.Reader, version, arch string, part int) (BuildPart, error) {
	return db.First[BuildPart](ctx, q, fault.ErrNotFound, sqlBuildPart, version, arch, part)
}
