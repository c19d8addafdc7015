package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/internal/testkit"
	"kloigos/rig/demo"
)

// fillProgram goes into the tree of the older version: its own showcase fills the database, as that version wrote its rows.
const fillProgram = `package main

import (
	"context"
	"log"
	"os"

	"github.com/jackc/pgx/v5"

	"kloigos/rig/showcase"
)

func main() {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if _, _, err := showcase.Fill(ctx, conn, showcase.Size{Hosts: 30, UnitsEach: 10, Jobs: 300, Events: 500, LogLines: 3000}); err != nil {
		log.Fatal(err)
	}
}
`

// grownLists are what both versions list, with what a release may say in other words or anew: texts, actions, and the
// playbooks that every release brings.
var grownLists = map[string][]string{
	"/hosts":         {"operations", "state_means", "health_means"},
	"/compute-units": {"operations", "state_means"},
	"/allocations":   {"operations", "state_means"},
	"/jobs":          {"operations", "kind_means", "state_means", "title"},
	"/plans":         {"operations", "kind_means", "state_means", "moved"}, // a release brings playbooks, and plans have seen those of before
	"/events":        {},
	"/playbooks":     {"default_version", "versions", "revision", "updated_at", "description", "operations"},
}

// TestUpgradeWithData brings the rows of an older version to this one: every object is still listed, in its order and as it
// was, nothing is broken that was whole, the password holds, and what is asked for is done.
func TestUpgradeWithData(t *testing.T) {
	t.Parallel()
	u := &upgrade{t: t, old: previous(t, map[string]string{"rig/showcase/cmd/fill/main.go": fillProgram}, "./backend/cmd/kloigos-backend", "./rig/showcase/cmd/fill")}
	if u.old == "" {
		t.Skip("there is no history to build an older version from")
	}
	database := testkit.DatabaseURL(t)
	u.env = []string{"KLOIGOS_DATABASE_URL=" + database, "KLOIGOS_KEYSET_FILE=" + filepath.Join(t.TempDir(), "keyset.json"), "KLOIGOS_ROLE=api"}
	said := u.run(true, "init")
	password := regexp.MustCompile(`(?m)^password: (\S+)$`).FindStringSubmatch(said)
	if password == nil {
		t.Fatalf("init: %s", said)
	}
	if said, err := exec.CommandContext(t.Context(), filepath.Join(u.old, "fill"), database).CombinedOutput(); err != nil {
		t.Fatalf("fill: %v\n%s", err, said)
	}
	brokenBefore := broken(u.run(true, "verify"))
	before := u.listed(true, password[1])

	u.run(false, "init")
	u.run(false, "init") // a second one finds nothing to do
	brokenAfter := broken(u.run(false, "verify"))
	after := u.listed(false, password[1])

	if diff := cmp.Diff(brokenBefore, brokenAfter); diff != "" { // the showcase tells no events of its allocations
		t.Errorf("what does not hold (-before +after):\n%s", diff)
	}
	for list, anew := range grownLists {
		if len(before[list]) == 0 {
			t.Errorf("%s: the older version lists nothing: this test would show nothing", list)
		}
		compareLists(t, list, before[list], after[list], anew)
	}
	t.Logf("%d hosts, %d units, %d allocations, %d jobs, %d plans, %d events", len(before["/hosts"]), len(before["/compute-units"]), len(before["/allocations"]),
		len(before["/jobs"]), len(before["/plans"]), len(before["/events"]))
}

