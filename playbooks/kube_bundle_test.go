package playbooks

import (
	"os/exec"
	"strings"
	"testing"
)

// bundled brings images to a host whose containerd is a list, and prints what the module did with them.
const bundled = `
import importlib.util, io, json, sys, tarfile
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_kube_bundle", "library/kloigos_kube_bundle.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
directory, images = sys.argv[1], sys.argv[2:]
m.LIBRARY, m.STATE, m.BIN = directory + "/lib", directory + "/state", directory
m.MARK, m.FETCHED, m.BROUGHT = m.STATE + "/bundle.json", m.STATE + "/bundle.tar", m.STATE + "/brought.json"

def add(tar, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))

with tarfile.open(directory + "/bundle.tar", "w") as tar:
    for name in ("kubeadm", "kubelet"):
        add(tar, "bin/" + name, b"#!/bin/sh\n")
    for number, image in enumerate(images):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w") as inner:
            if number % 2:
                add(inner, "index.json", json.dumps({"manifests": [{"annotations": {"io.containerd.image.name": image}}]}).encode())
            else:
                add(inner, "manifest.json", json.dumps([{"RepoTags": [image]}]).encode())
        add(tar, "images/%d.tar" % number, file.getvalue())

class Failed(Exception):
    pass

class Module:
    check_mode = False
    params = {"state": "present", "version": "v1.36.3", "source": directory + "/bundle.tar", "sha256": m.hashlib.sha256(open(directory + "/bundle.tar", "rb").read()).hexdigest()}
    def run_command(self, argv, **_):
        print(" ".join(argv[3:]).replace(directory, "D"))
        return 0, "", ""
    def fail_json(self, msg, **_):
        raise Failed(msg)

bundle = m.Bundle(Module())
try:
    bundle.present()
    first = len(bundle.changes)
    bundle.present()
    assert len(bundle.changes) == first, "a second run changes something"
except Failed as problem:
    print("failed:", problem)
`

func bundle(t *testing.T, images ...string) string {
	t.Helper()
	needAnsible(t)
	out, err := exec.Command(python, append([]string{"-B", "-c", bundled, t.TempDir()}, images...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// The container runtime asks for the image of pause by a name of ours, whatever its version is and whoever wrote the file.
func TestPauseOfTheBundleGetsAName(t *testing.T) {
	t.Parallel()
	for _, images := range [][]string{
		{"registry.k8s.io/pause:3.10.2", "registry.k8s.io/etcd:3.6.8-0"},
		{"registry.k8s.io/etcd:3.6.8-0", "mirror.example:5000/k8s/pause:3.9"},
	} {
		out := bundle(t, images...)
		pause := images[0]
		if strings.Contains(images[1], "pause") {
			pause = images[1]
		}
		if want := "images import D/state/0.tar\nimages import D/state/1.tar\nimages tag --force " + pause + " kloigos.local/pause:bundle\n"; out != want {
			t.Errorf("%q, want %q", out, want)
		}
	}
}

func TestABundleWithoutPauseIsRefused(t *testing.T) {
	t.Parallel()
	if out := bundle(t, "registry.k8s.io/etcd:3.6.8-0", "registry.k8s.io/coredns/coredns:v1.14.2"); !strings.Contains(out, "failed: the bundle has no image of pause") {
		t.Error(out)
	}
}
