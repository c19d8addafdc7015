package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/testkit/site"
)

// Every class of bad input: which status, which field, and nothing written.
func TestBadInput(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.probed("h1")
	before := b.rows()
	const hosts, allocations, pool = "/hosts", "/allocations", "/address-pool"
	key := func(s string) string { return `{"cpu_count":1,"ssh_keys":[` + s + `]}` }
	for name, c := range map[string]struct {
		path, body string
		status     int
		field      string
	}{
		"no body":                  {hosts, "", 422, ""},
		"malformed":                {hosts, `{"name":`, 422, ""},
		"two documents":            {hosts, `{"name":"h2","address":"127.0.0.1"}{}`, 422, ""},
		"NaN":                      {hosts, `{"name":"h2","address":"127.0.0.1","port":NaN}`, 422, ""},
		"Infinity":                 {hosts, `{"name":"h2","address":"127.0.0.1","port":Infinity}`, 422, ""},
		"a comment":                {hosts, `{"name":"h2",/**/"address":"127.0.0.1"}`, 422, ""},
		"not UTF-8":                {hosts, "{\"name\":\"h\xff\",\"address\":\"127.0.0.1\"}", 422, ""},
		"overlong UTF-8":           {hosts, "{\"name\":\"h\xc0\x80\",\"address\":\"127.0.0.1\"}", 422, ""},
		"lone high surrogate":      {hosts, `{"name":"h2","address":"127.0.0.1","region":"\ud800"}`, 422, "region"},
		"lone low surrogate":       {hosts, `{"name":"h2","address":"127.0.0.1","region":"\udc00x"}`, 422, "region"},
		"surrogates turned around": {hosts, `{"name":"h2","address":"127.0.0.1","region":"\udc00\ud800"}`, 422, "region"},
		"lone surrogate in a name": {hosts, `{"name":"h2","address":"127.0.0.1","labels":{"\ud800":"x"}}`, 422, ""},
		"NUL":                      {hosts, `{"name":"h2","address":"127.0.0.1","zone":"a\u0000b"}`, 422, "zone"},
		"duplicate key":            {hosts, `{"name":"h2","address":"127.0.0.1","name":"h3"}`, 422, "name"},
		"duplicate key, escaped":   {hosts, `{"name":"h2","address":"127.0.0.1","n\u0061me":"h3"}`, 422, "name"},
		"duplicate label":          {hosts, `{"name":"h2","address":"127.0.0.1","labels":{"a":"1","a":"2"}}`, 422, "labels.a"},
		"65 deep":                  {hosts, strings.Repeat("[", 65) + strings.Repeat("]", 65), 422, ""},
		"100,000 deep":             {hosts, strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), 422, ""},
		"very many values":         {hosts, `{"networks":[` + strings.Repeat("0,", 400_000) + `0]}`, 422, ""},
		"unknown field":            {hosts, `{"name":"h2","address":"127.0.0.1","color":"red"}`, 422, "color"},
		"other case":               {hosts, `{"Name":"h2","address":"127.0.0.1"}`, 422, "Name"},
		"missing field":            {hosts, `{"address":"127.0.0.1"}`, 422, "name"},
		"null":                     {hosts, `{"name":null,"address":"127.0.0.1"}`, 422, "name"},
		"number for text":          {hosts, `{"name":7,"address":"127.0.0.1"}`, 422, "name"},
		"text for number":          {hosts, `{"name":"h2","address":"127.0.0.1","port":"22"}`, 422, "port"},
		"array for object":         {hosts, `["h2"]`, 422, ""},
		"text for body":            {hosts, `"h2"`, 422, ""},
		"fraction":                 {hosts, `{"name":"h2","address":"127.0.0.1","port":22.5}`, 422, "port"},
		"exponent":                 {hosts, `{"name":"h2","address":"127.0.0.1","port":2e1}`, 422, "port"},
		"more than 64 bits":        {hosts, `{"name":"h2","address":"127.0.0.1","port":18446744073709551616}`, 422, "port"},
		"port out of range":        {hosts, `{"name":"h2","address":"127.0.0.1","port":65536}`, 422, "port"},
		"negative port":            {hosts, `{"name":"h2","address":"127.0.0.1","port":-1}`, 422, "port"},
		"bad host name":            {hosts, `{"name":"-oProxyCommand=x","address":"127.0.0.1"}`, 422, "name"},
		"long host name":           {hosts, `{"name":"` + strings.Repeat("a", 49) + `","address":"127.0.0.1"}`, 422, "name"},
		"bad address":              {hosts, `{"name":"h2","address":"-oProxyCommand=x"}`, 422, "address"},
		"metadata address":         {hosts, `{"name":"h2","address":"169.254.169.254"}`, 422, "address"},
		"mapped metadata address":  {hosts, `{"name":"h2","address":"::ffff:169.254.169.254"}`, 422, "address"},
		"bad admin user":           {hosts, `{"name":"h2","address":"127.0.0.1","admin_user":"a b"}`, 422, "admin_user"},
		"bad profile":              {hosts, `{"name":"h2","address":"127.0.0.1","profile":"huge"}`, 422, "profile"},
		"bad label":                {hosts, `{"name":"h2","address":"127.0.0.1","labels":{"a":"{{7*7}}"}}`, 422, "labels"},
		"number as label":          {hosts, `{"name":"h2","address":"127.0.0.1","labels":{"a":1}}`, 422, "labels.a"},
		"bad host key":             {hosts, `{"name":"h2","address":"127.0.0.1","host_key":"ssh-rsa nonsense"}`, 422, "host_key"},
		"CRLF in a region":         {hosts, `{"name":"h2","address":"127.0.0.1","region":"eu\r\nx"}`, 422, "region"},
		"bad CPU set":              {"/hosts/h1/layout/preview", `{"units":[{"cpus":"2-"}],"devices":["/dev/disk/by-id/virtio-kloigos0"]}`, 422, "units[0].cpus"},
		"CPU that is not there":    {"/hosts/h1/layout/preview", `{"units":[{"cpus":"2-99"}],"devices":["/dev/disk/by-id/virtio-kloigos0"]}`, 422, "units[0].cpus"},
		"CPU twice":                {"/hosts/h1/layout/preview", `{"units":[{"cpus":"2"},{"cpus":"1-2"}],"devices":["/dev/disk/by-id/virtio-kloigos0"]}`, 422, "units[1].cpus"},
		"device that is not there": {"/hosts/h1/layout/preview", `{"count":1,"cpus_each":1,"devices":["/dev/sda; reboot"]}`, 422, "devices[0]"},
		"bad volume group":         {"/hosts/h1/layout/preview", `{"count":1,"cpus_each":1,"volume_group":"-x"}`, 422, "volume_group"},
		"no SSH key":               {allocations, key(``), 422, "ssh_keys"},
		"not an SSH key":           {allocations, key(`"hello"`), 422, "ssh_keys[0]"},
		"SSH key with options":     {allocations, key(`"command=\"reboot\" ` + sshKey + `"`), 422, "ssh_keys[0]"},
		"SSH key of two lines":     {allocations, key(`"` + sshKey + `\n` + sshKey + `"`), 422, "ssh_keys[0]"},
		"second SSH key bad":       {allocations, key(`"` + sshKey + `","ssh-dss AAAA"`), 422, "ssh_keys[1]"},
		"reserved login user":      {allocations, `{"cpu_count":1,"login_user":"root","ssh_keys":["` + sshKey + `"]}`, 422, "login_user"},
		"bad login user":           {allocations, `{"cpu_count":1,"login_user":"$(id)","ssh_keys":["` + sshKey + `"]}`, 422, "login_user"},
		"unit that is not there":   {allocations, `{"unit":"h1-cu99","ssh_keys":["` + sshKey + `"]}`, 422, "unit"},
		"host that is not there":   {allocations, `{"cpu_count":1,"host":"h7","ssh_keys":["` + sshKey + `"]}`, 422, "host"},
		"unit of a host not ready": {allocations, `{"cpu_count":1,"host":"h1","ssh_keys":["` + sshKey + `"]}`, 409, ""},
		"address out of range":     {pool, `{"addresses":[{"range":"10.0.0.256"}]}`, 422, "addresses[0].range"},
		"range turned around":      {pool, `{"addresses":[{"range":"10.0.0.9-10.0.0.1"}]}`, 422, "addresses[0].range"},
		"huge range":               {pool, `{"addresses":[{"range":"10.0.0.0-10.255.0.0"}]}`, 422, "addresses[0].range"},
		"loopback address":         {pool, `{"addresses":[{"range":"10.0.0.1"},{"range":"127.0.0.1"}]}`, 422, "addresses[1].range"},
		"no addresses":             {pool, `{"addresses":[]}`, 422, "addresses"},
		"a body where none is":     {"/hosts/h1/probe", `{"force":true}`, 422, ""},
		"empty token name":         {"/tokens", `{"name":" "}`, 422, "name"},
		"escape in a token name":   {"/tokens", `{"name":"a\u001b[31m"}`, 422, "name"},
		"token for ever":           {"/tokens", `{"name":"a","days":4000}`, 422, "days"},
		"unknown way to retry":     {"/jobs/00000000-0000-4000-8000-000000000009/retry", `{"playbook":"mine"}`, 422, "playbook"},
	} {
		t.Run(name, func(t *testing.T) {
			p := b.mustDo(http.MethodPost, c.path, c.body, c.status).problem(t)
			if c.status != http.StatusUnprocessableEntity {
				return
			}
			if p.Code != "invalid" || len(p.Errors) == 0 {
				t.Fatalf("problem %+v", p)
			}
			found := false
			for _, e := range p.Errors {
				found = found || e.Field == c.field || c.field == ""
				if e.Message == "" || strings.Contains(e.Message, "Go ") || strings.Contains(e.Message, "api.") {
					t.Errorf("message %q", e.Message)
				}
			}
			if !found {
				t.Errorf("no entry for %q in %+v", c.field, p.Errors)
			}
		})
	}
	if after := b.rows(); after != before {
		t.Errorf("rows were written:\n%s\nbefore:\n%s", after, before)
	}
	if strings.Contains(b.log.String(), "panic") {
		t.Error("something panicked")
	}
}

