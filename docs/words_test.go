// Package docs_test holds the words of the documents against the rules of CONTRIBUTING.md.
package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxWords is how long a sentence may be.
const maxWords = 30

// documents are all Markdown files of the repository, by their paths in it.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git" || entry.Name() == "bin"):
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel("..", path)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSentencesAreShort(t *testing.T) {
	t.Parallel()
	for name, text := range documents(t) {
		for _, sentence := range longSentences(text) {
			t.Errorf("%s: %s", name, sentence)
		}
	}
}

// Tenants and operators are "they".
func TestNobodyIsHe(t *testing.T) {
	t.Parallel()
	person := regexp.MustCompile(`(?i)\b(he|him|his|himself|she|her|hers|herself)\b`)
	for name, text := range documents(t) {
		for number, line := range strings.Split(text, "\n") {
			if found := person.FindString(strings.ReplaceAll(line, `"he"`, "")); found != "" {
				t.Errorf("%s:%d: %q for a person: %s", name, number+1, found, line)
			}
		}
	}
}

func TestLongSentencesAreFound(t *testing.T) {
	t.Parallel()
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for name, test := range map[string]struct {
		text string
		want int
	}{
		"short":                      {words(maxWords) + ".", 0},
		"one word more":              {words(maxWords+1) + ".", 1},
		"over two lines":             {words(20) + "\n" + words(20) + ".", 1},
		"two sentences":              {words(20) + ". And " + words(20) + ".", 0},
		"a point inside of a name":   {words(20) + " example.com " + words(20) + ".", 1},
		"code is one word":           {words(20) + " `" + words(20) + "`.", 0},
		"a code block":               {"```sh\n" + words(40) + "\n```\n" + words(5), 0},
		"an indented block":          {"Run:\n\n    " + words(40) + "\n\nEnd.", 0},
		"a table":                    {"| " + words(40) + " |\n|---|\n| " + words(40) + " |", 0},
		"items of a list":            {"- " + words(20) + "\n- " + words(20), 0},
		"a long item":                {"- " + words(20) + "\n  " + words(20), 1},
		"numbers begin items":        {"1. " + words(20) + "\n2. " + words(20), 0},
		"the address of a link":      {words(25) + " [" + words(2) + "](https://example.com/" + strings.Repeat("a/", 20) + ").", 0},
		"a sentence with a question": {words(20) + "? " + "And " + words(20) + ".", 0},
	} {
		if got := longSentences(test.text); len(got) != test.want {
			t.Errorf("%s: %d long sentences, want %d: %q", name, len(got), test.want, got)
		}
	}
}

var (
	fence    = regexp.MustCompile("^\\s*(```|~~~)")
	item     = regexp.MustCompile(`^\s*([-*+]|\d+\.)\s+`)
	code     = regexp.MustCompile("`[^`]*`")
	link     = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	ends     = regexp.MustCompile(`[.!?]["')*_]*\s+["'(*_]*[A-Z0-9X]`)
	someWord = regexp.MustCompile(`[\pL\pN]`)
)

// longSentences returns the sentences of the running text that have more words than maxWords, each with its length.
func longSentences(markdown string) []string {
	var long []string
	for _, paragraph := range paragraphs(markdown) {
		paragraph = link.ReplaceAllString(code.ReplaceAllString(paragraph, "Xcode"), "$1")
		for _, sentence := range sentences(paragraph) {
			words := slices.DeleteFunc(strings.Fields(sentence), func(w string) bool { return !someWord.MatchString(w) })
			if len(words) > maxWords {
				long = append(long, fmt.Sprintf("%d words: %s", len(words), strings.Join(words, " ")))
			}
		}
	}
	return long
}

func sentences(paragraph string) []string {
	var list []string
	for {
		found := ends.FindStringIndex(paragraph)
		if found == nil {
			return append(list, paragraph)
		}
		// The last character of the match begins the next sentence.
		list, paragraph = append(list, paragraph[:found[1]-1]), paragraph[found[1]-1:]
	}
}

// paragraphs returns paragraphs and items of lists, without headings, tables and code.
func paragraphs(markdown string) []string {
	var list []string
	var lines []string
	end := func() {
		if len(lines) > 0 {
			list = append(list, strings.Join(lines, " "))
		}
		lines = nil
	}
	fenced, inItem := false, false
	for _, line := range strings.Split(markdown, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence.MatchString(line):
			fenced = !fenced
			end()
		case fenced:
		case trimmed == "":
			end()
		case strings.HasPrefix(trimmed, "#"), strings.HasPrefix(trimmed, "|"), strings.HasPrefix(trimmed, "<!--"):
			end()
			inItem = false
		case item.MatchString(line):
			end()
			inItem = true
			lines = []string{item.ReplaceAllString(line, "")}
		case len(lines) == 0 && strings.HasPrefix(line, "    ") && !inItem: // a block of code
		default:
			inItem = inItem && strings.HasPrefix(line, " ")
			lines = append(lines, trimmed)
		}
	}
	end()
	return list
}
