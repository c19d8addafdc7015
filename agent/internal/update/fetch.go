package update

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"kloigos/agent/release"
)

// Part is one piece of a build, as a backend sends it.
type Part struct {
	Manifest, Signature []byte // with the first
	Data                []byte // of the compressed build
	Parts               int    // how many there are
}

// Fetch brings a build into the state folder and checks it as far as the service's user can. Root checks all of it again.
func (p Place) Fetch(ctx context.Context, version, running string, get func(ctx context.Context, version, arch string, part int) (Part, error)) error {
	keys, err := release.LoadKeys(p.Keys)
	if err != nil {
		return err
	}
	first, err := get(ctx, version, runtime.GOARCH, 0)
	if err != nil {
		return err
	}
	m, err := keys.Verify(first.Manifest, first.Signature)
	if err != nil {
		return &RefusedError{err.Error()}
	}
	if m.Version != version {
		return &RefusedError{fmt.Sprintf("the build is of version %s, not %s", m.Version, version)}
	}
	if err := m.Fits(running, runtime.GOARCH, time.Now()); err != nil {
		return &RefusedError{err.Error()}
	}
	if err := Free(p.State, m.Size); err != nil {
		return &RefusedError{err.Error()}
	}
	in := filepath.Join(p.State, incomingDir)
	if err := errors.Join(os.RemoveAll(in), os.Mkdir(in, 0o700)); err != nil {
		return err
	}
	if err := p.receive(ctx, m, first, filepath.Join(in, binaryFile), get); err != nil {
		_ = os.RemoveAll(in)
		return err
	}
	return errors.Join(writeFile(filepath.Join(in, manifestFile), first.Manifest, 0o600), writeFile(filepath.Join(in, signedFile), first.Signature, 0o600))
}

// RefusedError is a build that this host does not take, whoever sends it.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

func (p Place) receive(ctx context.Context, m release.Manifest, first Part, path string, get func(ctx context.Context, version, arch string, part int) (Part, error)) error {
	parts := &parts{ctx: ctx, left: bytes.NewReader(first.Data), total: first.Parts, get: func(ctx context.Context, n int) (Part, error) {
		return get(ctx, m.Version, m.Arch, n)
	}}
	unpacked, err := gzip.NewReader(parts)
	if err != nil {
		return fmt.Errorf("unpack the build: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = m.Copy(f, unpacked)
	return errors.Join(err, f.Sync(), f.Close())
}

// parts reads the pieces of a build one behind the other.
type parts struct {
	ctx         context.Context // of one download
	left        *bytes.Reader
	next, total int
	get         func(ctx context.Context, part int) (Part, error)
}

func (r *parts) Read(into []byte) (int, error) {
	for r.left.Len() == 0 {
		if r.next++; r.next >= r.total {
			return 0, io.EOF
		}
		part, err := r.get(r.ctx, r.next)
		if err != nil {
			return 0, err
		}
		r.left.Reset(part.Data)
	}
	return r.left.Read(into)
}

// Ask asks root for a version that was fetched or is kept, and returns the name of the request.
func (p Place) Ask(version string) (id string, err error) {
	r := Request{Version: version, ID: fmt.Sprint(time.Now().UnixNano())}
	content, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	return r.ID, writeFile(filepath.Join(p.State, requestFile), content, 0o600)
}

// Fetched removes what was fetched, once root has its copy.
func (p Place) Fetched() { _ = os.RemoveAll(filepath.Join(p.State, incomingDir)) }
