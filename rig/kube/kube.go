// Package kube builds the programs of Kubernetes and etcd from their Go modules, for tests that need real ones. What is built
// is kept in the user's cache by version and flags.
//
// It downloads modules through Go alone, with its checksum database, and no binaries.
package kube

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Versions that are built.
const (
	Version = "v1.36.3"
	// NextVersion is the source of Version with the stamp of the next minor version: the cheapest that such an upgrade can be tried
	// with. It tries what an upgrade does, and nothing that differs between two versions of Kubernetes.
	NextVersion = "v1.37.0"
	// EtcdVersion is that of all of them.
	EtcdVersion = "v3.6.16"
	// KamajiVersion is the only one that its module has. It brings Kubernetes 1.30 with it.
	KamajiVersion = "v1.0.0"
	// KwokVersion is of what plays kubelets: nodes and pods that become ready, and run nothing.
	KwokVersion = "v0.8.0"
)

// staging is the version of the libraries that belong to a version of Kubernetes.
func staging(version string) string { return "v0" + strings.TrimPrefix(version, "v1") }

// Names of programs that are not of Kubernetes.
const (
	etcd    = "etcd"
	etcdutl = "etcdutl" // makes a data directory of a snapshot
	kamaji  = "kamaji"
	kwok    = "kwok"
)

const (
	kamajiModule = "github.com/clastix/kamaji"
	kwokModule   = "sigs.k8s.io/kwok"
)

var etcdModules = map[string]string{etcd: "go.etcd.io/etcd/server/v3", etcdutl: "go.etcd.io/etcd/etcdutl/v3"}

// Programs are all that can be built, the cheapest for tests first.
func Programs() []string {
	return []string{etcd, etcdutl, "kube-apiserver", "kube-controller-manager", "kubeadm", "kubectl", "kubelet", "kube-scheduler", "kube-proxy", kamaji, kwok}
}

// Builder builds programs that the cache lacks.
type Builder struct {
	Dir string    // of the cache
	Log io.Writer // what is done
	// Stamp is the version that programs of Kubernetes say they have, instead of Version. They are linked anew for it.
	Stamp string
}

// For is a builder of Version or of NextVersion.
func (b Builder) For(version string) Builder {
	b.Stamp = version
	return b
}

func (b Builder) version() string { return cmp.Or(b.Stamp, Version) }

// DefaultDir is where programs are kept: kloigos in the user's cache directory.
func DefaultDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(base, "kloigos", "kubernetes"), nil
}

// flags of the compiler. The version is stamped, or every program says v0.0.0 and refuses to work with others.
func flags(version string) string {
	all := []string{"-s", "-w"}
	part := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	for _, name := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, stamp := range []string{"gitVersion=" + version, "gitMajor=" + part[0], "gitMinor=" + part[1], "gitTreeState=clean", "buildDate=2026-11-01T00:00:00Z"} {
			all = append(all, "-X", name+"."+stamp)
		}
	}
	return strings.Join(all, " ")
}

// key names a directory of the cache: another version or another flag is another one.
func key(stamp string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{Version, EtcdVersion, flags(stamp), "trimpath cgo=0"}, "\n")))
	return stamp + "-" + hex.EncodeToString(sum[:6])
}

// Path is where a program is, or would be. Those that are not of Kubernetes have no stamp.
func (b Builder) Path(program string) string {
	if program == kamaji || program == kwok || etcdModules[program] != "" {
		return filepath.Join(b.Dir, key(Version), program)
	}
	return filepath.Join(b.Dir, key(b.version()), program)
}

// Missing are those of some programs that are not built yet.
func (b Builder) Missing(programs ...string) []string {
	return slices.DeleteFunc(slices.Clone(programs), func(p string) bool {
		info, err := os.Stat(b.Path(p))
		return err == nil && info.Mode().IsRegular()
	})
}

// Build builds what is missing, one program after the other: two at a time would need twice the memory, 2 GB each.
func (b Builder) Build(ctx context.Context, programs ...string) error {
	for _, program := range b.Missing(programs...) {
		if !slices.Contains(Programs(), program) {
			return fmt.Errorf("there is no program %q; there are %s", program, strings.Join(Programs(), ", "))
		}
		fmt.Fprintf(b.Log, "Building %s. The first one takes minutes.\n", program)
		if err := b.build(ctx, program); err != nil {
			return fmt.Errorf("build %s: %w", program, err)
		}
	}
	return nil
}

func (b Builder) build(ctx context.Context, program string) error {
	dir, err := os.MkdirTemp("", "kloigos-kubernetes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	target, linked := "k8s.io/kubernetes/cmd/"+program, flags(b.version())
	module := func() (string, error) { return b.kubernetes(ctx, dir) }
	if program == etcd || program == etcdutl {
		target, linked = etcdModules[program], "-s -w"
		module = func() (string, error) {
			return "module kloigos-etcd\n\ngo 1.26.0\n\ntool " + target + "\n\nrequire " + target + " " + EtcdVersion + "\n", nil
		}
	}
	if program == kamaji {
		target, linked = kamajiModule, "-s -w"
		module = func() (string, error) { return b.kamaji(ctx, dir) }
	}
	if program == kwok {
		target, linked = kwokModule+"/cmd/kwok", "-s -w"
		module = func() (string, error) {
			return "module kloigos-kwok\n\ngo 1.26.0\n\ntool " + target + "\n\nrequire " + kwokModule + " " + KwokVersion + "\n", nil
		}
	}
	text, err := module()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600); err != nil {
		return err
	}
	if _, err := b.run(ctx, dir, "go", "mod", "tidy", "-e"); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(b.Path(program)), 0o755); err != nil {
		return err
	}
	made := b.Path(program) + ".new" // a cut build leaves no program behind
	if _, err := b.run(ctx, dir, "go", "build", "-p", "1", "-trimpath", "-ldflags", linked, "-o", made, target); err != nil {
		return err
	}
	return os.Rename(made, b.Path(program))
}

