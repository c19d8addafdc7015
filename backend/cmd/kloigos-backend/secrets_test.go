package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/store"
)

// sshHost is an sshd of the test's own, with this user, as a host.
func sshHost(t *testing.T, authorizedKey string) (port int) {
	t.Helper()
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		t.Skip("sshd is needed as a host (Debian: apt-get install openssh-server)")
	}
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", dir+"/host_key").CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v %s", err, out)
	}
	config := fmt.Sprintf("ListenAddress 127.0.0.1:%d\nHostKey %s/host_key\nAuthorizedKeysFile %[2]s/authorized_keys\nPidFile none\nUsePAM no\nStrictModes no\n"+
		"PermitRootLogin prohibit-password\nPasswordAuthentication no\nUseDNS no\n", port, dir)
	for name, content := range map[string]string{"sshd_config": config, "authorized_keys": authorizedKey + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		_ = os.MkdirAll("/run/sshd", 0o755)
	}
	cmd := exec.Command(sshd, "-D", "-e", "-f", dir+"/sshd_config")
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "sshd listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return port
}

// webapp builds and starts the web app before the backend.
func webapp(t *testing.T, apiURL string) (at string, log *lockedBuffer, process *os.Process) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "kloigos-webapp")
	if out, err := exec.Command("go", "build", "-o", program, "kloigos/webapp/cmd/kloigos-webapp").CombinedOutput(); err != nil {
		t.Fatalf("build the web app: %v %s", err, out)
	}
	log = &lockedBuffer{}
	cmd := exec.Command(program)
	cmd.Env = []string{"KLOIGOS_API_URL=" + apiURL, "KLOIGOS_WEB_LISTEN=127.0.0.1:0", "KLOIGOS_WEB_INSECURE_COOKIE=true"}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGQUIT); _ = cmd.Wait() })
	address := regexp.MustCompile(`"address":"([^"]+)"`)
	eventually(t, "the web app serves", func() bool {
		m := address.FindStringSubmatch(log.String())
		if m != nil {
			at = "http://" + m[1]
		}
		return m != nil
	})
	return at, log, cmd.Process
}

// Real processes with a canary in every secret, hosts that fail in three ways
// with a real Ansible, and a crash: no canary is in the database, in an answer,
// a log, an event, a process's arguments or environment, a file that is left,
// or in what a crash prints.
func TestSecretsAreNowhere(t *testing.T) {
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("ansible-playbook is not on the PATH (Debian: apt-get install ansible)")
	}
	began := time.Now()
	root, err := os.MkdirTemp("/dev/shm", "ks")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	p := start(t, "KLOIGOS_LOG_LEVEL=debug", "KLOIGOS_RUN_ROOT="+root, "KLOIGOS_LEASE=10s")
	c := &canaries{t: t, forms: map[string][]string{}, found: map[string]bool{}}
	p.fillCanaries(c)
	web, webLog, webProcess := webapp(t, p.url)
	p.useEverySecret(c, web)

	stop := p.watch(c, root)
	p.failInThreeWays(t)
	stop()
	p.readEverything(c)
	p.dumpDatabase(c)
	c.look("the log of the backend", p.log.String())
	c.look("the log of the web app", webLog.String())

	// A crash, with a play under way.
	if limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", p.cmd.Process.Pid)); err != nil || !regexp.MustCompile(`Max core file size +0 +0`).Match(limits) {
		t.Errorf("a crash may write a core file: %v\n%s", err, limits)
	}
	if info, err := os.Stat(fmt.Sprintf("/proc/%d/environ", p.cmd.Process.Pid)); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("the backend's environment and memory can be read by its own user, so by every play that it runs: %v", err)
	}
	if status, answer := p.do(http.MethodPost, "/hosts/fine/probe", nil); status != http.StatusAccepted {
		t.Fatalf("ask for another probe: %d %s", status, answer)
	}
	// Not before its supervisor is there: what a backend leaves that dies earlier than that, the next one sweeps.
	eventually(t, "a play runs", func() bool {
		processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		return slices.ContainsFunc(processes, func(file string) bool {
			line, _ := os.ReadFile(file)
			return strings.Contains(string(line), "ansible-playbook") && strings.Contains(string(line), root)
		})
	})
	_ = p.stop(syscall.SIGQUIT)
	_ = webProcess.Signal(syscall.SIGQUIT)
	eventually(t, "the web app tells its goroutines", func() bool { return strings.Contains(webLog.String(), "goroutine ") })
	if !strings.Contains(p.log.String(), "goroutine ") {
		t.Error("the crash printed nothing: this test would show nothing")
	}
	c.look("what a crash of the backend prints", p.log.String())
	c.look("what a crash of the web app prints", webLog.String())
	eventually(t, "what the plays had is gone", func() bool {
		left, err := filepath.Glob(filepath.Join(root, "r-*"))
		return err == nil && len(left) == 0
	})
	lookAtFiles(c, began, filepath.Dir(p.keyset))
}

