package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kloigos/backend/api"
)

const (
	oldPackages, newPackages = "1.0.0", "1.1.0"
	packageFolder            = "/var/tmp/kloigos-check-packages"
	packageHost              = "packaged"
	packageNames             = "kloigos kloigos-agent kloigos-backend kloigos-webapp"
	keptSettings             = "grep -h -e ^KLOIGOS_WORKERS -e ^KLOIGOS_WEB_LISTEN /etc/kloigos/backend.env /etc/kloigos/webapp.env; cat /etc/kloigos/keyset.json"
)

// PackageChecks are those of the Debian packages, on a machine that is no host yet.
func (i *Installation) PackageChecks() []Check {
	c := &checker{i: i}
	return []Check{
		{"packages: installed in the VM, they tell of init, and start nothing", c.packagesInstalled},
		{"packages: a web app and an agent of them work", c.packagesWork},
		{"packages: upgraded from the version before, settings stay, what runs is the new one, and the backend waits for init", c.packagesUpgraded},
		{"packages: removed and purged, no unit and no setting is left but the keyset and the users", c.packagesPurged},
	}
}

// givenBack gives back what is allocated and takes Kloigos off the host.
func (c *checker) givenBack(ctx context.Context) error {
	if err := c.deallocateAll(ctx); err != nil {
		return err
	}
	_, job, err := c.i.Client.DecommissionHost(ctx, c.i.Host.ID)
	if err != nil {
		return fmt.Errorf("decommission: %w", err)
	}
	if err := c.i.follow(ctx, job); err != nil {
		return err
	}
	if err := c.i.refresh(ctx); err != nil {
		return err
	}
	return c.root(ctx, "", "find /etc/systemd/system.control /run/systemd/system.control -name 'user*' 2>/dev/null; true")
}

// root runs commands as root on the VM and compares what they print, line by line.
func (c *checker) root(ctx context.Context, want string, commands ...string) error {
	said, err := c.i.VM.Run(ctx, "sudo sh -c "+shellQuoted(strings.Join(commands, "\n")))
	if err != nil {
		return err
	}
	if said = strings.TrimSpace(said); said != want {
		return fmt.Errorf("%s says:\n%s\nand not:\n%s", commands[0], said, want)
	}
	return nil
}

// install makes the packages of a version, brings them to the VM and installs them there. What they depend on is not in the VM,
// which has no mirror to wait for: that dependencies can be met is looked at in inventory/debian.
func (c *checker) install(ctx context.Context, version string) (said string, err error) {
	made := exec.CommandContext(ctx, "./task", "package", "ARCHES=amd64", "VERSION="+version)
	made.Dir = c.i.options.Root
	if said, err := made.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make the packages: %w\n%s", err, said)
	}
	files, err := filepath.Glob(filepath.Join(c.i.options.Root, "dist", "*_"+version+"_amd64.deb"))
	if err != nil || len(files) != 4 {
		return "", fmt.Errorf("the packages are %v: %w", files, err)
	}
	for _, file := range files {
		if err := c.bring(ctx, file, packageFolder+"/"+filepath.Base(file)); err != nil {
			return "", err
		}
	}
	return c.i.VM.Run(ctx, "sudo sh -ec 'export DEBIAN_FRONTEND=noninteractive LC_ALL=C; dpkg --force-depends --install "+packageFolder+"/*_"+version+"_amd64.deb; rm -r "+packageFolder+"'")
}

// bring puts a file into the VM, readable for all.
func (c *checker) bring(ctx context.Context, from, to string) error {
	file, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("bring a file: %w", err)
	}
	defer func() { _ = file.Close() }()
	ssh := exec.CommandContext(ctx, "ssh", c.i.VM.SSHArgs("sudo sh -ec 'mkdir -p "+filepath.Dir(to)+"; cat >"+to+"; chmod 0644 "+to+"'")...)
	ssh.Stdin = file
	if said, err := ssh.CombinedOutput(); err != nil {
		return fmt.Errorf("bring %s: %w: %s", filepath.Base(from), err, said)
	}
	return nil
}

