package drift

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testPath is what the agent says of the chains of a host whose uplink is ens3; its own test has the same.
const testPath = "prerouting:c330b820 forward:7889de78 units_out:13d951cf units_in:b7693b0d input:05ac229a units_to_host:ee4c51f9"

func TestThePathOfPackets(t *testing.T) {
	t.Parallel()
	if got := filterPath("ens3"); got != testPath {
		t.Errorf("%s", got)
	}
	if filterPath("eth0") == testPath {
		t.Error("the uplink makes no difference")
	}
}

// TestTheFilterIsTheRoles: the chains are those that the kernel shows after the template of the role was loaded.
func TestTheFilterIsTheRoles(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nft"); err != nil || os.Getuid() != 0 {
		t.Skip("needs nft and root")
	}
	text, err := os.ReadFile("../../../../playbooks/roles/host_initialize/templates/kloigos.nft.j2")
	if err != nil {
		t.Fatal(err)
	}
	rules := strings.ReplaceAll(string(text), "{{ host_initialize_uplink }}", "UPLINK")
	rules = regexp.MustCompile(`(?m)^\s*include .*$`).ReplaceAllString(rules, "")
	file := filepath.Join(t.TempDir(), "kloigos.nft")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("unshare", "--net", "sh", "-ec", "nft -f "+file+"; nft --json list table inet kloigos").Output()
	if err != nil {
		t.Fatal(err)
	}
	var listing struct {
		Nftables []struct {
			Rule *struct {
				Chain string
				Expr  []map[string]any
			}
		}
	}
	if err := json.Unmarshal(out, &listing); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, one := range listing.Nftables {
		if one.Rule == nil {
			continue
		}
		for _, e := range one.Rule.Expr {
			if e["counter"] != nil {
				e["counter"] = nil
			}
		}
		rule, err := json.Marshal(one.Rule.Expr)
		if err != nil {
			t.Fatal(err)
		}
		got[one.Rule.Chain] = append(got[one.Rule.Chain], string(rule))
	}
	var chains map[string]filterChain
	if err := json.Unmarshal(filterJSON, &chains); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for name, chain := range chains {
		for _, r := range chain.Rules {
			rule, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			want[name] = append(want[name], string(rule))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("filter.json (-) and the kernel (+) differ:\n%s", diff)
	}
}
