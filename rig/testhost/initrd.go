package testhost

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// applets are what the initrd's init script uses of busybox.
var applets = []string{
	"sh", "mount", "insmod", "mkdir", "cp", "cat", "chmod", "chown", "sleep", "echo", "switch_root",
}

// buildInitrd makes the initial RAM disk out of an unpacked root: a static
// busybox, the modules with all that they depend on, and our init. It is not
// compressed: the guest's CPU may be emulated, this machine's memory is not.
func buildInitrd(root string, init []byte, modules []string) ([]byte, error) {
	versions, err := os.ReadDir(filepath.Join(root, "lib/modules"))
	if err != nil {
		return nil, fmt.Errorf("find the guest's kernel: %w", err)
	}
	if len(versions) != 1 {
		return nil, fmt.Errorf("find the guest's kernel: %d versions, want 1", len(versions))
	}
	base := filepath.Join(root, "lib/modules", versions[0].Name())
	dep, err := os.ReadFile(filepath.Join(base, "modules.dep"))
	if err != nil {
		return nil, fmt.Errorf("read the module dependencies: %w", err)
	}
	order, err := moduleOrder(string(dep), modules)
	if err != nil {
		return nil, err
	}
	busybox, err := os.ReadFile(filepath.Join(root, "usr/bin/busybox"))
	if err != nil {
		if busybox, err = os.ReadFile(filepath.Join(root, "bin/busybox")); err != nil {
			return nil, fmt.Errorf("read busybox: %w", err)
		}
	}

	var archive cpio
	for _, dir := range []string{"bin", "dev", "proc", "sys", "root", "modules"} {
		archive.add(dir, cpioDir|0o755, nil)
	}
	archive.add("bin/busybox", cpioFile|0o755, busybox)
	for _, name := range applets {
		archive.add("bin/"+name, cpioLink|0o777, []byte("busybox"))
	}
	var list strings.Builder
	for _, name := range order {
		content, err := os.ReadFile(filepath.Join(base, name))
		if err != nil {
			return nil, fmt.Errorf("read a kernel module: %w", err)
		}
		archive.add("modules/"+path.Base(name), cpioFile|0o644, content)
		list.WriteString(path.Base(name) + "\n")
	}
	archive.add("modules/order", cpioFile|0o644, []byte(list.String()))
	archive.add("init", cpioFile|0o755, init)
	return archive.finish(), nil
}

// moduleOrder resolves module names with the content of modules.dep and
// returns their paths in an order in which insmod accepts them.
func moduleOrder(dep string, wanted []string) ([]string, error) {
	paths := map[string]string{}
	needs := map[string][]string{}
	for _, line := range strings.Split(dep, "\n") {
		name, rest, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key := strings.ReplaceAll(strings.SplitN(path.Base(name), ".", 2)[0], "-", "_")
		paths[key] = name
		needs[name] = strings.Fields(rest)
	}
	var order []string
	done := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		for _, need := range needs[name] {
			visit(need)
		}
		order = append(order, name)
	}
	for _, name := range wanted {
		found, ok := paths[name]
		if !ok {
			return nil, fmt.Errorf("the guest's kernel has no module %q", name)
		}
		visit(found)
	}
	return order, nil
}

// The file types of a cpio entry's mode.
const (
	cpioDir  = 0o040000
	cpioFile = 0o100000
	cpioLink = 0o120000
)

// cpio writes the "newc" format, as Documentation/driver-api/early-userspace/
// buffer-format.rst of the Linux kernel describes it. All entries belong to root.
type cpio struct {
	buffer bytes.Buffer
	inode  int
}

func (c *cpio) add(name string, mode int, content []byte) {
	c.inode++
	c.entry(name, c.inode, mode, content)
}

func (c *cpio) entry(name string, inode, mode int, content []byte) {
	c.buffer.WriteString("070701")
	for _, field := range []int{inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0} {
		fmt.Fprintf(&c.buffer, "%08x", field)
	}
	c.buffer.WriteString(name)
	c.buffer.WriteByte(0)
	c.pad()
	c.buffer.Write(content)
	c.pad()
}

func (c *cpio) pad() {
	for c.buffer.Len()%4 != 0 {
		c.buffer.WriteByte(0)
	}
}

func (c *cpio) finish() []byte {
	c.entry("TRAILER!!!", 0, 0, nil)
	return c.buffer.Bytes()
}
