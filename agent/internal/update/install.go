package update

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"kloigos/agent/release"
)

// KeepFree is how many bytes stay free on a disk that a build is written to.
const KeepFree = 10 << 20

// Free returns an error unless a folder has room for so many bytes, and KeepFree more.
func Free(dir string, size int64) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return fmt.Errorf("look at the free space of %s: %w", dir, err)
	}
	if free := int64(s.Bavail) * s.Bsize; free < size+KeepFree { // bounded by the kernel
		return fmt.Errorf("%s has %d MB free, and the build needs %d MB with 10 MB to spare", dir, free>>20, size>>20)
	}
	return nil
}

// Serve does what the service's user asked for, once, and answers. It runs as root. Nothing in the state folder is trusted: the
// build is copied to where only root writes, and checked there.
func Serve(p Place) error {
	if err := os.MkdirAll(p.Versions, 0o755); err != nil { // everybody may run the agent
		return err
	}
	content, err := readPlain(filepath.Join(p.State, requestFile), 4<<10)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var r Request
	if err := json.Unmarshal(content, &r); err != nil || len(r.ID) > 64 {
		return errors.New("the request can't be read")
	}
	answer := Answer{Request: r}
	failed := p.serve(r.Version)
	if failed != nil {
		answer.Error = failed.Error()
	}
	content, err = json.Marshal(answer)
	if err != nil {
		return err
	}
	return errors.Join(failed, writeFile(filepath.Join(p.Versions, answerFile), content, 0o644))
}

// open opens a file of somebody else: no link, no device, no pipe.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func readPlain(path string, most int64) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", path, most)
	}
	return content, err
}

func (p Place) serve(version string) error {
	current := p.linked(currentLink)
	switch {
	case version == p.Base:
		for _, link := range []string{previousLink, currentLink} { // the one before would run otherwise
			if err := os.Remove(filepath.Join(p.Versions, link)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		return nil
	case !release.ValidVersion(version):
		return errors.New("the request names no version")
	case p.Pin != "" && version != p.Pin:
		return fmt.Errorf("this host is pinned to %s", p.Pin)
	case version == current:
		return nil
	}
	keys, err := release.LoadKeys(p.Keys)
	if err != nil {
		return err
	}
	if version == p.linked(previousLink) { // the way back: it was newer than what it replaced, and may be older than this one
		if err := p.checkKept(keys, version); err != nil {
			return err
		}
		return p.turn(version, current)
	}
	if err := p.install(keys, version, current); err != nil {
		return err
	}
	before := current
	if proven := p.Proven(); proven != current && proven == p.linked(previousLink) { // the current one has failed: keep the one that runs
		before = proven
	}
	if err := p.turn(version, before); err != nil {
		return err
	}
	return p.tidy()
}

// checkKept checks a version that was installed before, with the keys of now. It may have expired.
func (p Place) checkKept(keys release.Keys, version string) error {
	b, err := release.Read(filepath.Join(p.Versions, version, "manifest"))
	if err != nil {
		return err
	}
	m, err := keys.Verify(b.Text, b.Signature)
	if err == nil && m.Version != version {
		err = errors.New("the build is of another version")
	}
	return err
}

// install copies a build from the state folder and checks it. It has the place that its version names only once it is whole.
func (p Place) install(keys release.Keys, version, current string) error {
	in := filepath.Join(p.State, incomingDir)
	text, err := readPlain(filepath.Join(in, manifestFile), release.MaxManifest)
	if err != nil {
		return fmt.Errorf("read the manifest: %w", err)
	}
	signature, err := readPlain(filepath.Join(in, signedFile), release.MaxSignature)
	if err != nil {
		return fmt.Errorf("read the signature: %w", err)
	}
	m, err := keys.Verify(text, signature)
	if err != nil {
		return err
	}
	if m.Version != version {
		return fmt.Errorf("the build is of version %s, not %s", m.Version, version)
	}
	newest := p.Base
	if current != "" && release.Compare(current, newest) > 0 {
		newest = current
	}
	if err := m.Fits(newest, runtime.GOARCH, time.Now()); err != nil {
		return err
	}
	if err := Free(p.Versions, m.Size); err != nil {
		return err
	}
	temporary := filepath.Join(p.Versions, ".new")
	if err := errors.Join(os.RemoveAll(temporary), os.Mkdir(temporary, 0o755)); err != nil { // everybody may run the agent
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	if err := p.copyBuild(m, filepath.Join(in, binaryFile), filepath.Join(temporary, binaryFile)); err != nil {
		return err
	}
	if err := errors.Join(
		writeFile(filepath.Join(temporary, manifestFile), text, 0o644), writeFile(filepath.Join(temporary, signedFile), signature, 0o644),
		os.Symlink(binaryFile, filepath.Join(temporary, "manifest"))); err != nil {
		return err
	}
	final := filepath.Join(p.Versions, version)
	return errors.Join(os.RemoveAll(final), os.Rename(temporary, final))
}

func (p Place) copyBuild(m release.Manifest, from, to string) error {
	in, err := open(from)
	if err != nil {
		return fmt.Errorf("read the build: %w", err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755) // everybody may run the agent
	if err != nil {
		return err
	}
	err = m.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Chmod(0o755), out.Close())
}

// turn makes a version the current one, and another one the one before. A crash leaves the links from before, or the new ones.
func (p Place) turn(current, previous string) error {
	if previous != "" && previous != current {
		if err := p.link(previousLink, previous); err != nil {
			return err
		}
	}
	return p.link(currentLink, current)
}

func (p Place) link(name, version string) error {
	path := filepath.Join(p.Versions, name)
	_ = os.Remove(path + ".new")
	if err := os.Symlink(version, path+".new"); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// tidy keeps two versions.
func (p Place) tidy() error {
	current, previous := p.linked(currentLink), p.linked(previousLink)
	entries, err := os.ReadDir(p.Versions)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != current && e.Name() != previous {
			err = errors.Join(err, os.RemoveAll(filepath.Join(p.Versions, e.Name())))
		}
	}
	return err
}
