package playbooks

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// uplinkOf is what the probe makes of the answers of `ip` to its two questions.
const uplinkOf = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("kloigos_probe", "library/kloigos_probe.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
routes, addresses = json.loads(sys.argv[1]), json.loads(sys.argv[2])
probe = m.Probe(None)
probe.json_of = lambda argv: routes if "route" in argv else addresses.get(argv[-1], [])
print(json.dumps(probe.uplink()))
`

// The answers are iproute2's own, of Debian 12.
func TestProbeReadsTheUplink(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	const addresses = `{"ens3": [{"ifname": "ens3", "addr_info": [
		{"family": "inet", "local": "10.0.2.101", "prefixlen": 32, "scope": "global"},
		{"family": "inet", "local": "10.0.2.15", "prefixlen": 24, "scope": "global"}]}],
		"ens4": [{"ifname": "ens4", "addr_info": [{"family": "inet", "local": "10.0.3.15", "prefixlen": 24, "scope": "global"}]}]}`
	type uplink struct {
		Interface, Address, Gateway string
		Prefix                      int
	}
	ens3, ens4 := uplink{"ens3", "10.0.2.15", "10.0.2.2", 24}, uplink{"ens4", "10.0.3.15", "10.0.3.2", 24}
	for name, c := range map[string]struct {
		routes string
		want   uplink
	}{
		"one":            {`[{"dst":"default","gateway":"10.0.2.2","dev":"ens3","flags":["onlink"]}]`, ens3},
		"two next hops":  {`[{"dst":"default","flags":[],"nexthops":[{"gateway":"10.0.2.2","dev":"ens3","weight":1,"flags":[]},{"gateway":"10.0.3.2","dev":"ens4","weight":1,"flags":[]}]}]`, ens3},
		"a heavier one":  {`[{"dst":"default","flags":[],"nexthops":[{"gateway":"10.0.2.2","dev":"ens3","weight":1,"flags":[]},{"gateway":"10.0.3.2","dev":"ens4","weight":9,"flags":[]}]}]`, ens4},
		"one is down":    {`[{"dst":"default","flags":[],"nexthops":[{"gateway":"10.0.2.2","dev":"ens3","weight":1,"flags":["dead","linkdown"]},{"gateway":"10.0.3.2","dev":"ens4","weight":1,"flags":[]}]}]`, ens4},
		"nexthop object": {`[{"dst":"default","nhid":10,"protocol":"static","flags":[],"nexthops":[{"gateway":"10.0.2.2","dev":"ens3","weight":1,"flags":[]}]}]`, ens3},
		"metrics":        {`[{"dst":"default","gateway":"10.0.3.2","dev":"ens4","metric":200,"flags":[]},{"dst":"default","gateway":"10.0.2.2","dev":"ens3","metric":100,"flags":[]}]`, ens3},
		"a blackhole":    {`[{"type":"blackhole","dst":"default","flags":[]}]`, uplink{}},
		"none":           {`[]`, uplink{}},
	} {
		out, err := exec.Command(python, "-B", "-c", uplinkOf, c.routes, addresses).CombinedOutput()
		var got uplink
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func needAnsible(t *testing.T) {
	t.Helper()
	if exec.Command(python, "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
}
