package ansible

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"
)

const (
	modulesPrefix = "m-"
	// maxModules is of how many bundles and keys modules are kept: some 130 KB a module, and some ten modules a bundle.
	maxModules = 16
)

// What is kept was made by a play, and a play is not trusted with files: names, kind and size are looked at.
const (
	maxModule   = 4 << 20
	maxOfModule = 64 // files of one bundle and one build of Ansible
)

var (
	buildForm  = regexp.MustCompile(`^[0-9][0-9a-z.-]{0,60}\z`)
	moduleForm = regexp.MustCompile(`^ansible\.modules\.[a-z0-9_.]{1,100}-[A-Z_]{1,20}\z`)
)

var sha256Form = regexp.MustCompile(`^[0-9a-f]{64}\z`)

// keptModules is the directory in which what Ansible packs of a bundle is kept (see launch/kloigos_launch.py), or
// empty: a run goes as well without, only slower. Those that were not used for the longest time are given up.
//
// What a play hands over is used only for hosts of the same key. Code in a play has that key already, and so it gains
// nothing by what it leaves there.
func (p *Play) keptModules(root string) string {
	name := p.modulesName()
	if name == "" {
		return ""
	}
	dir := filepath.Join(root, name)
	if err := os.Mkdir(dir, 0o700); err == nil {
		forgetModules(root)
	}
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return ""
	}
	return dir
}

// lendModules copies what is kept into the run's directory. A link would let the play write into what later runs take.
// It returns the directory, or nothing where none is kept.
func (d *runDir) lendModules(kept string) string {
	if kept == "" {
		return ""
	}
	lent := d.file("modules")
	if os.Mkdir(lent, 0o700) != nil {
		return ""
	}
	copyModules(kept, lent)
	return lent
}

// keepModules keeps what the run has packed, if the play succeeded.
func (s *supervisor) keepModules(status superviseStatus) {
	if s.played.Keep == "" || s.played.Modules == "" || status.Error != "" || status.Stopped || status.Exit != 0 || status.Signal != 0 {
		return
	}
	copyModules(s.played.Modules, s.played.Keep)
}

// copyModules copies what is not there yet. What can't be copied is packed again by the next run.
func copyModules(from, to string) {
	if info, err := os.Lstat(from); err != nil || !info.IsDir() { // a link would lead out of the run
		return
	}
	builds, err := os.ReadDir(from)
	if err != nil {
		return
	}
	for _, build := range builds {
		source, target := filepath.Join(from, build.Name()), filepath.Join(to, build.Name())
		modules, err := os.ReadDir(source)
		if err != nil || !build.IsDir() || !buildForm.MatchString(build.Name()) || len(modules) > maxOfModule {
			continue
		}
		_ = os.Mkdir(target, 0o700)
		for _, module := range modules {
			if moduleForm.MatchString(module.Name()) {
				copyModule(filepath.Join(source, module.Name()), filepath.Join(target, module.Name()))
			}
		}
	}
}

func copyModule(source, target string) {
	if _, err := os.Lstat(target); err == nil {
		return
	}
	in, err := os.OpenFile(source, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxModule {
		return
	}
	// Whole or not at all: others copy at the same time.
	out, err := os.CreateTemp(filepath.Dir(target), ".new-")
	if err != nil {
		return
	}
	defer os.Remove(out.Name())
	_, err = io.Copy(out, io.LimitReader(in, maxModule))
	if err = errors.Join(err, out.Close()); err == nil {
		_ = os.Link(out.Name(), target)
	}
}

// modulesName is of the bundle and of the public keys that the play logs in with; "" where nothing is to be kept.
func (p *Play) modulesName() string {
	if !sha256Form.MatchString(p.BundleSHA256) {
		return ""
	}
	var keys []string
	for i := range p.Hosts {
		signer, err := ssh.ParsePrivateKey(p.Hosts[i].PrivateKey)
		if err != nil {
			return "" // which can't be: Validate has parsed it
		}
		keys = append(keys, string(signer.PublicKey().Marshal()))
	}
	slices.Sort(keys)
	sum := sha256.New()
	for _, part := range append([]string{p.BundleSHA256}, slices.Compact(keys)...) {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return modulesPrefix + hex.EncodeToString(sum.Sum(nil))
}

func forgetModules(root string) {
	dirs, _ := filepath.Glob(filepath.Join(root, modulesPrefix+"*"))
	used := func(dir string) int64 {
		info, err := os.Stat(dir)
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(dirs, func(a, b string) int { return int(min(max(used(b)-used(a), -1), 1)) })
	for _, dir := range dirs[min(maxModules, len(dirs)):] {
		_ = os.RemoveAll(dir)
	}
}