// tells fails where an installation says nothing of what is to be done.
func tells(said string, words ...string) error {
	for _, word := range words {
		if !strings.Contains(said, word) {
			return fmt.Errorf("it does not tell of %q:\n%s", word, said)
		}
	}
	return nil
}

const packageUnits = "kloigos-backend.service kloigos-webapp.service kloigos-agent.service kloigos-agent-read.socket kloigos-agent-update.path"

func (c *checker) packagesInstalled(ctx context.Context) error {
	said, err := c.install(ctx, oldPackages)
	if err != nil {
		return err
	}
	c.packages = oldPackages
	return errors.Join(
		tells(said, "kloigos-backend init", "systemctl enable --now kloigos-webapp", "kloigos agent token"),
		c.root(ctx, strings.TrimSpace(strings.Repeat("disabled\n", 5)), "systemctl is-enabled "+packageUnits+"; true"),
		c.root(ctx, "", "systemctl list-units --plain --no-legend --state=active,failed,activating 'kloigos*'"),
		c.root(ctx, "kloigos\nkloigos-agent", "grep -o '^kloigos[^:]*' /etc/passwd | sort"),
		c.root(ctx, "750 root:kloigos /etc/kloigos\n600 root:root /etc/kloigos/backend.env\n700 kloigos-agent:kloigos-agent /var/lib/kloigos-agent",
			"stat -c '%a %U:%G %n' /etc/kloigos /etc/kloigos/backend.env /var/lib/kloigos-agent"),
		c.root(ctx, "kloigos-backend cuts Linux hosts into compute units and hands them out.", "kloigos-backend help | head -1"),
		c.root(ctx, "0", "kloigos --help >/dev/null; echo $?"),
		c.root(ctx, "", "ls -d /etc/kloigos/keyset.json 2>/dev/null; true"), // init was not run
	)
}

// packagesWork starts the web app and the agent as the packages tell, and has both talk to the installation.
func (c *checker) packagesWork(ctx context.Context) error {
	if c.packages == "" {
		return errNoGround
	}
	if err := c.bring(ctx, c.i.CAFile, "/usr/local/share/kloigos-check-ca.crt"); err != nil {
		return err
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(c.i.Web, "https://"), ":")
	origin := "https://" + machineGateway + ":" + port
	const ca = "/usr/local/share/kloigos-check-ca.crt"
	if err := c.root(ctx, "", "set -e", "echo KLOIGOS_API_URL="+origin+" >>/etc/kloigos/webapp.env", "echo SSL_CERT_FILE="+ca+" >>/etc/kloigos/webapp.env",
		"echo KLOIGOS_WEB_LISTEN=127.0.0.1:8090 >>/etc/kloigos/webapp.env", "echo KLOIGOS_WORKERS=3 >>/etc/kloigos/backend.env", "echo secret >/etc/kloigos/keyset.json",
		"systemctl --quiet enable --now kloigos-webapp"); err != nil {
		return err
	}
	if err := c.webappAnswers(ctx); err != nil {
		return err
	}
	if err := c.i.registerAs(ctx, api.RegisterHost{
		Name: packageHost, Address: c.i.VM.SSHHost, Port: c.i.VM.SSHPort, AdminUser: c.i.VM.User, HostKey: c.i.VM.HostKey, Region: "demo", Zone: "a", Profile: "minimal",
	}); err != nil {
		return err
	}
	token, err := c.i.Client.CreateAgentToken(ctx, api.CreateAgentToken{Host: packageHost})
	if err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	if err := c.root(ctx, "", "set -e", "echo KLOIGOS_AGENT_URL="+origin+" >>/etc/kloigos-agent/agent.env", "echo KLOIGOS_AGENT_CA_FILE="+ca+" >>/etc/kloigos-agent/agent.env",
		"install -m 0600 -o kloigos-agent -g kloigos-agent /dev/null /var/lib/kloigos-agent/token", "echo "+token.Token+" >/var/lib/kloigos-agent/token",
		"systemctl --quiet enable --now kloigos-agent-read.socket kloigos-agent-update.path kloigos-agent.service"); err != nil {
		return err
	}
	return c.packagedAgentOnTime(ctx, time.Now())
}

