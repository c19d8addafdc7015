package states_test

import (
	"os"
	"strings"
	"testing"

	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

// TestWhatDiffersLooksDifferent: what is handed out is not what is well, and what rests for different reasons has
// different shapes.
func TestWhatDiffersLooksDifferent(t *testing.T) {
	t.Parallel()
	drawn := map[string]string{}
	for what, tone := range map[string]ui.Tone{
		"healthy": states.Health("healthy"), "allocated": states.Unit("allocated"), "free": states.Unit("free"), "queued": states.Job("queued"),
		"draining": states.Host("draining"), "not known": states.Health("unknown"), "running": states.Job("running"), "failed": states.Job("failed"),
		"probed": states.Host("probed"), "over": states.Job("cancelled"), "else": ui.Idle, "changed": ui.Edit,
	} {
		var b strings.Builder
		if err := ui.Shape(tone).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		_, shape, _ := strings.Cut(b.String(), ">")
		if other, taken := drawn[shape]; taken {
			t.Errorf("%s and %s look the same", what, other)
		}
		drawn[shape] = what
		css, err := os.ReadFile("../static/files/app.css")
		if err != nil || !strings.Contains(string(css), ".tone-"+string(tone)) {
			t.Errorf("%s: tone %s has no colour, %v", what, tone, err)
		}
	}
	if states.Allocation("allocated") != states.Unit("allocated") || states.Address("allocated") != states.Unit("allocated") {
		t.Error("allocated looks different from noun to noun")
	}
}