// All the bad fields of a request are told together.
func TestAllBadFieldsAreTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.mustDo(http.MethodPost, "/hosts", `{"name":"H 1","address":"?","region":"Ä","zone":"-","networks":["ok","NO"]}`, 422).problem(t)
	var fields []string
	for _, e := range p.Errors {
		fields = append(fields, e.Field)
	}
	if got := strings.Join(fields, " "); got != "name address region zone networks[1]" {
		t.Errorf("fields %q", got)
	}
	p = b.mustDo(http.MethodPost, "/hosts", `{"name":1,"port":"x","nonsense":true}`, 422).problem(t)
	if len(p.Errors) != 4 { // with the address that is missing
		t.Errorf("errors %+v", p.Errors)
	}
}

// One answer tells of every bad field: of those that can't be read and of those
// that mean nothing. Nothing is told of a field that only follows from another.
func TestShapeAndMeaningAreToldTogether(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.probed("h1")
	before := b.rows()
	for name, c := range map[string]struct{ path, body, fields string }{
		"host": {
			"/hosts", `{"name":"-x","address":"169.254.169.254","port":"22","region":"\ud800","zone":"A B","labels":{"a":1,"B":"x"},"networks":["ok",7,"NO"],"profile":"huge","color":"red"}`,
			"address color labels labels.a name networks[1] networks[2] port profile region zone",
		},
		"host, missing":        {"/hosts", `{"port":0,"admin_user":"a b","host_key":"nonsense"}`, "address admin_user host_key name port"},
		"host, twice":          {"/hosts", `{"name":"h2","name":"h3","address":"?"}`, "address name"},
		"host, only meaning":   {"/hosts", `{"name":"h2","address":"?","zone":"-"}`, "address zone"},
		"layout":               {"/hosts/h1/layout/preview", `{"units":[{"cpus":"2-"},{"cpus":3},{"cpus":"99"},{"cpus":"4","volume_bytes":1}],"devices":["/dev/sda"],"system_memory_bytes":1,"nonsense":1}`, "devices[0] nonsense system_memory_bytes units[0].cpus units[1].cpus units[2].cpus units[3].volume_bytes"},
		"layout, what follows": {"/hosts/h1/layout/preview", `{"count":"3","cpus_each":1,"volume_group":7}`, "count volume_group"},
		"allocation": {
			"/allocations", `{"cpu_count":"2","host":"h7","login_user":"root","region":"EU","ssh_keys":["hello","ssh-dss AAAA"],"labels":{"A":"x"},"zone":1}`,
			"cpu_count host labels login_user region ssh_keys[0] ssh_keys[1] zone",
		},
		"allocation, what follows": {"/allocations", `{"unit":7,"ssh_keys":["hello"]}`, "ssh_keys[0] unit"},
		"allocation, two names":    {"/allocations", `{"unit":"h1-cu99","host":"h7","ssh_keys":["hello"]}`, "host ssh_keys[0] unit"},
		"addresses": {
			"/address-pool", `{"network":7,"addresses":[{"range":"10.0.0.256"},{"range":1},{"range":"10.0.0.1-10.0.0.9","endpoint":"x:1"},{"range":"10.0.0.1","endpoint":"y"},{"size":2}]}`,
			"addresses[0].range addresses[1].range addresses[2].endpoint addresses[3].endpoint addresses[4].range addresses[4].size network",
		},
		"addresses, bad network": {"/address-pool?x=1", `{"network":"A B","addresses":[]}`, "addresses network x"},
	} {
		t.Run(name, func(t *testing.T) {
			p := b.mustDo(http.MethodPost, c.path, c.body, 422, "Idempotency-Key", "key of "+name).problem(t)
			var fields []string
			for _, e := range p.Errors {
				fields = append(fields, e.Field)
			}
			slices.Sort(fields)
			if got := strings.Join(fields, " "); got != c.fields || p.Code != "invalid" {
				t.Errorf("fields %q\nwant   %q\n%+v", got, c.fields, p.Errors)
			}
		})
	}
	p := b.mustDo(http.MethodPost, "/hosts", `{"name":"-"}`, 422, "Idempotency-Key", "\u00e9").problem(t)
	if len(p.Errors) != 3 {
		t.Errorf("with a bad key: %+v", p.Errors)
	}
	if after := b.rows(); after != before {
		t.Errorf("rows were written:\n%s\nbefore:\n%s", after, before)
	}
}

