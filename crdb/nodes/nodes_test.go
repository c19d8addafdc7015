package nodes

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// What must not be exchanged stays in its order: first with TLS, then without.
func TestPreferredTLSStaysPreferred(t *testing.T) {
	t.Parallel()
	for sslmode, want := range map[string]int{"disable": 2, "require": 2, "prefer": 0, "allow": 0} {
		cfg, err := pgx.ParseConfig(fmt.Sprintf("postgresql://u@a:1,b:2/d?sslmode=%s", sslmode))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(all(cfg)); got != want {
			t.Errorf("%s: %d addresses are exchanged, want %d", sslmode, got, want)
		}
	}
}

// What the URL says counts, and one node may take longer than one of several.
func TestWhatTheURLSaysCounts(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct {
		timeout  string
		standbys bool
	}{
		"postgresql://u@a,b/d?sslmode=disable":                                {"3s", false},
		"postgresql://u@a/d?sslmode=disable":                                  {"10s", false},
		"postgresql://u@a,b/d?sslmode=disable&connect_timeout=7":              {"7s", false},
		"postgresql://u@a,b/d?sslmode=disable&target_session_attrs=any":       {"3s", true},
		"host=a,b user=u sslmode=disable target_session_attrs=prefer-standby": {"3s", false}, // has a check of its own
	} {
		cfg, err := pgx.ParseConfig(query)
		if err != nil {
			t.Fatal(err)
		}
		Prepare(cfg)
		if cfg.ConnectTimeout.String() != want.timeout || (cfg.ValidateConnect == nil) != want.standbys {
			t.Errorf("%s: %s, checked: %t", query, cfg.ConnectTimeout, cfg.ValidateConnect != nil)
		}
	}
}
