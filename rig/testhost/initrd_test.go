package testhost

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const modulesDep = `kernel/drivers/virtio/virtio.ko: kernel/drivers/virtio/virtio_ring.ko
kernel/drivers/virtio/virtio_ring.ko:
kernel/drivers/virtio/virtio_pci.ko: kernel/drivers/virtio/virtio_pci_modern_dev.ko kernel/drivers/virtio/virtio.ko kernel/drivers/virtio/virtio_ring.ko
kernel/drivers/virtio/virtio_pci_modern_dev.ko:
kernel/drivers/block/virtio_blk.ko: kernel/drivers/virtio/virtio.ko kernel/drivers/virtio/virtio_ring.ko
kernel/drivers/char/hw_random/virtio-rng.ko: kernel/drivers/virtio/virtio.ko
`

func TestModuleOrderLoadsDependenciesFirst(t *testing.T) {
	t.Parallel()
	order, err := moduleOrder(modulesDep, []string{"virtio_blk", "virtio_pci", "virtio_rng"})
	if err != nil {
		t.Fatal(err)
	}
	if len(order) != 6 {
		t.Errorf("%d modules, want 6 without a repetition: %v", len(order), order)
	}
	for line := range strings.Lines(modulesDep) {
		name, needs, _ := strings.Cut(strings.TrimSpace(line), ":")
		for _, need := range strings.Fields(needs) {
			if slices.Index(order, need) > slices.Index(order, name) {
				t.Errorf("%s comes after %s, which needs it", need, name)
			}
		}
	}
}

func TestModuleOrderRefusesAnUnknownModule(t *testing.T) {
	t.Parallel()
	if order, err := moduleOrder(modulesDep, []string{"floppy"}); err == nil {
		t.Errorf("got %v, want an error", order)
	}
}

// The archive is read back by busybox or cpio, so that the test does not
// repeat the writer's own idea of the format.
func TestInitrdIsReadableByCpio(t *testing.T) {
	t.Parallel()
	reader := []string{"cpio"}
	if program("cpio") == "cpio" {
		if program("busybox") == "busybox" {
			t.Skip("neither cpio nor busybox is installed")
		}
		reader = []string{program("busybox"), "cpio"}
	}
	root := t.TempDir()
	modules := filepath.Join(root, "lib/modules/6.1.0-test")
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(modules, "modules.dep"), modulesDep)
	for line := range strings.Lines(modulesDep) {
		name, _, _ := strings.Cut(line, ":")
		write(filepath.Join(modules, name), "module "+name)
	}
	write(filepath.Join(root, "usr/bin/busybox"), "the shell")

	initrd, err := buildInitrd(root, []byte("#!/bin/sh\nodd"), []string{"virtio_blk"})
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	cmd := exec.Command(reader[0], append(reader[1:], "-i", "-d")...)
	cmd.Dir, cmd.Stdin = out, bytes.NewReader(initrd)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for name, want := range map[string]string{
		"init":                  "#!/bin/sh\nodd",
		"bin/busybox":           "the shell",
		"bin/switch_root":       "the shell",
		"modules/order":         "virtio_ring.ko\nvirtio.ko\nvirtio_blk.ko\n",
		"modules/virtio_blk.ko": "module kernel/drivers/block/virtio_blk.ko",
	} {
		got, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	info, err := os.Stat(filepath.Join(out, "init"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("init: mode %v, error %v; want 0755", info.Mode(), err)
	}
}
