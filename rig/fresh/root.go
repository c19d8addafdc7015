package fresh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"kloigos/rig/testhost"
)

// plan is all that the work needs to know, read on the machine before the namespaces are entered.
type plan struct {
	Dir      string
	Source   string
	Commit   string
	GoRoot   string
	Sources  string            // apt's sources
	Apt      string            // how apt reaches them: proxies, certificates, dates
	Env      map[string]string // how Go and npm reach their registries
	Binds    map[string]string // directories of the machine, by their places in the root
	User     bool
	Commands []Command
}

// newPlan reads how this machine reaches Debian's archive, the module proxy and npm's registry. An administrator gives a new
// machine the same; nothing else of this machine comes into the root.
func newPlan(ctx context.Context, o Options, dir string) (plan, error) {
	p := plan{Dir: dir, User: o.User, Commands: o.Commands, Env: make(map[string]string), Binds: make(map[string]string)}
	var err error
	if p.Source, err = filepath.Abs(o.Source); err != nil {
		return p, fmt.Errorf("find the source tree: %w", err)
	}
	git := func(args ...string) (string, error) {
		return output(ctx, "git", append([]string{"-c", "safe.directory=*", "-C", p.Source}, args...)...)
	}
	if p.Commit, err = git("rev-parse", "HEAD"); err != nil {
		return p, err
	}
	if changed, err := git("status", "--porcelain"); err == nil && changed != "" {
		fmt.Printf("Only what is committed is cloned; not part of it:\n%s\n", changed)
	}
	if p.GoRoot, err = output(ctx, "go", "env", "GOROOT"); err != nil {
		return p, err
	}
	recipe, err := testhost.NewRecipe()
	if err != nil {
		return p, fmt.Errorf("read this machine's sources of packages: %w", err)
	}
	p.Sources = recipe.Sources
	p.Apt, err = aptSettings(ctx)
	if err != nil {
		return p, err
	}
	if o.Images != "" {
		p.Binds[filepath.Join(p.home(), ".cache", "kloigos")] = o.Images
	}
	if o.Caches {
		for place, name := range map[string]string{"go/pkg/mod": "GOMODCACHE", ".cache/go-build": "GOCACHE"} {
			if p.Binds[filepath.Join(p.home(), place)], err = output(ctx, "go", "env", name); err != nil {
				return p, err
			}
		}
	}
	return p, p.readEnvironment(ctx)
}

// aptSettings are the settings of apt that begin with Acquire: proxies and the like.
func aptSettings(ctx context.Context) (string, error) {
	dump, err := output(ctx, "apt-config", "dump")
	if err != nil {
		return "", err
	}
	var settings strings.Builder
	for line := range strings.Lines(dump) {
		if strings.HasPrefix(line, "Acquire::") && !strings.HasPrefix(line, "Acquire::IndexTargets") {
			settings.WriteString(line)
		}
	}
	return settings.String(), nil
}

// readEnvironment reads the proxies, and what differs from Go's and npm's defaults in where modules come from.
func (p *plan) readEnvironment(ctx context.Context) error {
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		if value := os.Getenv(name); value != "" {
			p.Env[name] = value
		}
	}
	text, err := output(ctx, "go", "env", "-changed", "-json")
	if err != nil {
		return err
	}
	changed := make(map[string]string)
	if err := json.Unmarshal([]byte(text), &changed); err != nil {
		return fmt.Errorf("read go env: %w", err)
	}
	for _, name := range []string{"GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "GOINSECURE"} {
		if value, ok := changed[name]; ok {
			p.Env[name] = value
		}
	}
	const public = "https://registry.npmjs.org/"
	if registry, err := output(ctx, "npm", "config", "get", "registry"); err == nil && registry != public {
		p.Env["npm_config_registry"] = registry
	}
	return nil
}

// The places in the root.
const (
	goPlace   = "/usr/local/go"
	userName  = "dev"
	userID    = 1000
	cloneName = "kloigos"
)

func (p *plan) home() string {
	if p.User {
		return "/home/" + userName
	}
	return "/root"
}

func (p *plan) root() string                    { return filepath.Join(p.Dir, "root") }
func (p *plan) pathInRoot(inside string) string { return filepath.Join(p.root(), inside) }
func (p *plan) clone() string                   { return filepath.Join(p.home(), cloneName) }

func (p *plan) work() error {
	ctx := context.Background()
	for _, s := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"a bare Debian 12", p.bootstrap},
		{"what the machine's network needs", p.network},
		{"mounts", p.mount},
		{"a clone of " + p.Commit, p.checkOut},
		{"the root becomes /", p.enter},
	} {
		if err := stage(s.name, func() error { return s.do(ctx) }); err != nil {
			return err
		}
	}
	for _, command := range p.Commands {
		name := command.Line
		if command.Until != "" {
			name += ", until " + command.Until
		}
		if err := stage(name, func() error { return p.run(command) }); err != nil {
			return err
		}
	}
	return nil
}

