package reader

import (
	"errors"
	"testing"

	"kloigos/backend/api"
)

// TestALateAnswerIsNoDrift: what systemd or nft did not tell in time is not told as missing, unless that goes on.
func TestALateAnswerIsNoDrift(t *testing.T) {
	t.Parallel()
	for _, late := range []string{"systemctl", "nft"} {
		fails := true
		r := &Reader{Root: copyOf(t, map[string]string{"etc/kloigos/kloigos.nft": ""}), Network: &network{}}
		r.Ask = func(program string, _ ...string) ([]byte, error) {
			if fails && program == late {
				return nil, errors.New("signal: killed")
			}
			if program == "nft" {
				return []byte(`{"nftables": [{"chain": {"name": "output", "type": "filter", "hook": "output", "prio": 0, "policy": "accept"}}]}`), nil
			}
			return []byte("kloigos-nft.service loaded active exited x\n"), nil
		}
		told := func() string {
			r.Look(t.Context())
			state := r.State()
			if len(state) == 0 {
				return "nothing"
			}
			if state[0].Part != api.AgentHostPart {
				t.Fatalf("%+v", state)
			}
			return state[0].Facts["services.nft"] + "; " + state[0].Facts["table.hook"]
		}
		const good = "active, disabled; filter output 0 accept"
		bad := map[string]string{"systemctl": "missing; filter output 0 accept", "nft": "active, disabled; unreadable"}[late]
		if got := told(); got != "nothing" {
			t.Errorf("%s: at first %q is told", late, got)
		}
		fails = false
		if got := told(); got != good {
			t.Errorf("%s: %q is told", late, got)
		}
		fails = true
		for look, want := range []string{good, good, bad, bad} {
			if got := told(); got != want {
				t.Errorf("%s: late for the %d. time, %q is told", late, look+1, got)
			}
		}
		fails = false
		if got := told(); got != good {
			t.Errorf("%s: in time again, %q is told", late, got)
		}
	}
}
