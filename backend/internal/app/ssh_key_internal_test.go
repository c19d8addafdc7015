package app

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/crypto/ssh"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamwork"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
	"kloigos/backend/internal/worker"
)

// door is a host's SSH server. It lets in whoever has one of the keys of its file.
type door struct {
	port int
	stop func()
	line string // its own key

	mu   sync.Mutex
	file []string // the words of authorized_keys that matter: type and base64
}

func newDoor(t *testing.T, keys ...string) *door {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{port: l.Addr().(*net.TCPAddr).Port, line: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))}
	d.add(keys...)
	cfg := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if !d.has(string(ssh.MarshalAuthorizedKey(k))) {
			return nil, errors.New("not in the file")
		}
		return nil, nil
	}}
	cfg.AddHostKey(signer)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				c, channels, requests, err := ssh.NewServerConn(conn, cfg)
				if err != nil {
					return
				}
				go ssh.DiscardRequests(requests)
				for ch := range channels {
					_ = ch.Reject(ssh.Prohibited, "logins only")
				}
				_ = c.Close()
			})
		}
	})
	d.stop = sync.OnceFunc(func() { _ = l.Close() })
	t.Cleanup(d.stop)
	return d
}

func words(line string) string { return strings.Join(strings.Fields(line)[:2], " ") }

func (d *door) add(lines ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range lines {
		if w := words(l); !slices.Contains(d.file, w) {
			d.file = append(d.file, w)
		}
	}
}

func (d *door) drop(lines ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range lines {
		d.file = slices.DeleteFunc(d.file, func(w string) bool { return w == words(l) })
	}
}

func (d *door) has(line string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.file, words(line))
}

// keySite is an installation with hosts that let in the keys of their files only.
type keySite struct {
	*site.Site
	keys  *secret.Keyset
	kinds *work.Registry
	pool  *pgxpool.Pool
	doors map[string]*door // by name
	hosts map[string]uuid.UUID
	first string // the first public key
	logIn func(ctx context.Context, host uuid.UUID, private []byte) error
}

func newKeySite(t *testing.T, hosts ...string) *keySite {
	t.Helper()
	kinds := &work.Registry{Bind: store.BindPlaybooks}
	if err := kinds.Add(iam.ScopeJobs(), []work.Kind{iam.ScopeDelete, iam.SSHKeyDeploy, iam.SSHKeyWithdraw}); err != nil {
		t.Fatal(err)
	}
	s := &keySite{Site: site.NewWith(t, intent.Config{Kinds: kinds}), kinds: kinds, doors: map[string]*door{}, hosts: map[string]uuid.UUID{}}
	var err error
	if s.keys, err = secret.Create(filepath.Join(t.TempDir(), "keyset.json")); err != nil {
		t.Fatal(err)
	}
	if s.pool, err = pgxpool.New(t.Context(), s.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pool.Close)
	public, sealed, err := iam.NewOrganizationKey(s.keys, domain.DefaultOrganization)
	if err != nil {
		t.Fatal(err)
	}
	s.first = public
	s.sql(`UPDATE organization_keys SET public_key = $1, private_sealed = $2`, public, sealed)
	for _, name := range hosts {
		d := newDoor(t, public)
		h := s.ReadyHost(site.HostSpec{Name: name, Port: d.port})
		s.doors[name], s.hosts[name] = d, h.ID
		s.sql(`UPDATE hosts SET host_key = $2 WHERE id = $1`, h.ID, d.line)
	}
	s.logIn = func(ctx context.Context, host uuid.UUID, private []byte) error {
		h, err := s.DB.Host(ctx, host)
		if err != nil {
			return err
		}
		return logIn(ctx, h, private, s.Policy)
	}
	s.Runner.HandleFunc("host_admin_key", s.play)
	s.Runner.HandleFunc("host_probe", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if refused := s.letsIn(p); refused != nil {
			return *refused, nil
		}
		return site.Play(ctx, p, sink, scripted.Script{ResultOf: func(host string) any { return site.Facts(host) }})
	})
	return s
}

// letsIn is how a play fails that a host does not let in; nil if it does.
func (s *keySite) letsIn(p ansible.Play) *ansible.Outcome {
	h := p.Hosts[0]
	signer, err := ssh.ParsePrivateKey(h.PrivateKey)
	if err == nil && s.doors[h.Name].has(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))) {
		return nil
	}
	return &ansible.Outcome{Failure: &ansible.Failure{Code: ansible.CodeLoginRefused, Host: h.Name, Message: fmt.Sprint("Permission denied (publickey). ", err)}}
}

