package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamesCanBeSearchedFor: a function has a name of its own. Nobody finds the uses of one that is called as a word of any sentence.
func TestNamesCanBeSearchedFor(t *testing.T) {
	t.Parallel()
	common := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(?:is|at|of|or|one|some|looks|asked|in|on|by|to)[\[(]`)
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_templ.go") {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, found := range common.FindAllString(string(text), -1) {
			t.Errorf("%s: %s...) has a name that cannot be searched for", strings.TrimPrefix(path, root), found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("%d files were read", files)
	}
}
