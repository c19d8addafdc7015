package nodes

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// OldestCockroach is the lowest release that Kloigos works with, as major and
// minor version: the first with what its statements need (FOR UPDATE that locks
// only what a join returns, at SERIALIZABLE, with SKIP LOCKED), and one that was
// still maintained when this was written.
var OldestCockroach = [2]int{24, 3}

var cockroachVersion = regexp.MustCompile(`\bv(\d+)\.(\d+)`)

// IsCockroach tells, by what a database says of its version, whether it is a
// CockroachDB.
func IsCockroach(version string) bool { return strings.Contains(version, "CockroachDB") }

// CheckVersion refuses a CockroachDB that is too old.
func CheckVersion(version string) error {
	if !IsCockroach(version) {
		return nil
	}
	m := cockroachVersion.FindStringSubmatch(version)
	if m == nil {
		return fmt.Errorf("the database says %q, which names no version of CockroachDB", version)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < OldestCockroach[0] || major == OldestCockroach[0] && minor < OldestCockroach[1] {
		return fmt.Errorf("the database is CockroachDB %s; Kloigos needs v%d.%d or newer: upgrade the cluster first", m[0], OldestCockroach[0], OldestCockroach[1])
	}
	return nil
}
