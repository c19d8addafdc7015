package ansible

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

const (
	modulesPrefix = "m-"
	// maxModules is how many bundles' modules are kept: some 130 KB a module, and some ten modules a bundle.
	maxModules = 8
)

var sha256Form = regexp.MustCompile(`^[0-9a-f]{64}\z`)

// keptModules is the directory in which what Ansible packs of a bundle is kept (see launch/kloigos_launch.py), or
// empty: a run goes as well without, only slower. Those that were not used for the longest time are given up.
func keptModules(root, sum string) string {
	if !sha256Form.MatchString(sum) {
		return ""
	}
	dir := filepath.Join(root, modulesPrefix+sum)
	if err := os.Mkdir(dir, 0o700); err == nil {
		forgetModules(root)
	}
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return ""
	}
	return dir
}

func forgetModules(root string) {
	dirs, _ := filepath.Glob(filepath.Join(root, modulesPrefix+"*"))
	used := func(dir string) int64 {
		info, err := os.Stat(dir)
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(dirs, func(a, b string) int { return int(min(max(used(b)-used(a), -1), 1)) })
	for _, dir := range dirs[min(maxModules, len(dirs)):] {
		_ = os.RemoveAll(dir)
	}
}
