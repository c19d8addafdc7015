package kube

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// Version is one row of kube_versions.
type Version struct {
	ID           uuid.UUID `db:"id"`
	Name         string    `db:"name"`
	Active       bool      `db:"active"`
	UpgradesTo   []string  `db:"upgrades_to"`
	Bundle       string    `db:"bundle"`
	BundleSHA256 string    `db:"bundle_sha256"`
	Version      int64     `db:"version"`
	CreatedAt    time.Time `db:"created_at"`
	UpdatedAt    time.Time `db:"updated_at"`
}

// VersionDraft is a version as an operator writes it.
type VersionDraft struct {
	Name         string
	Active       bool
	UpgradesTo   []string
	Bundle       string // URL, or absolute path on each host
	BundleSHA256 string
}

var (
	versionName = regexp.MustCompile(`^v1\.(0|[1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,3})$`)
	sha256Hex   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	// bundlePath has no space and nothing that a shell or a template reads.
	bundlePath = regexp.MustCompile(`^(/[A-Za-z0-9][A-Za-z0-9._+-]*)+$`)
)

// maxUpgrades bounds the targets of one version.
const maxUpgrades = 50

// minor is the minor number of a version, such as 36 of v1.36.3.
func minor(name string) int {
	found := versionName.FindStringSubmatch(name)
	if found == nil {
		return -1
	}
	n, _ := strconv.Atoi(found[1]) // three digits at most
	return n
}

// check returns a fault.Invalid with all mistakes.
func (d VersionDraft) check() error {
	var bad fault.Invalid
	if !versionName.MatchString(d.Name) {
		bad.Add("name", "Use the full version, such as v1.36.3.")
	}
	if !sha256Hex.MatchString(d.BundleSHA256) {
		bad.Add("bundle_sha256", "Use 64 hexadecimal digits in lower case, as sha256sum writes them.")
	}
	if !goodBundle(d.Bundle) {
		bad.Add("bundle", "Use a URL with http or https and without a login, or the absolute path of a file on each host.")
	}
	if len(d.UpgradesTo) > maxUpgrades {
		bad.Add("upgrades_to", "Name at most %d versions.", maxUpgrades)
	}
	for _, to := range d.UpgradesTo {
		if from, into := minor(d.Name), minor(to); into < 0 || from >= 0 && (into < from || into > from+1) || to == d.Name {
			bad.Add("upgrades_to", "%s is no version that %s may be upgraded to: one of the same minor version or of the next.", strconv.Quote(to), d.Name)
		}
	}
	return bad.OrNil()
}

// goodBundle tells whether hosts can be told to find a bundle there.
func goodBundle(text string) bool {
	if strings.HasPrefix(text, "/") {
		return bundlePath.MatchString(text) && path.Clean(text) == text
	}
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.Fragment == "" &&
		!strings.ContainsAny(text, " \t\r\n\"'\\{}")
}

func (v Version) draft() VersionDraft {
	return VersionDraft{Name: v.Name, Active: v.Active, UpgradesTo: slices.Clone(v.UpgradesTo), Bundle: v.Bundle, BundleSHA256: v.BundleSHA256}
}

// facts are what an event tells of a version.
func (v Version) facts() map[string]any {
	return map[string]any{"name": v.Name, "active": v.Active, "upgrades_to": v.UpgradesTo, "bundle": v.Bundle, "bundle_sha256": v.BundleSHA256}
}
