package drift

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// filterJSON has the chains of kloigos.nft.j2 that every packet of a unit with a network of its own goes through, as nft 1.0.6
// lists them (libnftables-json(5)), without what they have counted. The uplink of the host is called UPLINK.
//
//go:embed filter.json
var filterJSON []byte

// filterChain is a chain: type, hook, priority and policy, which only the first ones have, and its rules in order.
type filterChain struct {
	Hook  string
	Rules [][]any
}

// networkChains are the names, in the order of the agent.
var networkChains = []string{"prerouting", "forward", "units_out", "units_in", "input", "units_to_host"}

// filterPath names those chains, each with the checksum that the agent makes of its hook and its rules.
func filterPath(uplink string) string {
	name, _ := json.Marshal(uplink) // a string
	var chains map[string]filterChain
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(filterJSON), `"UPLINK"`, string(name))), &chains); err != nil {
		panic("filter.json: " + err.Error()) // a test reads it
	}
	all := make([]string, len(networkChains))
	for i, name := range networkChains {
		sum := sha256.Sum256([]byte(chains[name].Hook + "\n" + hashes(chains[name].Rules)))
		all[i] = name + ":" + hex.EncodeToString(sum[:4])
	}
	return strings.Join(all, " ")
}
