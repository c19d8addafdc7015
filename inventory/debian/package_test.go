//go:build package

package debian

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bare is a Debian 12 with what is essential, apt, and the packages that ours depend on.
type bare struct {
	t    *testing.T
	root string
}

func run(ctx context.Context, t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, said)
	}
	return string(said)
}

func (b bare) do(script string) string {
	b.t.Helper()
	return strings.TrimSpace(run(b.t.Context(), b.t, "chroot", b.root, "/bin/sh", "-ec", script))
}

func (b bare) want(script, want string) {
	b.t.Helper()
	if got := b.do(script); got != want {
		b.t.Errorf("%s:\n%s\nwant:\n%s", script, got, want)
	}
}

// install hands packages of a version to apt's part that does the work.
func (b bare) install(version string) string {
	b.t.Helper()
	return b.do("dpkg --install /packages/*_" + version + "_amd64.deb")
}

// Installed, upgraded, removed and purged: settings that were changed stay until the purge, the keyset for ever, and nothing else is left.
func TestPackages(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("a bare root can only be made by root")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 18*time.Minute)
	defer cancel()
	for _, version := range []string{"1.0.0", "1.1.0"} {
		cmd := exec.CommandContext(ctx, "./task", "package", "ARCHES=amd64", "VERSION="+version)
		cmd.Dir = "../.."
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	b := bare{t: t, root: filepath.Join(t.TempDir(), "root")}
	run(ctx, t, "mmdebstrap", "--quiet", "--variant=apt", "--include=ansible,bubblewrap,openssh-client,ca-certificates,systemd,passwd", "bookworm", b.root)
	if err := os.Mkdir(filepath.Join(b.root, "packages"), 0o755); err != nil {
		t.Fatal(err)
	}
	made, err := filepath.Glob("../../dist/*_1.[01].0_amd64.deb")
	if err != nil || len(made) != 8 {
		t.Fatalf("%v, %v", made, err)
	}
	for _, file := range made {
		run(ctx, t, "cp", file, filepath.Join(b.root, "packages"))
	}
	const files = "find /etc /usr /var/lib /lib -xdev -name '*kloigos*' ! -path '/var/lib/dpkg/*' | sort"
	accounts := "grep -c '^kloigos' /etc/passwd || true"
	b.want(files, "")
	said := b.install("1.0.0")
	for _, told := range []string{"kloigos-backend init", "systemctl enable --now kloigos-webapp", "kloigos agent token"} {
		if !strings.Contains(said, told) {
			t.Errorf("the installation does not tell of %q:\n%s", told, said)
		}
	}
	// Programs run, settings are where the units look for them, and nothing was enabled.
	b.want("kloigos-backend help | head -1", "kloigos-backend cuts Linux hosts into compute units and hands them out.")
	b.do("kloigos --help; kloigos-webapp --help; /usr/lib/kloigos-agent/kloigos-agent version; bash -n /usr/share/bash-completion/completions/kloigos")
	b.want("stat -c '%a %U:%G %n' /etc/kloigos /etc/kloigos/* /etc/kloigos-agent/agent.env /var/lib/kloigos-agent /usr/lib/kloigos/*", strings.Join([]string{
		"750 root:kloigos /etc/kloigos", "600 root:root /etc/kloigos/backend.env", "644 root:root /etc/kloigos/webapp.env",
		"644 root:root /etc/kloigos-agent/agent.env", "700 kloigos-agent:kloigos-agent /var/lib/kloigos-agent",
		"755 root:root /usr/lib/kloigos/kloigos-agent-amd64", "755 root:root /usr/lib/kloigos/kloigos-agent-arm64",
	}, "\n"))
	b.want("find /etc/systemd -name '*kloigos*'", "")
	b.want("systemd-analyze verify --man=no --recursive-errors=no /usr/lib/systemd/system/kloigos*.service 2>&1 | grep kloigos || true", "")
	b.want(accounts, "2")

	b.do("echo KLOIGOS_WORKERS=3 >> /etc/kloigos/backend.env; echo secret > /etc/kloigos/keyset.json; echo key > /var/lib/kloigos-agent/key")
	if said := b.install("1.1.0"); !strings.Contains(said, "the running backend is still the old one") {
		t.Errorf("the upgrade tells: %s", said)
	}
	b.want("dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\\n' 'kloigos*'", "kloigos 1.1.0 ii \nkloigos-agent 1.1.0 ii \nkloigos-backend 1.1.0 ii \nkloigos-webapp 1.1.0 ii")
	b.want("grep WORKERS /etc/kloigos/backend.env; cat /etc/kloigos/keyset.json /var/lib/kloigos-agent/key", "KLOIGOS_WORKERS=3\nsecret\nkey")

	b.do("dpkg --remove kloigos kloigos-agent kloigos-backend kloigos-webapp")
	b.want("grep WORKERS /etc/kloigos/backend.env; cat /etc/kloigos/keyset.json /var/lib/kloigos-agent/key", "KLOIGOS_WORKERS=3\nsecret\nkey")
	b.want("ls /usr/bin/kloigos* /usr/lib/systemd/system/kloigos* 2>/dev/null || true", "")
	if said := b.do("dpkg --purge kloigos kloigos-agent kloigos-backend kloigos-webapp"); !strings.Contains(said, "/etc/kloigos/keyset.json is left") {
		t.Errorf("the purge tells: %s", said)
	}
	b.want(files, "/etc/kloigos")
	b.want("ls /etc/kloigos", "keyset.json")
	b.want(accounts, "2") // their files may lie elsewhere
}
