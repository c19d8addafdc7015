package testhost

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// archiveKeyring verifies Debian's archive, on this machine while the image is
// built and in the guest afterwards.
const archiveKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// requirement is a file of this machine and the Debian package that brings it.
type requirement struct {
	name string
	pkg  string
}

var buildRequirements = []requirement{
	{name: "mmdebstrap", pkg: "mmdebstrap"},
	{name: "mke2fs", pkg: "e2fsprogs"},
	{name: archiveKeyring, pkg: "debian-archive-keyring"},
}

var runRequirements = []requirement{
	{name: "qemu-system-x86_64", pkg: "qemu-system-x86"},
	{name: "qemu-img", pkg: "qemu-utils"},
}

// MissingError lists what this machine lacks to build or run a test host.
type MissingError struct {
	Missing  []string // programs and files
	Packages []string // the Debian packages that bring them, in the same order
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("a test host needs %s, which this machine lacks; install with: apt-get install --no-install-recommends %s",
		strings.Join(e.Missing, ", "), strings.Join(e.Packages, " "))
}

// CheckPrograms returns a *MissingError when this machine can't build images or
// run them.
func CheckPrograms() error {
	return missing(append(append([]requirement{}, buildRequirements...), runRequirements...))
}

func missing(requirements []requirement) error {
	var lacks MissingError
	for _, r := range requirements {
		if present(r.name) {
			continue
		}
		lacks.Missing = append(lacks.Missing, r.name)
		lacks.Packages = append(lacks.Packages, r.pkg)
	}
	if len(lacks.Missing) == 0 {
		return nil
	}
	return &lacks
}

func present(name string) bool {
	if filepath.IsAbs(name) {
		_, err := os.Stat(name)
		return err == nil
	}
	return program(name) != name
}

// program finds a program on the PATH or in the system directories, which the
// PATH of an ordinary user lacks on Debian (mke2fs is in /usr/sbin). An unknown
// name is returned as it is.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return name
}