// fillCanaries names every secret of the installation.
func (p *process) fillCanaries(c *canaries) {
	p.t.Helper()
	c.add("the administrator's password", p.password)
	c.add("a session's token", p.token)
	raw, err := os.ReadFile(p.keyset)
	if err != nil {
		p.t.Fatal(err)
	}
	var set struct {
		Key []struct{ KeyData struct{ Value string } }
	}
	if err := json.Unmarshal(raw, &set); err != nil || len(set.Key) != 1 {
		p.t.Fatalf("the keyset: %v", err)
	}
	key, err := base64.StdEncoding.DecodeString(set.Key[0].KeyData.Value)
	if err != nil || len(key) < 32 {
		p.t.Fatalf("the keyset's key: %v", err)
	}
	c.add("the keyset", string(key[len(key)-32:])) // behind what frames it
	keyset, err := secret.Load(p.keyset)
	if err != nil {
		p.t.Fatal(err)
	}
	db, err := store.Open(p.t.Context(), p.database)
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	sealed, err := db.OrganizationKey(p.t.Context(), domain.DefaultOrganization)
	if err != nil {
		p.t.Fatal(err)
	}
	private, err := keyset.Open(sealed.PrivateSealed, domain.DefaultOrganization.String())
	if err != nil {
		p.t.Fatal(err)
	}
	// The second half of the PEM: the first has the public key in it as well.
	lines := strings.Split(strings.TrimSpace(string(private)), "\n")
	for i, line := range lines[len(lines)/2 : len(lines)-1] {
		if len(line) >= 20 {
			c.add("the organization's private key, line "+strconv.Itoa(i), line)
		}
	}
	u, err := url.Parse(p.database)
	if err != nil {
		p.t.Fatal(err)
	}
	if password, ok := u.User.Password(); ok && len(password) >= 8 {
		c.add("the database's password", password)
	}
}

