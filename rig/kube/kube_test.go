package kube

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A version has a place of its own in the cache, for programs of Kubernetes alone: an upgrade brings another kubelet and the same etcd.
func TestVersionsAreBuiltBesideEachOther(t *testing.T) {
	t.Parallel()
	plain := Builder{Dir: t.TempDir()}
	next := plain.For(NextVersion)
	if same := plain.For(Version).Path("kubelet"); plain.Path("kubelet") != same {
		t.Errorf("without a version it is at %s, with the same one at %s", plain.Path("kubelet"), same)
	}
	if plain.Path("kubelet") == next.Path("kubelet") {
		t.Errorf("both are at %s", next.Path("kubelet"))
	}
	if !strings.Contains(flags(next.version()), "gitVersion="+NextVersion) {
		t.Errorf("it is linked with %s", flags(next.version()))
	}
	if plain.Path(etcd) != next.Path(etcd) {
		t.Errorf("etcd is at %s and at %s", plain.Path(etcd), next.Path(etcd))
	}
	for _, program := range BundlePrograms() {
		if err := os.MkdirAll(filepath.Dir(plain.Path(program)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(plain.Path(program), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if missing := plain.Missing(BundlePrograms()...); len(missing) > 0 {
		t.Errorf("there is %v missing of what is there", missing)
	}
	missing := next.Missing(BundlePrograms()...)
	if slices.Contains(missing, etcd) || len(missing) != len(BundlePrograms())-len(etcdModules) {
		t.Errorf("of another stamp there is %v missing", missing)
	}
}
