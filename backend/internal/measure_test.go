package internal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The measure of the kernel: how much a noun takes. Record sets have a list, a page, create, change and delete, a job
// without a playbook, a policy and commands. CONTRIBUTING.md states the numbers, and this test counts them.

// ofNoun are the files that a noun is made of, by their names.
func ofNoun(t *testing.T, name string) (files []string) {
	t.Helper()
	eachFile(t, func(path string) error {
		base := filepath.Base(path)
		isCode := strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, ".templ")
		beside := strings.HasPrefix(path, root+"rig/") || strings.Contains(path, "/testdata/")
		if isCode && !beside && strings.Contains(base, name) {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// stated is a number that CONTRIBUTING.md gives in bold before some words.
func stated(t *testing.T, words string) int {
	t.Helper()
	text, err := os.ReadFile(root + "CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`\*\*([0-9,]+)\*\*\s+` + words).FindSubmatch(text)
	if m == nil {
		t.Fatalf("CONTRIBUTING.md states no number of %s", words)
	}
	n, err := strconv.Atoi(strings.ReplaceAll(string(m[1]), ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLinesOfANoun(t *testing.T) {
	t.Parallel()
	lines, code := 0, 0
	for _, file := range ofNoun(t, "record_set") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range bytes.Lines(text) {
			lines++
			if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
				n++
			}
		}
		code += n
		t.Logf("%4d %s", n, strings.TrimPrefix(file, root))
	}
	for _, c := range []struct {
		words string
		got   int
	}{{"lines of Go and templ", lines}, {"of them code", code}} {
		if limit := stated(t, c.words); c.got > limit || c.got < limit-60 {
			t.Errorf("record sets have %d %s, CONTRIBUTING.md says %d at most: cut, or write the number down", c.got, c.words, limit)
		}
	}
}

// Whatever has to be named to hand the noun in is named in as many other files as CONTRIBUTING.md says.
func TestFilesThatANounEdits(t *testing.T) {
	t.Parallel()
	handedIn := regexp.MustCompile(`\b(dns\.RecordSetJobs|dns\.RecordSetCheck,|dns\.RecordSetCheck\}|dnswork\.RecordSet(Handlers|Policy)|dnshttp\.RecordSets|dns\.RecordSets,|dnsRecordSet,)`)
	own := ofNoun(t, "record_set")
	var edited []string
	for _, file := range ofNoun(t, "") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if handedIn.Match(text) && !slices.Contains(own, file) {
			edited = append(edited, strings.TrimPrefix(file, root))
		}
	}
	want := []string{"backend/internal/app/dns.go", "cli/internal/noun/all.go", "webapp/internal/app/app.go"}
	if !slices.Equal(edited, want) || len(want) != stated(t, "existing files") {
		t.Errorf("a noun is handed in by %v, want %v", edited, want)
	}
}
