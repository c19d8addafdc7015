package wall

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ofSystem are the directories that every command has.
var ofSystem = []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/libx32/"}

// Program is what Spec.ReadOnly must name for a program to run: nothing for one of the system; else the program itself, or
// the virtual environment of Python that it is in, and the same of what its links and its first line lead to.
func Program(path string) []string {
	var shown []string
	for range 8 { // as many interpreters as lead to each other
		next := ""
		for _, at := range links(path) {
			if place := environment(at); place != "" && !slices.Contains(shown, place) {
				shown = append(shown, place)
			}
			next = at
		}
		if path = interpreter(next); path == "" {
			break
		}
	}
	// What lies in another one is there with it.
	return slices.DeleteFunc(slices.Clone(shown), func(place string) bool {
		return slices.ContainsFunc(shown, func(other string) bool { return strings.HasPrefix(place, other+"/") })
	})
}

// links are the paths from a link to what it leads to, the last one without any link.
func links(path string) []string {
	all := []string{path}
	for range 40 {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
		all = append(all, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		all = append(all, real)
	}
	return all
}

// environment is what to show of a program: its virtual environment, by Python's own rule (pyvenv.cfg beside it or one
// directory up), the directory of a Python that was installed by itself, or nothing but the program; "" for one of the
// system.
func environment(program string) string {
	if slices.ContainsFunc(ofSystem, func(dir string) bool { return strings.HasPrefix(program, dir) }) {
		return ""
	}
	dir := filepath.Dir(program)
	up := filepath.Dir(dir)
	for _, place := range []string{dir, up} {
		if _, err := os.Stat(filepath.Join(place, "pyvenv.cfg")); err == nil {
			return place
		}
	}
	if libraries, _ := filepath.Glob(filepath.Join(up, "lib", "python3*", "os.py")); filepath.Base(dir) == "bin" && len(libraries) > 0 {
		return up
	}
	return program
}

// interpreter is the program that the first line of a script names, "" for one without.
func interpreter(program string) string {
	f, err := os.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 512))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if err != nil || !bytes.HasPrefix(line, []byte("#!")) {
		return ""
	}
	words := strings.Fields(string(line[2:]))
	if len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	return words[0]
}
