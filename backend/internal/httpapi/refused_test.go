package httpapi_test

import (
	"context"
	"crypto/dsa" //nolint:staticcheck // to show that it is refused
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/ssh"

	"kloigos/backend/api"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/site"
	"kloigos/backend/internal/worker"
)

// dump is a hash of every row of every table, by table: whatever a request
// writes, it shows. It is read with what PostgreSQL and CockroachDB share.
func (b *backend) dump() map[string]string {
	b.t.Helper()
	ctx := b.t.Context()
	conn, err := pgx.Connect(ctx, b.database)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(ctx, "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position")
	if err != nil {
		b.t.Fatal(err)
	}
	columns := map[string][]string{}
	var table, column, kind string
	_, err = pgx.ForEachRow(rows, []any{&table, &column, &kind}, func() error {
		text := pgx.Identifier{column}.Sanitize()
		if kind == "bytea" {
			text = "encode(" + text + ", 'hex')"
		}
		columns[table] = append(columns[table], "COALESCE("+text+"::TEXT, '(null)')")
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	sums := map[string]string{}
	for table, texts := range columns {
		rows, err := conn.Query(ctx, "SELECT "+strings.Join(texts, " || '|' || ")+" FROM "+pgx.Identifier{table}.Sanitize())
		if err != nil {
			b.t.Fatal(err)
		}
		all, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			b.t.Fatalf("dump %s: %v", table, err)
		}
		slices.Sort(all)
		sum := sha256.Sum256([]byte(strings.Join(all, "\n")))
		sums[table] = fmt.Sprintf("%d rows, %x", len(all), sum[:8])
	}
	if len(sums) < 10 {
		b.t.Fatalf("only %d tables", len(sums))
	}
	return sums
}

// untouched fails if anything was written since.
func (b *backend) untouched(since map[string]string) {
	b.t.Helper()
	for table, now := range b.dump() {
		if now != since[table] {
			b.t.Errorf("table %s was written: %s, was %s", table, now, since[table])
		}
	}
}

// works runs a worker beside the API, over a scripted Ansible that tells what
// it was asked to run.
func (b *backend) works() *scripted.Runner {
	b.t.Helper()
	runner := scripted.New()
	private, _ := site.NewKey(b.t)
	w := worker.New(b.db, runner, oneKey(private), worker.Config{Name: "watch", Targets: domain.TargetPolicy{AllowLoopback: true}})
	q := queue.New(b.db, w.Work, b.signals, queue.Config{Worker: uuid.New(), Slots: 2, Lease: time.Minute, Logger: b.cfg.Log})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Run(ctx, ctx)
	}()
	b.t.Cleanup(func() { stop(); <-done })
	return runner
}

// oneKey is what everything that is sealed opens to.
type oneKey string

func (k oneKey) Open([]byte, string) ([]byte, error) { return []byte(k), nil }

func rsaKey(t testing.TB, bits int) string {
	t.Helper()
	t.Setenv("GODEBUG", "rsa1024min=0") // to make what must be refused
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return authorized(t, &k.PublicKey)
}

func authorized(t testing.TB, key any) string {
	t.Helper()
	public, err := ssh.NewPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public)))
}