// run runs a command of the old or of this version. verify fails where something does not hold.
func (u *upgrade) run(old bool, command string) (said string) {
	u.t.Helper()
	out, err := u.command(old, "127.0.0.1:0", command).CombinedOutput()
	if err != nil && command != "verify" {
		u.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// broken is the names of what verify found violated.
func broken(said string) (names []string) {
	for _, found := range regexp.MustCompile(`(?m)^VIOLATED +(\S+)`).FindAllStringSubmatch(said, -1) {
		// The showcase invents usage and snapshots, and a version of before does not look.
		if found[1] != "quotas_are_exact" && found[1] != "snapshots_are_whole" {
			names = append(names, found[1])
		}
	}
	return names
}

// listed starts a backend, logs in and reads every page of every list.
func (u *upgrade) listed(old bool, password string) map[string][]map[string]any {
	u.t.Helper()
	ports, err := demo.FreePorts(0, 1)
	if err != nil {
		u.t.Fatal(err)
	}
	listen := fmt.Sprintf("127.0.0.1:%d", ports[0])
	node := u.serve(old, listen)
	defer u.stop(node)
	c, err := client.New(client.Config{BaseURL: "http://" + listen})
	if err != nil {
		u.t.Fatal(err)
	}
	session, err := c.CreateSession(u.t.Context(), api.Login{Account: "admin", Password: password})
	if err != nil {
		u.t.Fatal(err)
	}
	lists := map[string][]map[string]any{}
	for list := range grownLists {
		lists[list] = u.everyPage("http://"+listen+"/api/v1"+list, session.Token)
	}
	if !old {
		u.allocates(c.WithToken(session.Token))
	}
	return lists
}

func (u *upgrade) everyPage(list, token string) (items []map[string]any) {
	u.t.Helper()
	for cursor, pages := "", 0; pages < 100; pages++ {
		req, err := http.NewRequestWithContext(u.t.Context(), http.MethodGet, list+"?limit=200&cursor="+url.QueryEscape(cursor), nil)
		if err != nil {
			u.t.Fatal(err)
		}
		if cursor == "" {
			req.URL.RawQuery = "limit=200"
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			u.t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			u.t.Fatalf("%s: %s %v\n%s", list, resp.Status, err, text)
		}
		var page struct {
			Items []map[string]any `json:"items"`
			Next  string           `json:"next_cursor"`
		}
		if err := json.Unmarshal(text, &page); err != nil {
			u.t.Fatal(err)
		}
		items = append(items, page.Items...)
		if page.Next == "" {
			return items
		}
		cursor = page.Next
	}
	u.t.Fatalf("%s: no end", list)
	return nil
}

// allocates asks for a unit on the hosts of before.
func (u *upgrade) allocates(c *client.Client) {
	u.t.Helper()
	allocation, _, err := c.CreateAllocation(u.t.Context(), api.CreateAllocation{
		LoginUser: "upgraded", CPUs: 1, SSHKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDmTRxm2ZOTFYWCJABU708vnPpq5tCoTpcbZ9h79uJYH"},
	})
	if err != nil || allocation.UnitID == "" || allocation.Address == "" {
		u.t.Errorf("an allocation after the upgrade: %+v, %v", allocation, err)
	}
}

// withoutAdded returns the later value without the fields that were added to it, at any depth.
func withoutAdded(was, is any) any {
	switch was := was.(type) {
	case map[string]any:
		if is, ok := is.(map[string]any); ok {
			kept := map[string]any{}
			for field, value := range was {
				if now, there := is[field]; there {
					kept[field] = withoutAdded(value, now)
				}
			}
			return kept
		}
	case []any:
		if is, ok := is.([]any); ok && len(is) == len(was) {
			kept := make([]any, len(is))
			for i := range is {
				kept[i] = withoutAdded(was[i], is[i])
			}
			return kept
		}
	}
	return is
}

// compareLists holds that every object of before is there, in the same order, and that each of its fields says the same.
// Objects and fields may have been added.
func compareLists(t *testing.T, list string, before, after []map[string]any, anew []string) {
	t.Helper()
	key := func(item map[string]any) string {
		if id, ok := item["id"].(string); ok {
			return id
		}
		return fmt.Sprint(item["name"])
	}
	there := map[string]map[string]any{}
	for _, item := range after {
		there[key(item)] = item
	}
	var order, now []string
	known := map[string]bool{}
	changed := map[string]string{} // field: an example
	for _, was := range before {
		order, known[key(was)] = append(order, key(was)), true
		is := there[key(was)]
		for field, value := range was {
			if diff := cmp.Diff(value, withoutAdded(value, is[field])); diff != "" && !slices.Contains(anew, field) {
				changed[field] = key(was) + " (-before +after):\n" + diff
			}
		}
	}
	for _, item := range after {
		if known[key(item)] {
			now = append(now, key(item))
		}
	}
	if !slices.Equal(order, now) {
		t.Errorf("%s: other objects, or in another order (-before +after):\n%s", list, cmp.Diff(order, now))
	}
	for _, field := range slices.Sorted(maps.Keys(changed)) {
		t.Errorf("%s: %s of %s", list, field, changed[field])
	}
}
