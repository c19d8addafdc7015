package bundle

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// FileDiff is how one file of a version differs from that of another.
type FileDiff struct {
	Path           string
	Change         string // added, removed or changed
	Added, Removed int    // lines
	Unified        string
	Cut            bool // Unified is not all of it
}

const (
	maxFileDiff = 256 << 10
	maxDiff     = 1 << 20
)

// Diff tells how the files of one version, from, became those of another.
func Diff(from, to map[string][]byte) []FileDiff {
	names := map[string]bool{}
	for name := range from {
		names[name] = true
	}
	for name := range to {
		names[name] = true
	}
	var diffs []FileDiff
	left := maxDiff
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, had := from[name]
		b, has := to[name]
		if had && has && bytes.Equal(a, b) {
			continue
		}
		d := FileDiff{Path: name, Change: "changed", Unified: udiff.Unified("a/"+name, "b/"+name, string(a), string(b))}
		switch {
		case !had:
			d.Change = "added"
		case !has:
			d.Change = "removed"
		}
		d.count()
		if most := min(maxFileDiff, left); len(d.Unified) > most {
			d.Unified, d.Cut = d.Unified[:strings.LastIndexByte(d.Unified[:most], '\n')+1], true
		}
		left -= len(d.Unified)
		diffs = append(diffs, d)
	}
	return diffs
}

// count counts the lines of the whole diff; its first two are names.
func (d *FileDiff) count() {
	for i, line := range strings.Split(d.Unified, "\n") {
		switch {
		case i < 2:
		case strings.HasPrefix(line, "+"):
			d.Added++
		case strings.HasPrefix(line, "-"):
			d.Removed++
		}
	}
}
