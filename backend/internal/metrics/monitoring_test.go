package metrics_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	kernel "kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/metrics"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/worker"
)

// monitoring is where an operator finds what a monitoring system is given.
const monitoring = "../../../inventory/monitoring/"

// described returns the labels of each metric that a whole backend registers, and
// of those that others tell.
func described(t *testing.T) map[string][]string {
	t.Helper()
	r := metrics.NewRegistry("test")
	db := &store.DB{DB: &kernel.DB{}} // nothing is asked of it
	metrics.Watch(r, db, db)
	metrics.Memory(r, func() (int64, error) { return 0, nil })
	httpapi.NewHealth(httpapi.Config{DB: db, Log: slog.New(slog.DiscardHandler), Metrics: r})
	queue.New(db, nil, queue.NewSignals(), queue.Config{Worker: uuid.New(), Metrics: r})
	worker.New(db, nil, nil, worker.Config{Metrics: r})
	none, err := reconcile.NewRegistry(nil)
	if err != nil {
		t.Fatal(err)
	}
	reconcile.New(db.DB, none, reconcile.Config{Log: slog.New(slog.DiscardHandler), Metrics: r})

	descriptions := make(chan *prometheus.Desc)
	go func() { defer close(descriptions); r.Describe(descriptions) }()
	shape := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	all := map[string][]string{"up": nil, "haproxy_server_status": {"proxy", "server", "state"}} // rig/demo asks a HAProxy
	for d := range descriptions {
		m := shape.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("a description of another shape: %s", d)
		}
		all[m[1]] = strings.FieldsFunc(m[2], func(c rune) bool { return c == ',' || c == ' ' })
	}
	// Its label is constant, and its process's own metrics have none.
	all["kloigos_build_info"] = []string{"version"}
	return all
}

type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

func readRules(t *testing.T) rules {
	t.Helper()
	text, err := os.ReadFile(monitoring + "rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var r rules
	if err := yaml.UnmarshalWithOptions(text, &r, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return r
}

type panel struct {
	ID      int
	Type    string
	Title   string
	Targets []struct{ Expr string }
	Panels  []panel
}

func readDashboard(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile(monitoring + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ Panels []panel }
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d.Panels
}

// Labels that Prometheus or the scrape settings give, and histograms.
var always = []string{"job", "instance", "le"}

var (
	inQuotes  = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	inRange   = regexp.MustCompile(`\[[^\]]*\]`)
	grouping  = regexp.MustCompile(`\b(by|without|on|ignoring)\s*\(([^)]*)\)`)
	selector  = regexp.MustCompile(`([a-z_]+)\{([^}]*)\}`)
	word      = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*\s*\(?`)
	labelName = regexp.MustCompile(`[a-zA-Z_]+`)
)

// baseOf is the metric that a histogram's series belong to.
func baseOf(name string, known map[string][]string) string {
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if short, ok := strings.CutSuffix(name, suffix); ok {
			if _, ok := known[short]; ok {
				return short
			}
		}
	}
	return name
}

// used returns the metrics that an expression asks for, and complains of what
// no backend has.
func used(t *testing.T, where, expr string, known map[string][]string) (names []string) {
	t.Helper()
	base := func(name string) string { return baseOf(name, known) }
	expr = inRange.ReplaceAllString(inQuotes.ReplaceAllString(expr, ""), "")
	for _, m := range selector.FindAllStringSubmatch(expr, -1) {
		for _, label := range labelName.FindAllString(m[2], -1) {
			if !slices.Contains(known[base(m[1])], label) && !slices.Contains(always, label) {
				t.Errorf("%s: %s has no label %s", where, m[1], label)
			}
		}
	}
	rest := grouping.ReplaceAllString(selector.ReplaceAllString(expr, "$1"), "")
	var labels []string
	for _, w := range word.FindAllString(rest, -1) {
		name := base(strings.TrimSpace(w))
		if strings.HasSuffix(name, "(") || slices.Contains([]string{"unless", "and", "or"}, name) {
			continue
		}
		if _, ok := known[name]; !ok {
			t.Errorf("%s: nobody tells %s", where, name)
		}
		names, labels = append(names, name), append(labels, known[name]...)
	}
	for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
		for _, label := range labelName.FindAllString(m[2], -1) {
			if !slices.Contains(labels, label) && !slices.Contains(always, label) {
				t.Errorf("%s: nothing in it has the label %s", where, label)
			}
		}
	}
	if len(names) == 0 {
		t.Errorf("%s asks for nothing: %s", where, expr)
	}
	return names
}

// Every alert and every panel asks for metrics that are there, by labels that
// they have; and there is no metric of ours that nobody looks at.
func TestNothingIsAskedThatNobodyTells(t *testing.T) {
	t.Parallel()
	known := described(t)
	if len(known) < 40 {
		t.Fatalf("only %d metrics: %v", len(known), known)
	}
	seen := map[string]bool{}
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			for _, name := range used(t, r.Alert, r.Expr, known) {
				seen[name] = true
			}
		}
	}
	ids := map[int]bool{}
	for _, p := range readDashboard(t) {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 {
			t.Errorf("panel %q shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			for _, name := range used(t, "panel "+p.Title, target.Expr, known) {
				seen[name] = true
			}
		}
	}
	for name := range known {
		if strings.HasPrefix(name, "kloigos_") && !seen[name] {
			t.Errorf("nobody looks at %s", name)
		}
	}
}

// runbook returns the sections of the page for operators by their anchors.
func runbook(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	headings := regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllSubmatchIndex(page, -1)
	for n, at := range headings {
		end := len(page)
		if n+1 < len(headings) {
			end = headings[n+1][0]
		}
		anchor := strings.ToLower(strings.ReplaceAll(string(page[at[2]:at[3]]), " ", "-"))
		sections[regexp.MustCompile(`[^a-z0-9_-]`).ReplaceAllString(anchor, "")] = string(page[at[1]:end])
	}
	return sections
}

// Whoever sees why a job failed finds the code among the failures.
func TestEveryJobErrorIsExplainedToOperators(t *testing.T) {
	t.Parallel()
	failures := runbook(t)["what-failures-look-like"]
	for _, code := range domain.JobErrorCodes() {
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + code + "`[^|]*\\|").MatchString(failures) {
			t.Errorf("docs/operations.md has no line of %s", code)
		}
	}
}

// Whoever is woken up is told what to do, in a section that names the alert.
func TestEveryAlertSaysWhatToDo(t *testing.T) {
	t.Parallel()
	sections := runbook(t)
	names := map[string]bool{}
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			if names[r.Alert] {
				t.Errorf("%s is there twice", r.Alert)
			}
			names[r.Alert] = true
			if !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
				t.Errorf("%s has severity %q", r.Alert, r.Labels["severity"])
			}
			for _, must := range []string{"summary", "action", "runbook"} {
				if r.Annotations[must] == "" {
					t.Errorf("%s has no %s", r.Alert, must)
				}
			}
			anchor, ok := strings.CutPrefix(r.Annotations["runbook"], "docs/operations.md#")
			if section := sections[anchor]; !ok || !strings.Contains(section, "`"+r.Alert+"`") {
				t.Errorf("%s leads to %q, which is not there or says nothing of it", r.Alert, r.Annotations["runbook"])
			}
		}
	}
	if len(names) < 20 {
		t.Errorf("%d alerts", len(names))
	}
}

