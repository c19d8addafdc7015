package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kloigos/backend/api"
)

// unsafe is text that Ansible must not read as a template.
type unsafe struct {
	Text string `json:"__ansible_unsafe"`
}

// The dynamic inventory with plain Ansible against the real API: groups by
// region, zone, label and state, over more than one page of hosts.
func TestInventoryWithPlainAnsible(t *testing.T) {
	t.Parallel()
	b := setup(t)
	script, err := filepath.Abs("../../../inventory/kloigos_inventory.py")
	if err != nil {
		t.Fatal(err)
	}
	b.probed("h1")
	for _, r := range []api.RegisterHost{
		{Name: "web-1", Address: "192.0.2.1", AdminUser: "deploy", Port: 2222, Region: "eu1", Zone: "a", Labels: map[string]string{"tier": "front"}},
		{Name: "web-2", Address: "2001:db8::2", Region: "eu1", Zone: "b", Labels: map[string]string{"tier": "front", "disk": "nvme"}},
		{Name: "db-1", Address: "db1.example.org", Region: "us1", Zone: "a"},
	} {
		b.mustDo(http.MethodPost, "/hosts", r, 202)
	}
	b.sql(`INSERT INTO hosts (id, workspace_id, organization_id, name, address, port, admin_user, region, networks, labels, profile, trust_on_first_use, state, incarnation)
	       SELECT gen_random_uuid(), h.workspace_id, h.organization_id, 'many-' || n, '192.0.2.9', 22, 'root', 'far', h.networks, '{}', 'minimal', false, 'registered', gen_random_uuid()
	         FROM hosts h, generate_series(1, 500) AS n WHERE h.name = 'db-1'`)

	home := t.TempDir()
	play := filepath.Join(home, "play.yml")
	if err := os.WriteFile(play, []byte("- hosts: all\n  gather_facts: false\n  tasks: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(token, name string, args ...string) (string, error) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = home
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8", "ANSIBLE_LOCAL_TEMP=" + home, "ANSIBLE_INVENTORY_UNPARSED_FAILED=true",
			"KLOIGOS_URL=" + b.url, "KLOIGOS_TOKEN=" + token,
		}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, stderr.String())
		}
		return string(out), err
	}
	token := b.apiToken("inventory")

	out, err := run(token, "ansible-inventory", "-i", script, "--list")
	if err != nil {
		t.Fatal(err)
	}
	var listed struct {
		Meta struct {
			Hostvars map[string]struct {
				Host   unsafe            `json:"ansible_host"`
				Port   int               `json:"ansible_port"`
				User   unsafe            `json:"ansible_user"`
				State  unsafe            `json:"kloigos_state"`
				Labels map[string]unsafe `json:"kloigos_labels"`
			} `json:"hostvars"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal([]byte(out), &listed); err != nil {
		t.Fatal(err)
	}
	if n := len(listed.Meta.Hostvars); n != 504 {
		t.Errorf("%d hosts, want 504", n)
	}
	web := listed.Meta.Hostvars["web-1"]
	if web.Host.Text != "192.0.2.1" || web.Port != 2222 || web.User.Text != "deploy" || web.State.Text != "probing" || web.Labels["tier"].Text != "front" {
		t.Errorf("web-1 is %+v", web)
	}

	for limit, want := range map[string][]string{
		"label_tier_front:&zone_b": {"web-2"}, "region_us1,state_probed": {"db-1", "h1"},
	} {
		out, err := run(token, "ansible-playbook", "-i", script, "--list-hosts", "--limit", limit, play)
		if err != nil {
			t.Errorf("%s: %v", limit, err)
			continue
		}
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^      (\S+)$`).FindAllStringSubmatch(out, -1) {
			got = append(got, m[1])
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v\n%s", limit, got, want, out)
		}
	}

	if out, err := run("kl_wrong", "ansible-inventory", "-i", script, "--list"); err == nil {
		t.Errorf("with a wrong token: %.200s", out)
	}
}