// keysThatAreNone are texts that are no key to log in with, or not one to
// trust.
func keysThatAreNone(t testing.TB) map[string]string {
	t.Helper()
	blob := func(parts ...string) string { // SSH's wire form: each part with its length before it
		var raw []byte
		for _, p := range parts {
			raw = append(raw, byte(len(p)>>24), byte(len(p)>>16), byte(len(p)>>8), byte(len(p)))
			raw = append(raw, p...)
		}
		return base64.StdEncoding.EncodeToString(raw)
	}
	var old dsa.PrivateKey
	if err := dsa.GenerateParameters(&old.Parameters, rand.Reader, dsa.L1024N160); err != nil {
		t.Fatal(err)
	}
	if err := dsa.GenerateKey(&old, rand.Reader); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"RSA of 512 bits":          rsaKey(t, 512),
		"RSA of 1024 bits":         rsaKey(t, 1024),
		"RSA of 2047 bits":         rsaKey(t, 2047),
		"RSA of 20,000 bits":       "ssh-rsa " + blob("ssh-rsa", "\x01\x00\x01", "\x00"+strings.Repeat("\xff", 2500)),
		"RSA with exponent 1":      "ssh-rsa " + blob("ssh-rsa", "\x01", "\x00"+strings.Repeat("\xff", 256)),
		"DSA":                      authorized(t, &old.PublicKey),
		"another type inside":      "ssh-ed25519 " + blob("ssh-rsa", "\x01\x00\x01", "\x00"+strings.Repeat("\xff", 256)),
		"too short":                "ssh-ed25519 " + blob("ssh-ed25519", "short"),
		"with something behind":    "ssh-ed25519 " + blob("ssh-ed25519", strings.Repeat("k", 32), "more"),
		"cut off":                  sshKey[:60],
		"a certificate":            "ssh-ed25519-cert-v01@openssh.com " + blob("ssh-ed25519-cert-v01@openssh.com", strings.Repeat("n", 32), strings.Repeat("k", 32)),
		"a private key":            "-----BEGIN OPENSSH PRIVATE KEY-----",
		"a file":                   "/etc/ssh/ssh_host_ed25519_key.pub",
		"a template":               "{{ lookup('file', '/etc/passwd') }}",
		"an authority":             "@cert-authority * " + sshKey,
		"longer than 16 KiB":       sshKey + strings.Repeat(" x", 9000),
		"an escape in its comment": sshKey + " \x1b[31m",
		"options":                  `environment="LD_PRELOAD=/tmp/x.so" ` + sshKey,
	}
}

