package reconcile

import (
	"strings"
	"testing"
	"time"
)

func observeAll(results string, threshold int) (f Found, statuses string) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, r := range results {
		c := Condition{Type: "c", Status: map[rune]Status{'t': True, 'f': False, 'u': Unknown, 'p': Progressing}[r], Threshold: threshold}
		f = f.observe(c, "p", at)
		at = at.Add(time.Minute)
		statuses += string(f.Status[0])
	}
	return f, statuses
}

// A check that begins to fail is progressing, and false from its threshold on.
func TestThreshold(t *testing.T) {
	t.Parallel()
	for results, want := range map[string]string{
		"tfff": "tppf", "ffft": "ppft", "fftfff": "pptppf", "fffuf": "ppfuf", "tfuff": "tpupf", "tptt": "tptt", "u": "u",
	} {
		if _, got := observeAll(results, 0); got != want {
			t.Errorf("%s: %s, want %s", results, got, want)
		}
	}
	if _, got := observeAll("tf", 1); got != "tf" {
		t.Errorf("with a threshold of 1: %s", got)
	}
}

// Since is of the status, not of the observation, and what it was before is kept.
func TestHistoryOfACondition(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f, _ := observeAll("tttffff", 0)
	if f.Since != begun.Add(5*time.Minute) || f.ObservedAt != begun.Add(6*time.Minute) || f.Failing != 4 || len(f.History) != 2 {
		t.Errorf("%+v", f)
	}
	if h := f.History; h[0].Status != Progressing || h[0].Since != begun.Add(3*time.Minute) || h[1].Status != True || h[1].Since != begun {
		t.Errorf("%+v", h)
	}
	if f, _ := observeAll(strings.Repeat("tu", 40), 0); len(f.History) != keptChanges || len(f.Results) != keptResults {
		t.Errorf("%d changes, %d results are kept", len(f.History), len(f.Results))
	}
}

// Flapping begins at half of all changes and ends at a quarter; what could not be
// observed counts for nothing.
func TestFlapping(t *testing.T) {
	t.Parallel()
	for results, want := range map[string]bool{
		"t": false, "tf": false, strings.Repeat("tf", 4): false,
		strings.Repeat("tf", 10):                               true,
		strings.Repeat("tu", 10):                               false,
		strings.Repeat("t", 30):                                false,
		strings.Repeat("tf", 10) + strings.Repeat("t", 8):      true,
		strings.Repeat("tf", 10) + strings.Repeat("t", 18):     false,
		strings.Repeat("t", 20) + "f" + strings.Repeat("t", 9): false,
	} {
		if f, _ := observeAll(results, 0); f.Flapping != want {
			t.Errorf("%s: flapping %v, share %.2f", results, f.Flapping, changes(f.Results))
		}
	}
}