// bootstrap makes the smallest root that Debian has. A user who may become root needs sudo.
func (p *plan) bootstrap(ctx context.Context) error {
	sources := filepath.Join(p.Dir, "debian.sources")
	if err := os.WriteFile(sources, []byte(p.Sources), 0o600); err != nil {
		return fmt.Errorf("write the sources: %w", err)
	}
	settings := filepath.Join(p.Dir, "apt.conf")
	if err := os.WriteFile(settings, []byte(p.Apt), 0o600); err != nil {
		return fmt.Errorf("write apt's settings: %w", err)
	}
	args := []string{"--quiet", "--mode=root", "--variant=minbase", "--aptopt=" + settings, `--aptopt=Acquire::Retries "3"`}
	if p.User {
		args = append(args, "--include=sudo")
	}
	cmd := exec.CommandContext(ctx, "mmdebstrap", append(args, "bookworm", p.root(), sources)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mmdebstrap: %w\n%s", err, text)
	}
	// Nobody keeps this root, so its packages need not be forced to the disk one by one.
	if err := os.WriteFile(p.pathInRoot("/etc/dpkg/dpkg.cfg.d/fresh"), []byte("force-unsafe-io\n"), 0o644); err != nil {
		return fmt.Errorf("write dpkg's settings: %w", err)
	}
	if !p.User {
		return nil
	}
	if err := p.inside(ctx, "useradd", "--create-home", "--uid", strconv.Itoa(userID), "--user-group", "--shell", "/bin/bash", userName); err != nil {
		return err
	}
	return os.WriteFile(p.pathInRoot("/etc/sudoers.d/"+userName), []byte(userName+" ALL=(ALL:ALL) NOPASSWD: ALL\n"), 0o440)
}

// network gives the root the machine's names and the certificate authorities that were added to Debian's.
func (p *plan) network(context.Context) error {
	for _, file := range []string{"/etc/resolv.conf", "/etc/hosts"} {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		if file == "/etc/hosts" {
			text = append(text, "127.0.1.1 "+hostName+"\n"...) // Debian's installer does so, and sudo asks for it
		}
		if err := os.WriteFile(p.pathInRoot(file), text, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
	}
	const authorities = "/usr/local/share/ca-certificates"
	if err := os.MkdirAll(p.pathInRoot(filepath.Dir(authorities)), 0o755); err != nil {
		return fmt.Errorf("make the directory of the authorities: %w", err)
	}
	if err := os.CopyFS(p.pathInRoot(authorities), os.DirFS(authorities)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("copy the authorities: %w", err)
	}
	return nil
}

// mount gives the root the kernel's file systems and Go, which is read-only.
func (p *plan) mount(context.Context) error {
	// A mount of its own, so that it can become the root.
	if err := syscall.Mount(p.root(), p.root(), "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount the root: %w", err)
	}
	const plain = syscall.MS_NOSUID | syscall.MS_NODEV
	for _, m := range []struct {
		source, inside, kind string
		flags                uintptr
		data                 string
	}{
		{"proc", "/proc", "proc", plain | syscall.MS_NOEXEC, ""},
		{"/sys", "/sys", "", syscall.MS_BIND | syscall.MS_REC, ""},
		{"/dev", "/dev", "", syscall.MS_BIND | syscall.MS_REC, ""},
		{"devpts", "/dev/pts", "devpts", syscall.MS_NOSUID | syscall.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620,gid=5"},
		{"tmpfs", "/dev/shm", "tmpfs", plain, "mode=1777"},
		{"tmpfs", "/run", "tmpfs", plain, "mode=755"},
		{p.GoRoot, goPlace, "", syscall.MS_BIND, ""},
		{p.GoRoot, goPlace, "", syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY, ""},
	} {
		if err := os.MkdirAll(p.pathInRoot(m.inside), 0o755); err != nil {
			return fmt.Errorf("make %s: %w", m.inside, err)
		}
		if err := syscall.Mount(m.source, p.pathInRoot(m.inside), m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("mount %s: %w", m.inside, err)
		}
	}
	for place, source := range p.Binds {
		fmt.Printf("Bound into the root: %s, as %s\n", source, place)
		if err := os.MkdirAll(p.pathInRoot(place), 0o755); err != nil {
			return fmt.Errorf("make %s: %w", place, err)
		}
		if err := syscall.Mount(source, p.pathInRoot(place), "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s: %w", place, err)
		}
	}
	return nil
}

// checkOut clones the commit with the machine's git: the root has none.
func (p *plan) checkOut(ctx context.Context) error {
	place := p.pathInRoot(p.clone())
	if _, err := output(ctx, "git", "-c", "safe.directory=*", "clone", "--quiet", "--no-hardlinks", "--no-checkout", p.Source, place); err != nil {
		return err
	}
	if _, err := output(ctx, "git", "-C", place, "checkout", "--quiet", "--detach", p.Commit); err != nil {
		return err
	}
	if !p.User {
		return nil
	}
	return p.inside(ctx, "chown", "-R", userName+":", p.home())
}

// enter makes the bare root the root of this process and its children. In a mere chroot nobody may make namespaces.
func (p *plan) enter(context.Context) error {
	const old = "/old"
	if err := os.Mkdir(p.pathInRoot(old), 0o700); err != nil {
		return fmt.Errorf("make a place for the old root: %w", err)
	}
	if err := syscall.PivotRoot(p.root(), p.pathInRoot(old)); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("go to the new root: %w", err)
	}
	if err := syscall.Unmount(old, syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the old root: %w", err)
	}
	return os.Remove(old)
}

// inside runs a program in the root before it becomes the root.
func (p *plan) inside(ctx context.Context, name string, args ...string) error {
	_, err := output(ctx, "chroot", append([]string{p.root(), name}, args...)...)
	return err
}
