package metrics_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/app"
	"kloigos/backend/internal/kernel/config"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

// running is a backend with all roles, as it is wired in an installation, on a
// database of its own; only Ansible is stood in for.
type running struct {
	t   *testing.T
	url string
	api *client.Client
	// token is an administrator's.
	token string
}

func run(t *testing.T) *running {
	t.Helper()
	settings := map[string]string{
		"KLOIGOS_DATABASE_URL": testkit.DatabaseURL(t), "KLOIGOS_KEYSET_FILE": filepath.Join(t.TempDir(), "keyset.json"),
		"KLOIGOS_LISTEN": "127.0.0.1:0", "KLOIGOS_ALLOW_LOOPBACK_HOSTS": "true",
	}
	cfg, err := config.Load(nil, func(name string) string { return settings[name] })
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := app.Init(t.Context(), cfg, &said); err != nil {
		t.Fatal(err)
	}
	password := regexp.MustCompile(`(?m)^password: (\S+)$`).FindStringSubmatch(said.String())
	b, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil || password == nil {
		t.Fatalf("open: %v\n%s", err, &said)
	}
	plays := scripted.New()
	plays.HandleFunc("host_probe", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		return site.Play(ctx, p, sink, scripted.Script{Result: site.Facts(p.Hosts[0].Name)})
	})
	stop, end := context.WithCancel(t.Context())
	address, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- b.WithRunner(plays).Serve(stop, stop, func(a net.Addr) { address <- a }) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		b.Close()
	})
	r := &running{t: t, url: "http://" + (<-address).String()}
	if r.api, err = client.New(client.Config{BaseURL: r.url}); err != nil {
		t.Fatal(err)
	}
	session, err := r.api.CreateSession(t.Context(), api.Login{Account: "admin", Password: password[1]})
	if err != nil {
		t.Fatal(err)
	}
	r.api, r.token = r.api.WithToken(session.Token), session.Token
	return r
}

// scrape asks for the metrics as Prometheus does.
func (r *running) scrape() map[string]float64 {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+"/metrics", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.t.Fatalf("metrics: %s, %v", resp.Status, err)
	}
	return testkit.Series(r.t, string(text))
}

var (
	named   = regexp.MustCompile(`([a-z_]+)(?:\{([^}]*)\})?`)
	matcher = regexp.MustCompile(`([a-z_]+)(=~|!~|!=|=)"([^"]*)"`)
	labelOf = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
)

// selectors are what an expression asks for, each as one selector by equality
// or of a pattern that can't be taken apart.
func selectors(expr string, known map[string][]string) (all []string) {
	for _, m := range named.FindAllStringSubmatch(grouping.ReplaceAllString(inRange.ReplaceAllString(expr, ""), ""), -1) {
		if _, ok := known[baseOf(m[1], known)]; !ok || m[1] == "up" || strings.HasPrefix(m[1], "haproxy_") { // not a backend's
			continue
		}
		some := []string{""}
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			values := []string{l[3]}
			if l[2] == "=~" {
				values = strings.Split(l[3], "|")
			}
			var longer []string
			for _, before := range some {
				for _, v := range values {
					longer = append(longer, before+l[1]+l[2]+`"`+v+`",`)
				}
			}
			some = longer
		}
		for _, s := range some {
			all = append(all, m[1]+"{"+s+"}")
		}
	}
	return all
}

// selected tells whether a series is one of those that are asked for.
func selected(t *testing.T, selector, series string) bool {
	t.Helper()
	name, asked, _ := strings.Cut(selector, "{")
	has, of, _ := strings.Cut(series, "{")
	if name != has {
		return false
	}
	labels := map[string]string{}
	for _, l := range labelOf.FindAllStringSubmatch(of, -1) {
		labels[l[1]] = l[2]
	}
	for _, m := range matcher.FindAllStringSubmatch(asked, -1) {
		if slices.Contains([]string{"job", "instance"}, m[1]) { // these are Prometheus's
			continue
		}
		same := labels[m[1]] == m[3]
		if strings.HasSuffix(m[2], "~") {
			same = regexp.MustCompile(`^(?:` + m[3] + `)$`).MatchString(labels[m[1]])
		}
		if same == strings.HasPrefix(m[2], "!") {
			return false
		}
	}
	return true
}

// Whatever an alert or a panel selects, down to the values of labels, a running
// backend tells: before anything has gone wrong, since of a series that appears
// with its first event that event is no increase.
func TestARunningBackendTellsWhatIsAsked(t *testing.T) {
	t.Parallel()
	r := run(t)
	_, job, err := r.api.RegisterHost(t.Context(), api.RegisterHost{Name: "h1", Address: "127.0.0.1", Port: site.NewSSHServer(t).Port, TrustOnFirstUse: true})
	if err != nil {
		t.Fatal(err)
	}
	site.Eventually(t, "the end of the probe", func() bool {
		j, err := r.api.GetJob(t.Context(), job)
		return err == nil && j.State == "succeeded"
	})
	site.Eventually(t, "the end of its attempt", func() bool { return r.scrape()["kloigos_jobs_running"] == 0 }) // and all of it is counted

	known := described(t)
	asked := map[string]string{} // selector to one who asks
	for _, g := range readRules(t).Groups {
		for _, rule := range g.Rules {
			for _, s := range selectors(rule.Expr, known) {
				asked[s] = rule.Alert
			}
		}
	}
	for _, p := range readDashboard(t) {
		for _, target := range p.Targets {
			for _, s := range selectors(target.Expr, known) {
				asked[s] = "panel " + p.Title
			}
		}
	}
	if len(asked) < 50 {
		t.Fatalf("only %d selectors were found: %v", len(asked), asked)
	}
	// An answer of 5xx can't be had for the asking; its part of all answers is looked at for minutes.
	delete(asked, `kloigos_http_requests_total{status=~"5..",route!="other",}`)

	series := r.scrape()
	names := slices.Sorted(maps.Keys(series))
	var missing []string
	for s, who := range asked {
		if !slices.ContainsFunc(names, func(one string) bool { return selected(t, s, one) }) {
			missing = append(missing, who+": "+s)
		}
	}
	for _, name := range names {
		name, _, _ = strings.Cut(name, "{")
		if _, ok := known[baseOf(name, known)]; !ok {
			t.Errorf("%s is told by a running backend, and not described by its parts", name)
		}
	}
	slices.Sort(missing)
	for _, m := range missing {
		t.Errorf("nothing is told of what is asked: %s", m)
	}
}