// What §1 of the security model lists beside TestBadInput: each gets a 4xx with
// a field and a reason, writes nothing in any table, and runs nothing.
func TestRefusedRequestsTouchNothing(t *testing.T) {
	b := setup(t)
	b.ready("full")
	b.probed("fresh")
	ready := decode[api.Host](t, b.mustDo(http.MethodGet, "/hosts/full", nil, 200))
	b.mustDo(http.MethodPost, "/address-pool", api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "10.7.0.1-10.7.0.3"}}}, http.StatusCreated)
	taken := decode[api.Allocation](t, b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{Host: "full", CPUs: 1, LoginUser: "ada", SSHKeys: []string{sshKey}}, http.StatusAccepted))
	b.finishJob(taken.ID, jobOf(t, b, taken.ID), nil)
	before := b.dump()
	runner := b.works()

	type refused struct {
		name, method, path string
		body               any
		status             int
		field              string // "": any
	}
	var all []refused
	add := func(name, method, path string, body any, status int, field string) {
		all = append(all, refused{name, method, path, body, status, field})
	}
	const post, put, get = http.MethodPost, http.MethodPut, http.MethodGet
	for name, key := range keysThatAreNone(t) {
		add("SSH key: "+name, post, "/allocations", api.CreateAllocation{CPUs: 1, SSHKeys: []string{sshKey, key}}, 422, "ssh_keys[1]")
		add("keys replaced: "+name, http.MethodPut, "/allocations/"+taken.ID+"/ssh-keys", api.ReplaceKeys{SSHKeys: []string{key}}, 422, "ssh_keys[0]")
		if name != "longer than 16 KiB" && !strings.Contains(name, "comment") { // of a host key no comment is kept
			add("host key: "+name, post, "/hosts", api.RegisterHost{Name: "h2", Address: "127.0.0.1", HostKey: key}, 422, "host_key")
		}
	}
	for _, user := range []string{
		"root", "daemon", "nobody", "www-data", "systemd-network", "sshd", "kloigos", "kloigos-x", "_apt", "admin", "sudo", "Ada", "ada b", "-ada", "ada\n", "../ada", "ada$", "1ada",
		strings.Repeat("a", 33), "ädä", "$(id)", "ansible_user.x", "ada;id", "ada:x", "ada/x",
	} {
		add("login user "+user, post, "/allocations", api.CreateAllocation{CPUs: 1, LoginUser: user, SSHKeys: []string{sshKey}}, 422, "login_user")
	}
	for _, cpus := range []string{"a", "1-", "-1", "3-1", "1,,2", "0-99999999999", "1-4:0", "1:2:3", "0x1", "1 2", "١", strings.Repeat("1,", 3000), "2-99", "{{ 1 }}"} {
		add("CPU set "+cpus[:min(len(cpus), 20)], put, "/hosts/fresh/layout", api.SetLayout{Units: []api.SetUnit{{CPUs: cpus}}, Devices: []string{"/dev/disk/by-id/virtio-kloigos0"}}, 422, "units[0].cpus")
	}
	for _, r := range []string{
		"10.0.0.256", "10.0.0.1-", "10.0.0.9-10.0.0.1", "10.0.0.0-10.255.0.0", "127.0.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "169.254.169.254", "::1",
		"fe80::1", "::ffff:10.0.0.1", "10.0.0.1/24", "010.0.0.1", "10.0.0.1%eth0", "host", "-oProxyCommand=x",
	} {
		add("address "+r, post, "/address-pool", api.AddAddresses{Addresses: []api.AddRange{{Range: "10.8.0.1"}, {Range: r}}}, 422, "addresses[1].range")
	}
	add("address that is there", post, "/address-pool", api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "10.8.0.1"}, {Range: "10.7.0.2"}}}, 409, "")
	for _, address := range []string{"169.254.169.254", "::ffff:169.254.169.254", "fe80::1%eth0", "0.0.0.0", "100.100.100.200", "64:ff9b::a9fe:a9fe", "2130706433", "0x7f.1", "a..b", "-h", "h_1", strings.Repeat("a.", 130)} {
		add("host at "+address[:min(len(address), 20)], post, "/hosts", api.RegisterHost{Name: "h2", Address: address}, 422, "address")
	}
	add("login user that is taken", post, "/allocations", api.CreateAllocation{Unit: taken.Unit, LoginUser: "ada", SSHKeys: []string{sshKey}}, 409, "")
	add("host name that is taken", post, "/hosts", api.RegisterHost{Name: "full", Address: "127.0.0.1"}, 409, "")
	add("host that is not ready", post, "/allocations", api.CreateAllocation{CPUs: 1, Host: "fresh", SSHKeys: []string{sshKey}}, 409, "")
	add("more CPUs than any unit", post, "/allocations", api.CreateAllocation{CPUs: 4000, SSHKeys: []string{sshKey}}, 409, "")
	for _, id := range []string{
		"x", "0", "-1", "../hosts/full", "%2e%2e%2fhosts", uuid.NewString(), "{" + ready.ID + "}", "urn:uuid:" + ready.ID, strings.ReplaceAll(ready.ID, "-", ""),
		"full%20", "full%00", "%ff", "' OR '1'='1", "{{7*7}}", strings.Repeat("9", 64),
	} {
		if strings.ContainsAny(id, " {'") {
			id = hexEscape(id)
		}
		add("host id "+id, post, "/hosts/"+id+"/initialize", nil, 404, "")
		add("allocation id "+id, http.MethodDelete, "/allocations/"+id, api.Deallocate{Confirm: "ada"}, 404, "")
		add("job id "+id, post, "/jobs/"+id+"/cancel", nil, 404, "")
	}
	for _, cursor := range []string{"x", "AAAA", strings.Repeat("A", 512), base64.RawURLEncoding.EncodeToString([]byte(`12345678{"at":"now"}`)), "%00", "../", "e30", "null"} {
		for _, list := range []string{"/hosts", "/compute-units", "/allocations", "/jobs", "/events", "/address-pool", "/tokens"} {
			add("cursor "+cursor[:min(len(cursor), 10)], get, list+"?cursor="+cursor, nil, 422, "cursor")
		}
	}
	for _, r := range all {
		a := b.do(r.method, r.path, r.body)
		if r.status == 404 && (a.status == 405 || a.status == 422) {
			a.problem(t) // a path with a slash in it is another route; one that is too long is told so
			continue
		}
		if a.status != r.status {
			t.Errorf("%s: %s %s: %d, want %d: %.300s", r.name, r.method, r.path, a.status, r.status, a.body)
			continue
		}
		p := a.problem(t)
		told := r.status != 422 && p.Detail != ""
		for _, e := range p.Errors {
			told = told || e.Message != "" && (e.Field == r.field || r.field == "")
		}
		if !told {
			t.Errorf("%s: no reason for %q in %s", r.name, r.field, a.body)
		}
	}
	if len(all) < 200 {
		t.Errorf("only %d were tried", len(all))
	}
	b.untouched(before)
	if calls := runner.Calls(); len(calls) != 0 {
		t.Errorf("%d plays were run: %+v", len(calls), calls[0].Play.Name)
	}
	if log := b.log.String(); strings.Contains(log, "panic") {
		t.Error("something panicked")
	}

	// The watch does watch: an honest request is written, and run.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	b.sql("UPDATE hosts SET port = $1", l.Addr().(*net.TCPAddr).Port)
	b.mustDo(http.MethodPost, "/hosts/full/initialize", nil, http.StatusAccepted)
	if maps.Equal(before, b.dump()) {
		t.Error("the dump does not show what is written")
	}
	for deadline := time.Now().Add(time.Minute); len(runner.Calls()) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the worker runs nothing")
		}
	}
}