// useEverySecret logs in, rightly and wrongly, through the API and the web app,
// and sends secrets where they do not belong.
func (p *process) useEverySecret(c *canaries, web string) {
	p.t.Helper()
	const typed = "typed-in-the-wrong-place-0451"
	c.add("a password that was typed wrongly", typed)
	status, body := p.do(http.MethodPost, "/tokens", api.CreateToken{Name: "ci", Days: 1})
	var made api.Token
	if err := json.Unmarshal(body, &made); err != nil || status != http.StatusCreated {
		p.t.Fatalf("make a token: %d %s", status, body)
	}
	c.add("an API token", made.Token)
	for _, wrong := range []any{
		api.Login{Account: "admin", Password: typed},
		map[string]any{"account": "admin", "password": []string{typed}},
		map[string]any{"account": 7, "password": typed},
		map[string]any{"account": "admin", "password": typed + strings.Repeat("x", 2000)},
		map[string]any{"account": "admin", "password": typed, "pass": typed},
		`{"account":"admin","password":"` + typed, `{"account":"admin","password":"` + typed + `\ud800"}`, `{"password":"` + typed + `","password":"` + typed + `"}`,
	} {
		status, answer := p.do(http.MethodPost, "/sessions", wrong)
		if status < 400 {
			p.t.Errorf("logged in with %v", wrong)
		}
		c.look("a problem", string(answer))
	}
	for _, path := range []string{"/hosts?search=" + p.token + "x", "/hosts?cursor=" + p.token, "/jobs?host=" + p.token} {
		_, answer := p.do(http.MethodGet, path, nil)
		c.look("the answer to a query", string(answer))
	}
	form := func(cookie, path string, values url.Values) (*http.Response, string) {
		req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, web+path, strings.NewReader(values.Encode()))
		if values == nil {
			req, err = http.NewRequestWithContext(p.t.Context(), http.MethodGet, web+path, http.NoBody)
		}
		if err != nil {
			p.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.Header.Set("Cookie", cookie)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			p.t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		page, _ := io.ReadAll(resp.Body)
		return resp, string(page)
	}
	_, page := form("", "/login", url.Values{"account": {"admin"}, "password": {typed}})
	c.look("the page of a refused login", page)
	resp, page := form("", "/login", url.Values{"account": {"admin"}, "password": {p.password}})
	c.look("the answer to a login", page+resp.Header.Get("Location"))
	cookies := resp.Cookies()
	if len(cookies) != 1 {
		p.t.Fatalf("no session in the web app: %d %s", resp.StatusCode, page)
	}
	c.add("a session's token in the web app", cookies[0].Value)
	for _, path := range []string{"/", "/hosts", "/tokens", "/system", "/events", "/jobs", "/nothing", "/hosts/nothing"} {
		_, page := form(cookies[0].Name+"="+cookies[0].Value, path, nil)
		c.look("the page "+path, page)
	}
}

// failInThreeWays has hosts probed: one that does not answer, one that refuses
// the key, one whose login works and whose Python does not.
func (p *process) failInThreeWays(t *testing.T) {
	t.Helper()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := closed.Addr().(*net.TCPAddr).Port
	_ = closed.Close()
	known := p.register(t, "closed", dead)
	ports := map[string]int{
		"refusing": sshHost(t, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ"),
		"failing":  sshHost(t, `command="echo {{ 7*7 }} no python here >&2; exit 3" `+known.AuthorizedKey),
		"fine":     sshHost(t, known.AuthorizedKey),
	}
	for name, port := range ports {
		p.register(t, name, port)
	}
	ends := map[string]string{}
	for name := range ports {
		eventually(t, "the probe of "+name+" ends", func() bool {
			_, body := p.do(http.MethodGet, "/jobs?limit=100", nil)
			var jobs api.Page[api.Job]
			if err := json.Unmarshal(body, &jobs); err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs.Items {
				if j.Host == name && (j.FinishedAt != nil || j.Failures > 0) {
					ends[name] = j.State
					if j.Error != nil {
						ends[name] += " " + j.Error.Code
					}
				}
			}
			return ends[name] != ""
		})
	}
	t.Logf("ends: %v", ends)
	for name := range map[string]int{"refusing": 0, "failing": 0} {
		if strings.HasPrefix(ends[name], "succeeded") {
			t.Errorf("%s: %s", name, ends[name])
		}
	}
}

func (p *process) register(t *testing.T, name string, port int) api.Host {
	t.Helper()
	me := "root"
	if os.Geteuid() != 0 {
		me = os.Getenv("USER")
	}
	status, body := p.do(http.MethodPost, "/hosts", api.RegisterHost{Name: name, Address: "127.0.0.1", Port: port, AdminUser: me, TrustOnFirstUse: true})
	var host api.Host
	if err := json.Unmarshal(body, &host); err != nil || status != http.StatusAccepted {
		t.Fatalf("register %s: %d %s", name, status, body)
	}
	return host
}
