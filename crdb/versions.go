package crdb

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Versions returns the numbers of the migrations that this binary was built with, in order.
func Versions() ([]int64, error) {
	files, err := Migrations()
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "*.sql") // sorted
	if err != nil {
		return nil, fmt.Errorf("list the migrations: %w", err)
	}
	versions := make([]int64, len(names))
	for i, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if versions[i], err = strconv.ParseInt(number, 10, 64); err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", name, err)
		}
	}
	return versions, nil
}