// Each alert is raised by one of the cases that promtool runs, and left alone
// by another look.
func TestEveryAlertIsTried(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(monitoring + "rules_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	var tries struct {
		Tests []struct {
			Looks []struct {
				Alert  string           `yaml:"alertname"`
				Raised []map[string]any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(text, &tries); err != nil {
		t.Fatal(err)
	}
	raised, silent := map[string]bool{}, map[string]bool{}
	for _, try := range tries.Tests {
		for _, l := range try.Looks {
			raised[l.Alert] = raised[l.Alert] || len(l.Raised) > 0
			silent[l.Alert] = silent[l.Alert] || len(l.Raised) == 0
		}
	}
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			if !raised[r.Alert] || !silent[r.Alert] {
				t.Errorf("%s: is raised in a case (%v), is silent in a case (%v)", r.Alert, raised[r.Alert], silent[r.Alert])
			}
		}
	}
}

// TestPrometheusTakesTheRules with its own promtool, and every expression of
// the dashboard, and raises the alerts when it should.
func TestPrometheusTakesTheRules(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: inventory/install-packages test")
	}
	for _, args := range [][]string{
		{"check", "rules", monitoring + "rules.yml"},
		{"check", "rules", panelsAsRules(t)},
		{"check", "config", "--syntax-only", monitoring + "prometheus.yml"},
		{"test", "rules", monitoring + "rules_test.yml"},
	} {
		if said, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, said)
		}
	}
}

// panelsAsRules writes what the dashboard asks as rules that record it: only
// rules are parsed by promtool without a server.
func panelsAsRules(t *testing.T) (file string) {
	t.Helper()
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	type group struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	}
	g := group{Name: "dashboard"}
	for _, p := range readDashboard(t) {
		for n, target := range p.Targets {
			g.Rules = append(g.Rules, rule{fmt.Sprintf("panel_%d_%d", p.ID, n), target.Expr})
		}
	}
	if len(g.Rules) < 30 {
		t.Fatalf("only %d expressions in the dashboard", len(g.Rules))
	}
	text, err := yaml.Marshal(map[string][]group{"groups": {g}})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