func TestBadQueries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cursor := decode[api.Page[api.Playbook]](t, b.mustDo(http.MethodGet, "/playbooks?limit=1", nil, 200)).NextCursor
	if cursor == "" {
		t.Fatal("no cursor")
	}
	for path, field := range map[string]string{
		"/hosts?state=happy": "state", "/hosts?limit=0": "limit", "/hosts?limit=501": "limit", "/hosts?limit=x": "limit",
		"/hosts?colour=red": "colour", "/hosts?state=ready&state=lost": "state", "/hosts?region=a%00b": "region", "/hosts?region=%ff": "region",
		"/hosts?cursor=nonsense": "cursor", "/hosts?cursor=" + cursor: "cursor", "/playbooks?cursor=A" + cursor: "cursor",
		"/playbooks?cursor=" + cursor[:len(cursor)-4]: "cursor", "/jobs?kind=dance": "kind", "/jobs?playbook=host_probe&version=1": "version",
		"/jobs?playbook=host_probe&state=active": "version", "/jobs?version=1&state=active": "version", "/jobs?playbook=host_probe&version=1&state=failed": "version", "/jobs?state=live": "state",
		"/allocations?state=active": "state", "/compute-units?min_cpus=-1": "min_cpus",
		"/hosts?sort=happy": "sort", "/hosts?sort=%2Bname": "sort", "/events?sort=name": "sort", "/playbooks?sort=-name&cursor=" + cursor: "cursor",
		"/address-pool?state=x": "state", "/tokens?limit=9999": "limit",
	} {
		p := b.mustDo(http.MethodGet, path, nil, 422).problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v, want %s", path, p.Errors, field)
		}
	}
	b.mustDo(http.MethodGet, "/playbooks?limit=1&cursor="+cursor, nil, 200)
	b.mustDo(http.MethodGet, "/playbooks?limit=1&sort=name&cursor="+cursor, nil, 200) // which is the default
	if p := b.mustDo(http.MethodGet, "/jobs?state=x&kind=y", nil, 422).problem(t); len(p.Errors) != 2 {
		t.Errorf("several bad filters: %+v", p.Errors)
	}
	if p := b.mustDo(http.MethodGet, "/hosts?sort=x&limit=0", nil, 422).problem(t); len(p.Errors) != 2 || !strings.Contains(p.Errors[1].Message+p.Errors[0].Message, "name, -name, created_at") {
		t.Errorf("a bad sort: %+v", p.Errors)
	}
	for _, state := range []string{"active", "ended"} {
		b.mustDo(http.MethodGet, "/jobs?playbook=host_probe&version=1&state="+state, nil, 200)
	}
	b.mustDo(http.MethodGet, "/compute-units?host=nowhere", nil, 200)
	b.mustDo(http.MethodGet, "/hosts?search=%25%27%22--", nil, 200)
}