func hexEscape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString("%" + hex.EncodeToString([]byte{s[i]}))
	}
	return b.String()
}

// jobOf is the job that is setting an allocation up.
func jobOf(t testing.TB, b *backend, allocation string) string {
	t.Helper()
	jobs := decode[api.Page[api.Job]](t, b.mustDo(http.MethodGet, "/jobs?allocation="+allocation, nil, http.StatusOK))
	if len(jobs.Items) != 1 {
		t.Fatalf("%d jobs", len(jobs.Items))
	}
	return jobs.Items[0].ID
}

// Comments of SSH keys are the one free text that reaches a host: what is taken
// comes back byte for byte, and goes to Ansible as it is.
func TestCommentsOfKeysAreOnlyText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	b.mustDo(http.MethodPost, "/address-pool", api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "10.7.0.1"}}}, http.StatusCreated)
	var keys []string
	for i, comment := range []string{
		"{{7*7}}", "{{ lookup('pipe', 'touch CANARY') }}", "$(touch CANARY)", "`touch CANARY`", "-oProxyCommand=touch CANARY", "--upload-pack=touch CANARY", "<script>alert(1)</script>",
		`'"\`, "ansible_connection=local", "%h %u", "a,b=c \"d\"", "# no comment",
	} {
		public := make([]byte, 32)
		public[0] = byte(i)
		raw := "\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20" + string(public)
		keys = append(keys, "ssh-ed25519 "+base64.StdEncoding.EncodeToString([]byte(raw))+" "+comment)
	}
	made := decode[api.Allocation](t, b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{CPUs: 1, SSHKeys: keys}, http.StatusAccepted))
	for _, a := range []api.Allocation{made, decode[api.Allocation](t, b.mustDo(http.MethodGet, "/allocations/"+made.ID, nil, http.StatusOK))} {
		if !slices.Equal(a.SSHKeys, keys) {
			got, _ := json.MarshalIndent(a.SSHKeys, "", " ")
			t.Errorf("the keys came back as %s", got)
		}
	}
}