// webappAnswers asks for a page that the web app makes of what a backend says.
func (c *checker) webappAnswers(ctx context.Context) error {
	ask := `python3 -c "import urllib.request; print(\"password\" in urllib.request.urlopen(\"http://127.0.0.1:8090/login\", timeout=30).read().decode())"`
	return until(ctx, time.Minute, func(ctx context.Context) (bool, string, error) {
		state := ""
		if err := c.root(ctx, "True", ask); err != nil {
			state = err.Error()
		}
		return state == "", state, nil
	})
}

// packagedAgentOnTime waits for a heartbeat after a time.
func (c *checker) packagedAgentOnTime(ctx context.Context, after time.Time) error {
	return until(ctx, deliveredWithin, func(ctx context.Context) (bool, string, error) {
		page, err := c.i.Client.ListAgents(ctx, api.AgentFilter{Host: packageHost})
		if err != nil {
			return false, "", fmt.Errorf("list agents: %w", err)
		}
		for _, a := range page.Items {
			if a.State == "enrolled" && a.Liveness == "on_time" && a.ReceivedAt != nil && a.ReceivedAt.After(after) {
				return true, "", nil
			}
		}
		return false, fmt.Sprintf("its agents are %+v", page.Items), nil
	})
}

const packagePIDs = "systemctl show --value --property=MainPID kloigos-webapp.service kloigos-agent.service"

func (c *checker) packagesUpgraded(ctx context.Context) error {
	if c.packages == "" {
		return errNoGround
	}
	before, err := c.i.VM.Run(ctx, packagePIDs)
	if err != nil {
		return err
	}
	said, err := c.install(ctx, newPackages)
	if err != nil {
		return err
	}
	upgraded := time.Now()
	after, err := c.i.VM.Run(ctx, packagePIDs)
	if err != nil {
		return err
	}
	old, now := strings.Fields(before), strings.Fields(after)
	if len(old) != 2 || len(now) != 2 || old[0] == now[0] || old[1] == now[1] || now[0] == "0" || now[1] == "0" {
		return fmt.Errorf("the processes of web app and agent were %v and are %v", old, now)
	}
	return errors.Join(
		tells(said, "the running backend is still the old one", "kloigos-backend init"),
		c.root(ctx, "kloigos 1.1.0 ii\nkloigos-agent 1.1.0 ii\nkloigos-backend 1.1.0 ii\nkloigos-webapp 1.1.0 ii",
			"dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\\n' 'kloigos*' | sed 's/ *$//'"),
		c.root(ctx, "KLOIGOS_WORKERS=3\nKLOIGOS_WEB_LISTEN=127.0.0.1:8090\nsecret", keptSettings),
		c.root(ctx, "disabled\ninactive", "systemctl is-enabled kloigos-backend; systemctl is-active kloigos-backend; true"),
		c.webappAnswers(ctx),
		c.packagedAgentOnTime(ctx, upgraded),
	)
}

func (c *checker) packagesPurged(ctx context.Context) error {
	if c.packages == "" {
		return errNoGround
	}
	said, err := c.i.VM.Run(ctx, "sudo sh -ec 'dpkg --remove "+packageNames+"; ls /etc/kloigos; dpkg --purge "+packageNames+"; rm -f /usr/local/share/kloigos-check-ca.crt' 2>&1")
	if err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return errors.Join(
		tells(said, "backend.env\nkeyset.json\nwebapp.env", "/etc/kloigos/keyset.json is left"),
		c.root(ctx, "", "systemctl list-unit-files --no-legend 'kloigos*'; systemctl list-units --all --plain --no-legend 'kloigos*'"),
		c.root(ctx, "", "pgrep --list-full kloigos; true"),
		c.root(ctx, "/etc/kloigos\n/etc/kloigos/keyset.json", "find /etc /usr /var/lib -xdev -path '*kloigos*' ! -path '/var/lib/dpkg/*' | sort"),
		c.root(ctx, "kloigos\nkloigos-agent", "grep -o '^kloigos[^:]*' /etc/passwd | sort"), // their files may lie elsewhere
		c.root(ctx, "", "rm -r /etc/kloigos; dpkg-query -W -f '${Package}\\n' 'kloigos*' 2>/dev/null; true"),
	)
}