// What is larger or slower than allowed gets a problem before it is read.
func TestLimits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := "Host: test\r\nAuthorization: Bearer " + b.token + "\r\nContent-Type: application/json\r\n"
	huge := rawBytes(t, b, "POST /api/v1/hosts HTTP/1.1\r\n"+head+"Content-Length: 2000000\r\n\r\n"+strings.Repeat(" ", 2_000_000))
	if p := huge.problem(t); huge.status != 413 || p.Code != "too_large" {
		t.Errorf("a large body: %+v", p)
	}
	chunked := rawBytes(t, b, "POST /api/v1/hosts HTTP/1.1\r\n"+head+"Transfer-Encoding: chunked\r\n\r\n"+
		strings.Repeat("10000\r\n"+strings.Repeat(" ", 0x10000)+"\r\n", 32)+"0\r\n\r\n")
	if p := chunked.problem(t); chunked.status != 413 {
		t.Errorf("a large body in chunks: %+v", p)
	}
	header := rawBytes(t, b, "GET /api/v1/hosts HTTP/1.1\r\n"+head+"X-Large: "+strings.Repeat("x", 20_000)+"\r\n\r\n")
	if p := header.problem(t); header.status != 431 || p.Code != "headers_too_large" {
		t.Errorf("a large header: %+v", p)
	}
	zip := b.do(http.MethodPost, "/hosts", "\x1f\x8b\x08\x00", "Content-Encoding", "gzip")
	if p := zip.problem(t); zip.status != 415 {
		t.Errorf("a compressed body: %+v", p)
	}
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/merge-patch+json"} {
		if a := b.do(http.MethodPost, "/hosts", `{"name":"h1","address":"127.0.0.1"}`, "Content-Type", media); a.status != 415 {
			t.Errorf("%s: %d", media, a.status)
		}
	}
	if a := rawBytes(t, b, "GARBAGE\r\n\r\n"); a.status != 400 {
		t.Errorf("garbage: %d", a.status)
	}
}