// play does what the playbook does, on the file of a door.
func (s *keySite) play(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	if refused := s.letsIn(p); refused != nil {
		return *refused, nil
	}
	text, err := json.Marshal(p.Vars)
	var vars iamwork.AdminKeyVars
	if err == nil {
		err = json.Unmarshal(text, &vars)
	}
	if err != nil {
		return ansible.Outcome{}, err
	}
	d := s.doors[p.Hosts[0].Name]
	if len(vars.Add) > 0 && !slices.ContainsFunc(vars.Beside, d.has) {
		return ansible.Outcome{}, errors.New("the key that logged in is not among those that the new one goes beside")
	}
	d.add(vars.Add...)
	d.drop(vars.Drop...)
	return site.Play(ctx, p, sink, scripted.Script{})
}

func (s *keySite) sql(sql string, args ...any) {
	s.T.Helper()
	if _, err := s.pool.Exec(s.T.Context(), sql, args...); err != nil {
		s.T.Fatal(err)
	}
}

func (s *keySite) text(sql string, args ...any) (text string) {
	s.T.Helper()
	if err := s.pool.QueryRow(s.T.Context(), sql, args...).Scan(&text); err != nil {
		s.T.Fatal(err)
	}
	return text
}

func (s *keySite) jobs() iamwork.SSHKeys {
	w := worker.New(s.DB, s.Runner, s.keys, worker.Config{Name: "backend-1", Targets: s.Policy})
	return iamwork.SSHKeys{
		DB: s.DB.DB, Keys: s.keys, Kinds: s.kinds, AtOnce: 2, Pause: time.Nanosecond,
		LogIn: func(ctx context.Context, host uuid.UUID, private []byte) error { return s.logIn(ctx, host, private) },
		Play: func(ctx context.Context, a *work.Attempt, p iamwork.HostPlay) (json.RawMessage, error) {
			return w.PlayFor(ctx, a, worker.HostPlay{Host: p.Host, Playbook: p.Playbook, File: p.File, Vars: p.Vars, Secrets: p.Secrets})
		},
	}
}

func (s *keySite) backend() *site.Backend {
	w := worker.New(s.DB, s.Runner, s.keys, worker.Config{Name: "backend-1", Targets: s.Policy})
	return s.BackendWith(queue.Kinds(&work.Runner{DB: s.DB.DB, Registry: s.kinds, Handlers: s.jobs().Handlers(), Backend: "backend-1"}, w.Work), queue.Config{})
}

// advance runs the policy once.
func (s *keySite) advance() {
	s.T.Helper()
	if _, err := s.jobs().Policy().Run(s.T.Context(), reconcile.Item{}); err != nil {
		s.T.Fatal(err)
	}
	s.reachable()
}

// reachable makes sure that each door lets in the key with which its host is reached.
func (s *keySite) reachable(but ...string) {
	s.T.Helper()
	for name, id := range s.hosts {
		k, err := s.DB.KeyOfHost(s.T.Context(), id)
		if err != nil {
			s.T.Fatal(err)
		}
		if !slices.Contains(but, name) && s.text(`SELECT ssh_key_left::TEXT FROM hosts WHERE id = $1`, id) == "0" && !s.doors[name].has(k.PublicKey) {
			s.T.Fatalf("the host %s is reached with %s, which it does not let in", name, k.PublicKey)
		}
	}
}

func (s *keySite) key() iam.SSHKey {
	s.T.Helper()
	k, err := iam.SSHKeyOf(s.T.Context(), s.DB.Reader, domain.DefaultOrganization)
	if err != nil {
		s.T.Fatal(err)
	}
	return k
}

func (s *keySite) do(f func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[iam.Scope]) error) error {
	call := kernel.Call{Actor: s.Actor, Installation: true}
	return kernel.Engine{DB: s.DB.DB}.Do(s.T.Context(), call, func(tx *kernel.Tx) error {
		return f(s.T.Context(), tx, scope.Found[iam.Scope](domain.DefaultOrganization, uuid.Nil))
	})
}

func (s *keySite) replace() error {
	return s.do(func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[iam.Scope]) error {
		return iam.ReplaceSSHKey(ctx, tx, s.keys, ref)
	})
}