// ownModule downloads a module, and returns its directory with its go.mod.
func (b Builder) ownModule(ctx context.Context, dir, module string) (folder, text string, err error) {
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module kloigos-kubernetes\n\ngo 1.26.0\n"), 0o600); err != nil {
		return "", "", err
	}
	out, err := b.run(ctx, dir, "go", "mod", "download", "-json", module)
	if err != nil {
		return "", "", err
	}
	found := regexp.MustCompile(`"Dir": "([^"]+)"`).FindSubmatch(out)
	if found == nil {
		return "", "", errors.New("go says nothing of where the module is")
	}
	own, err := os.ReadFile(filepath.Join(string(found[1]), "go.mod"))
	return string(found[1]), string(own), err
}

// kamaji is a module that can build Kamaji: it needs the replaces of Kamaji's own.
func (b Builder) kamaji(ctx context.Context, dir string) (string, error) {
	_, own, err := b.ownModule(ctx, dir, kamajiModule+"@"+KamajiVersion)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "module kloigos-kamaji\n\ngo 1.26.0\n\ntool %s\n\nrequire %s %s\n", kamajiModule, kamajiModule, KamajiVersion)
	for _, part := range strings.Split(own, "\nreplace ")[1:] {
		if strings.HasPrefix(part, "(") {
			part, _, _ = strings.Cut(part, "\n)")
			part += "\n)"
		} else {
			part, _, _ = strings.Cut(part, "\n")
		}
		text.WriteString("\nreplace " + part + "\n")
	}
	return text.String(), nil
}

// KamajiDefinitions are the definitions of Kamaji's types (YAML), out of its module.
func (b Builder) KamajiDefinitions(ctx context.Context) ([][]byte, error) {
	dir, err := os.MkdirTemp("", "kloigos-kamaji-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	folder, _, err := b.ownModule(ctx, dir, kamajiModule+"@"+KamajiVersion)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for _, name := range []string{"datastore.yaml", "tenantcontrolplane.yaml"} {
		text, err := os.ReadFile(filepath.Join(folder, "charts/kamaji/crds", name))
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}

// KwokStages is what kwok does with nodes and pods (YAML), out of its module.
func (b Builder) KwokStages(ctx context.Context) ([]byte, error) {
	dir, err := os.MkdirTemp("", "kloigos-kwok-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	folder, _, err := b.ownModule(ctx, dir, kwokModule+"@"+KwokVersion)
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, name := range []string{"node/fast/node-initialize", "pod/fast/pod-ready", "pod/fast/pod-complete", "pod/fast/pod-delete"} {
		text, err := os.ReadFile(filepath.Join(folder, "kustomize/stage", name+".yaml"))
		if err != nil {
			return nil, err
		}
		all = append(append(all, "---\n"...), text...)
	}
	return all, nil
}

var stagingLine = regexp.MustCompile(`(?m)^\t(k8s\.io/[a-z-]+) => \./staging`)

// kubernetes is a module that can build Kubernetes: its own replaces its libraries by folders, which a module cannot have.
func (b Builder) kubernetes(ctx context.Context, dir string) (string, error) {
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module kloigos-kubernetes\n\ngo 1.26.0\n"), 0o600); err != nil {
		return "", err
	}
	out, err := b.run(ctx, dir, "go", "mod", "download", "-json", "k8s.io/kubernetes@"+Version)
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`"GoMod": "([^"]+)"`).FindSubmatch(out)
	if found == nil {
		return "", errors.New("go says nothing of where the module is")
	}
	own, err := os.ReadFile(string(found[1]))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("module kloigos-kubernetes\n\ngo 1.26.0\n\ngodebug default=go1.26\n\ntool (\n")
	for _, program := range Programs() {
		if program != kamaji && program != kwok && etcdModules[program] == "" {
			fmt.Fprintf(&text, "\tk8s.io/kubernetes/cmd/%s\n", program)
		}
	}
	fmt.Fprintf(&text, ")\n\nrequire k8s.io/kubernetes %s\n\nreplace (\n", Version)
	for _, line := range stagingLine.FindAllSubmatch(own, -1) {
		fmt.Fprintf(&text, "\t%s => %s %s\n", line[1], line[1], staging(Version))
	}
	text.WriteString(")\n")
	return text.String(), nil
}

func (b Builder) run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-buildvcs=false -mod=mod")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		text := errs.String()
		return nil, fmt.Errorf("%s %s: %w: %s", name, args[0], err, text[max(0, len(text)-2000):])
	}
	return out.Bytes(), nil
}