func TestSlowBody(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *httpapi.Config) { c.ReadTimeout = 200 * time.Millisecond })
	a := rawBytes(t, b, "POST /api/v1/hosts HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer "+b.token+"\r\nContent-Length: 100\r\n\r\n{")
	if p := a.problem(t); a.status != 408 || p.Code != "too_slow" {
		t.Errorf("%d %+v", a.status, p)
	}
	b.mustDo(http.MethodGet, "/whoami", nil, 200)
}

// Hostile bodies must not cost much memory, however many come one after
// another.
func TestHostileBodiesCostLittle(t *testing.T) {
	b := setup(t)
	bodies := []string{
		`{"networks":[` + strings.Repeat("[],", 300_000) + `[]]}`, strings.Repeat(`{"a":`, 150_000),
		`{"name":"` + strings.Repeat("a", 1_000_000) + `"}`, `{` + strings.Repeat(`"a":1,`, 170_000) + `"a":1}`,
		strings.Repeat("[", 1_000_000),
	}
	for _, body := range bodies { // warm up
		b.mustDo(http.MethodPost, "/hosts", body, 422)
	}
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	for range 10 {
		for _, body := range bodies {
			b.mustDo(http.MethodPost, "/hosts", body, 422)
		}
	}
	if after := held(); after > before+16<<20 {
		t.Errorf("the heap grew by %d MiB", (after-before)>>20)
	}
}