func (s *keySite) leave(hosts ...string) error {
	return s.do(func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[iam.Scope]) error {
		return iam.LeaveSSHKeyHosts(ctx, tx, ref, hosts)
	})
}

// states are those of the hosts that are not done.
func (s *keySite) states() map[string]string {
	s.T.Helper()
	hosts, err := iam.SSHKeyHosts(s.T.Context(), s.DB.Reader, domain.DefaultOrganization, 0, 100)
	if err != nil {
		s.T.Fatal(err)
	}
	all := map[string]string{}
	for _, h := range hosts {
		all[h.Name] = h.State()
	}
	return all
}

func conflict(err error) string {
	var c *fault.Conflict
	if errors.As(err, &c) {
		return c.Code
	}
	return fmt.Sprint(err)
}

// TestSSHKeyOfAnOrganizationIsReplaced: every host gets the next key beside the former one, proves it, and loses the former one once all
// have it. A host that Kloigos did not initialize gets it by hand; one that is gone is left behind, and comes back later.
func TestSSHKeyOfAnOrganizationIsReplaced(t *testing.T) {
	t.Parallel()
	s := newKeySite(t, "h1", "h2", "h3", "gone", "bare")
	s.sql(`UPDATE hosts SET fenced = false WHERE id = $1`, s.hosts["bare"])
	s.doors["gone"].stop()
	if err := s.leave("h1"); conflict(err) != "ssh_key_in_use" {
		t.Fatalf("left behind before a replacement: %v", err)
	}
	if err := s.replace(); err != nil {
		t.Fatal(err)
	}
	if err := s.replace(); conflict(err) != "ssh_key_replacing" {
		t.Fatalf("replaced twice at once: %v", err)
	}
	next := s.key().NewestPublicKey()
	if k := s.key(); next == s.first || k.PublicKey != s.first || k.State() != iam.SSHKeyDeploying || k.Hosts != 5 || k.Done != 0 {
		t.Fatalf("%+v", k)
	}

	// A host that is registered meanwhile gets the next key and no other.
	d := newDoor(t, next)
	late, _, err := s.Intents.RegisterHost(t.Context(), s.Call, intent.RegisterHost{Name: "late", Address: "127.0.0.1", Port: d.port, AdminUser: "operator1", HostKey: d.line})
	if err != nil {
		t.Fatal(err)
	}
	s.doors["late"], s.hosts["late"] = d, late

	// Nobody runs jobs yet: there are two, whatever the policy does.
	for range 3 {
		s.advance()
	}
	if n := s.text(`SELECT count(*)::TEXT FROM jobs WHERE kind = 'ssh_key_deploy'`); n != "2" {
		t.Fatalf("%s jobs at once, not 2", n)
	}
	s.backend()
	site.Eventually(t, "all hosts but two", func() bool {
		s.advance()
		return s.key().Done == 4
	})
	for _, name := range []string{"h1", "h2", "h3"} {
		if d := s.doors[name]; !d.has(s.first) || !d.has(next) {
			t.Errorf("%s lets in %v", name, d.file)
		}
	}
	site.Eventually(t, "the host that needs a hand", func() bool {
		s.advance()
		return s.text(`SELECT count(*)::TEXT FROM jobs WHERE kind = 'ssh_key_deploy' AND error ->> 'code' = 'ssh_access_denied'`) != "0"
	})
	if m := s.text(`SELECT error ->> 'next_step' FROM jobs WHERE error ->> 'code' = 'ssh_access_denied' LIMIT 1`); !strings.Contains(m, next) {
		t.Errorf("the line to add is not told: %s", m)
	}
	site.Eventually(t, "the host that is gone", func() bool {
		return s.text(`SELECT count(*)::TEXT FROM jobs WHERE error ->> 'code' = 'unreachable'`) != "0"
	})
	if k := s.key(); k.State() != iam.SSHKeyDeploying || k.Version != 1 || k.Behind != 2 {
		t.Fatalf("%+v", k)
	}

	s.doors["bare"].add(next)
	site.Eventually(t, "the host by hand", func() bool { s.advance(); return s.states()["bare"] == "" })
	if err := s.leave("h1"); err == nil {
		t.Error("a host that has the key was left behind")
	}
	if err := s.leave("gone"); err != nil {
		t.Fatal(err)
	}
	site.Eventually(t, "the end of the former key", func() bool { s.advance(); return s.key().State() == iam.SSHKeyInUse })
	k := s.key()
	if k.Version != 2 || k.PublicKey != next || k.NextSealed != nil || k.Left != 1 || s.states()["gone"] != "left_behind" {
		t.Errorf("%+v, %v", k, s.states())
	}
	private, err := s.keys.Open(k.PrivateSealed, domain.DefaultOrganization.String())
	if err != nil {
		t.Fatal(err)
	}
	if signer, err := ssh.ParsePrivateKey(private); err != nil || words(next) != words(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))) {
		t.Errorf("the private key is another one: %v", err)
	}
	for _, name := range []string{"h1", "h2", "h3"} {
		if d := s.doors[name]; d.has(s.first) || !d.has(next) {
			t.Errorf("%s lets in %v", name, d.file)
		}
	}
	for _, action := range []string{"organization.replace_ssh_key", "organization.leave_ssh_key_hosts", "organization.use_next_ssh_key"} {
		if n := s.text(`SELECT count(*)::TEXT FROM events WHERE action = $1`, action); n != "1" {
			t.Errorf("%s events %s", n, action)
		}
	}
	if n := s.text(`SELECT count(*)::TEXT FROM events WHERE action = 'host.change_ssh_key'`); n != "4" {
		t.Errorf("%s hosts were told to have changed", n)
	}

	s.comesBack(next)
}

