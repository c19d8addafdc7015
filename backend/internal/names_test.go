package internal_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestNamesCanBeSearchedFor: a function has a name of its own. Nobody finds the uses of one that is called as a word of any sentence.
func TestNamesCanBeSearchedFor(t *testing.T) {
	t.Parallel()
	common := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(?:is|at|of|or|one|some|looks|asked|in|on|by|to)[\[(]`)
	files := 0
	eachFile(t, func(path string) error {
		if !strings.HasSuffix(path, ".go") {
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
	if files < 500 {
		t.Errorf("%d files were read", files)
	}
}