// Text that is accepted comes back byte for byte.
func TestTextComesBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, name := range []string{
		`{{7*7}}`, `{{ lookup('pipe', 'id') }}`, "$(id)", "`id`", "-oProxyCommand=id", "--upload-pack=id", "<script>alert(1)</script>", `'"\`,
		"\u202Egnp.exe", "ansible_connection", "é\u0301 😀",
	} {
		token := decode[api.Token](t, b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: name}, 201))
		if token.Name != name {
			t.Errorf("made: %q for %q", token.Name, name)
		}
		list := decode[api.Page[api.Token]](t, b.mustDo(http.MethodGet, "/tokens", nil, 200))
		if want := i + 2; len(list.Items) != want {
			t.Errorf("%d tokens, want %d", len(list.Items), want)
		}
		found := false
		for _, k := range list.Items {
			found = found || k.ID == token.ID && k.Name == name && k.Token == ""
		}
		if !found {
			t.Errorf("%q did not come back", name)
		}
	}
}

// rows counts what a request could have written.
func (b *backend) rows() string {
	b.t.Helper()
	var out strings.Builder
	for _, table := range []string{"hosts", "compute_units", "allocations", "addresses", "jobs", "events", "tokens", "idempotency_keys"} {
		var n int
		b.row(&n, "SELECT count(*) FROM "+table)
		fmt.Fprintf(&out, "%s %d\n", table, n)
	}
	return out.String()
}

// TestALargeBodyThatWaitsHoldsUpNoOther: large bodies are decoded one at a time,
// and what comes of one may wait for as long as it likes.
func TestALargeBodyThatWaitsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	held, free := b.probed("h1"), b.probed("h2")
	conn, err := pgx.Connect(t.Context(), b.database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `UPDATE hosts SET name = name WHERE id = $1`, held.ID); err != nil {
		t.Fatal(err)
	}
	layout := `{"count":3,"cpus_each":2,"devices":["/dev/disk/by-id/virtio-kloigos0"]` + strings.Repeat(" ", 20<<10) + `}`
	set := func(h api.Host) <-chan answer {
		answered := make(chan answer, 1)
		go func() { answered <- b.do(http.MethodPut, "/hosts/"+h.ID+"/layout", layout) }()
		return answered
	}
	waits := set(held)
	for range 5 {
		if a := site.Await(t, "the layout of a host that nobody holds", set(free)); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	select {
	case a := <-waits:
		t.Errorf("it did not wait: %d %s", a.status, a.body)
	default:
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if a := site.Await(t, "the layout that waited", waits); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
}
