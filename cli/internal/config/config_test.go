package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kloigos/cli/internal/config"
)

func TestUpdatesAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kloigos", "config.yaml")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := config.Update(path, func(f *config.File) error {
				f.Set(config.Context{Name: fmt.Sprintf("c%d", i), Server: "https://kloigos.example", Token: "kl_secret"})
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f, err := config.Load(path)
	if err != nil || len(f.Contexts) != 20 {
		t.Errorf("%d contexts: %v", len(f.Contexts), err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".config-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRefusedChangeWritesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	err := config.Update(path, func(f *config.File) error {
		f.Set(config.Context{Name: "x"})
		return fmt.Errorf("no")
	})
	if _, missing := os.Stat(path); err == nil || !os.IsNotExist(missing) {
		t.Errorf("%v, %v", err, missing)
	}
}

func TestFileThatOthersReadIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("contexts: []\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil { // whatever the umask
		t.Fatal(err)
	}
	if _, err := config.Load(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("got %v", err)
	}
	if err := config.Update(path, func(*config.File) error { return nil }); err == nil {
		t.Error("it was written")
	}
}

func TestDeleteEndsTheCurrentOne(t *testing.T) {
	t.Parallel()
	f := config.File{Current: "a", Contexts: []config.Context{{Name: "a"}, {Name: "b"}}}
	if !f.Delete("a") || f.Delete("a") || f.Current != "" || f.Find("b") == nil || f.Find("a") != nil {
		t.Errorf("%+v", f)
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ xdg, home, want string }{
		{"/x", "/h", "/x/kloigos/config.yaml"},
		{"", "/h", "/h/.config/kloigos/config.yaml"},
		{"relative", "/h", "/h/.config/kloigos/config.yaml"},
		{"", "", ""},
	} {
		got, err := config.Path(func(name string) string { return map[string]string{"XDG_CONFIG_HOME": c.xdg, "HOME": c.home}[name] })
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}