// comesBack has the host that was gone answer again: somebody put the key on it, and a probe proves it. Then it loses the former one.
func (s *keySite) comesBack(next string) {
	d := newDoor(s.T.(*testing.T), s.first)
	s.doors["gone"] = d
	s.sql(`UPDATE hosts SET port = $2, host_key = $3 WHERE id = $1`, s.hosts["gone"], d.port, d.line)
	job, err := s.Intents.ProbeHost(s.T.Context(), s.Call, s.hosts["gone"], 0)
	if err != nil {
		s.T.Fatal(err)
	}
	if j := s.Ended(job, domain.JobFailed); j.Error.Code != domain.ErrCodeAccessDenied {
		s.T.Errorf("%+v", j.Error)
	}
	d.add(next)
	if job, err = s.Intents.ProbeHost(s.T.Context(), s.Call, s.hosts["gone"], 0); err != nil {
		s.T.Fatal(err)
	}
	s.Ended(job, domain.JobSucceeded)
	site.Eventually(s.T, "the former key off the host that came back", func() bool { s.advance(); return !d.has(s.first) })
}

// TestSSHKeyJobIsCut: a backend ends between the step that adds a key and the one that proves it. Another one goes on, and the host is
// reached with the former key until then.
func TestSSHKeyJobIsCut(t *testing.T) {
	t.Parallel()
	s := newKeySite(t, "h1")
	if err := s.replace(); err != nil {
		t.Fatal(err)
	}
	next, real := s.key().NewestPublicKey(), s.logIn
	proving := make(chan struct{})
	s.logIn = func(ctx context.Context, host uuid.UUID, private []byte) error {
		if !s.doors["h1"].has(next) {
			return real(ctx, host, private)
		}
		close(proving)
		<-ctx.Done()
		return ctx.Err()
	}
	s.advance()
	b := s.backend()
	site.Await(t, "the step that proves the key", proving)
	if k, err := s.DB.KeyOfHost(t.Context(), s.hosts["h1"]); err != nil || k.PublicKey != s.first {
		t.Fatalf("%v, %s", err, k.PublicKey)
	}
	b.Kill()
	site.Await(t, "the end of a backend", b.Stopped())
	s.advance()
	if k := s.key(); k.Version != 1 || k.Behind != 1 || !s.doors["h1"].has(s.first) {
		t.Fatalf("%+v", k)
	}
	s.logIn = real
	s.backend()
	site.Eventually(t, "the next key alone", func() bool { s.advance(); return s.key().State() == iam.SSHKeyInUse && !s.doors["h1"].has(s.first) })
	if k := s.key(); k.Version != 2 || k.Done != 1 {
		t.Errorf("%+v", k)
	}

	// One private key is left: that of the hosts.
	values, err := secret.Values(t.Context(), s.DB.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var left int
	for _, v := range values {
		if plain, err := s.keys.Open(v.Sealed, v.Associated); err == nil && bytes.Contains(plain, []byte("OPENSSH")) {
			left++
		}
	}
	if left != 1 {
		t.Errorf("%d private keys are left", left)
	}
}
