package internal_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../"

// eachFile calls f for each file of the repository, but for what generators and package managers made.
func eachFile(t *testing.T, f func(path string) error) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_templ.go"):
			return nil
		}
		return f(path)
	})
	if err != nil {
		t.Fatal(err)
	}
}
