package testhost

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

//go:embed all:guest
var guestFiles embed.FS

const (
	release               = "bookworm"
	defaultMirror         = "http://deb.debian.org/debian"
	defaultSecurityMirror = "http://deb.debian.org/debian-security"

	// imageGiB is the size of the root file system. The file is sparse.
	imageGiB = 8
)

// packages is what the image holds beside Debian's minimal set: what the
// runtime profile `minimal` installs, so that a test host starts where a
// prepared host is, and what makes a server of it. The cloud kernel has every
// module that Kloigos needs and boots faster than the general one.
var packages = []string{
	"acl", "apparmor", "apparmor-utils", "at", "busybox-static", "ca-certificates", "cron",
	"dbus", "dbus-user-session", "debian-archive-keyring", "e2fsprogs", "ifupdown", "iproute2",
	"iputils-arping", "iputils-ping", "kmod", "libpam-systemd", "linux-image-cloud-amd64", "lvm2",
	"netbase", "nftables", "openssh-server", "procps", "python3", "python3-apt", "sudo",
	"systemd-sysv", "udev",
}

// initrdModules are the modules that the guest needs to reach its root file
// system and what this machine hands over to it. ext4 is built in.
var initrdModules = []string{"virtio_pci", "virtio_blk", "qemu_fw_cfg"}

// Recipe is everything that decides what an image holds. Two equal recipes
// make equivalent images, up to what the mirror served on the day.
type Recipe struct {
	Packages []string
	Modules  []string
	Sources  string // apt's sources, deb822
	GiB      int
	Files    fs.FS // the guest folder
}

// NewRecipe is the recipe for this machine: the embedded one with the mirror
// that this machine's apt is set to.
func NewRecipe() (Recipe, error) {
	files, err := fs.Sub(guestFiles, "guest")
	if err != nil {
		return Recipe{}, fmt.Errorf("open the embedded guest files: %w", err)
	}
	mirror, security := machineMirrors("/etc/apt")
	return Recipe{
		Packages: packages,
		Modules:  initrdModules,
		Sources:  aptSources(mirror, security),
		GiB:      imageGiB,
		Files:    files,
	}, nil
}

// Hash identifies the recipe: 16 hex digits of a SHA-256 over all of its parts.
func (r Recipe) Hash() (string, error) {
	sum := sha256.New()
	// Each part is written with its length, so that no two recipes read the same.
	part := func(name, content string) {
		fmt.Fprintf(sum, "%s %d\n%s\n", name, len(content), content)
	}
	r.Packages = sorted(r.Packages)
	part("modules", strings.Join(r.Modules, " "))
	part("sources", r.Sources)
	part("mmdebstrap", strings.Join(mmdebstrapArgs(r, "/recipe", "/root"), "\n"))
	part("mke2fs", strings.Join(mke2fsArgs(r, "/root", "/image"), "\n"))
	part("applets", strings.Join(applets, " "))
	err := fs.WalkDir(r.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(r.Files, path)
		if err != nil {
			return err
		}
		part("file "+path, string(content))
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("hash the recipe: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

func sorted(list []string) []string {
	out := append([]string{}, list...)
	sort.Strings(out)
	return out
}

func aptSources(mirror, security string) string {
	stanza := func(uri, suites string) string {
		return fmt.Sprintf("Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n", uri, suites, archiveKeyring)
	}
	return stanza(mirror, release+" "+release+"-updates") + "\n" + stanza(security, release+"-security")
}

// machineMirrors reads apt's configuration and returns the mirrors of Debian's
// archive and of its security updates, the public ones where none is named.
func machineMirrors(aptDir string) (mirror, security string) {
	mirror, security = defaultMirror, defaultSecurityMirror
	var uris []string
	names := []string{filepath.Join(aptDir, "sources.list")}
	for _, pattern := range []string{"*.list", "*.sources"} {
		found, _ := filepath.Glob(filepath.Join(aptDir, "sources.list.d", pattern))
		names = append(names, found...)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		uris = append(uris, sourceURIs(string(content), strings.HasSuffix(name, ".sources"))...)
	}
	foundMirror, foundSecurity := false, false
	for _, uri := range uris {
		parsed, err := url.Parse(uri)
		if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") {
			continue
		}
		switch path := strings.TrimSuffix(parsed.Path, "/"); {
		case strings.HasSuffix(path, "/debian") && !foundMirror:
			mirror, foundMirror = uri, true
		case strings.HasSuffix(path, "/debian-security") && !foundSecurity:
			security, foundSecurity = uri, true
		}
	}
	return mirror, security
}

// sourceURIs lists the URIs of binary packages in one of apt's source files,
// either in the one-line style or in deb822.
func sourceURIs(content string, deb822 bool) []string {
	if !deb822 {
		var uris []string
		lines := bufio.NewScanner(strings.NewReader(content))
		for lines.Scan() {
			line := lines.Text()
			if !strings.HasPrefix(line, "deb ") && !strings.HasPrefix(line, "deb\t") {
				continue
			}
			rest := strings.TrimSpace(line[3:])
			if strings.HasPrefix(rest, "[") {
				_, rest, _ = strings.Cut(rest, "]")
			}
			if fields := strings.Fields(rest); len(fields) > 0 {
				uris = append(uris, fields[0])
			}
		}
		return uris
	}
	var uris []string
	for _, stanza := range strings.Split(content, "\n\n") {
		fields := map[string]string{}
		for _, line := range strings.Split(stanza, "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
				fields[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
			}
		}
		if fields["enabled"] == "no" || !strings.Contains(" "+fields["types"]+" ", " deb ") {
			continue
		}
		uris = append(uris, strings.Fields(fields["uris"])...)
	}
	return uris
}
