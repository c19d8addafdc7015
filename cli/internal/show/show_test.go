package show_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"kloigos/cli/internal/show"
)

// controls tells whether a terminal would do more than show the text.
func controls(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2028)
	})
}

type object struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	At     *time.Time        `json:"at,omitempty"`
}

const hostile = "a\x1b[31m\u009b2J\u202eb\r\n\tc\x7f\u2028d"

func TestTextOfAServerIsHarmless(t *testing.T) {
	t.Parallel()
	if got, want := show.Line(hostile), `a\x1b[31m\x9b2J\u202eb\x0d\n\tc\x7f\u2028d`; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	if got, want := show.Text("a\r\nb\tc\x1b"), "a\nb\tc\\x1b"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if got, want := show.Line("a\xffb"), `a\xffb`; got != want {
		t.Errorf("invalid UTF-8 %q, want %q", got, want)
	}
	if plain := "Größe ü 漢字 😀"; show.Line(plain) != plain {
		t.Errorf("%q becomes %q", plain, show.Line(plain))
	}
}

func TestTableStaysATable(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	columns := []show.Column[object]{
		{Header: "NAME", Value: func(o object) string { return o.Name }},
		{Header: "LABELS", Value: func(o object) string { return show.Map(o.Labels) }},
	}
	rows := []object{{Name: hostile}, {Name: "plain", Labels: map[string]string{"b": "2", "a": "1"}}}
	if err := show.Table(&b, columns, rows, true); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 3 || controls(b.String()) || !strings.HasSuffix(lines[1], "  -") || !strings.HasSuffix(lines[2], "  a=1,b=2") {
		t.Errorf("%q", b.String())
	}
}

// Whatever a server sends, JSON and YAML have no control characters and mean
// the same.
func TestFormatsKeepEveryText(t *testing.T) {
	t.Parallel()
	hold := func(t interface {
		Errorf(string, ...any)
		Fatal(...any)
	}, in object,
	) {
		var asJSON, asYAML bytes.Buffer
		if err := show.JSON(&asJSON, in); err != nil {
			t.Fatal(err)
		}
		if err := show.YAML(&asYAML, in); err != nil {
			t.Fatal(err)
		}
		var out object
		if err := json.Unmarshal(asJSON.Bytes(), &out); err != nil || out.Name != in.Name || out.Labels["x"] != in.Labels["x"] {
			t.Errorf("%q becomes %q in JSON: %v", in.Name, out.Name, err)
		}
		var read struct {
			Name   string
			Labels map[string]string
		}
		if err := yaml.Unmarshal(asYAML.Bytes(), &read); err != nil || read.Name != in.Name || read.Labels["x"] != in.Labels["x"] {
			t.Errorf("%q becomes %q in YAML: %v\n%s", in.Name, read.Name, err, asYAML.String())
		}
		if controls(asJSON.String()) || controls(asYAML.String()) {
			t.Errorf("control characters in %q or %q", asJSON.String(), asYAML.String())
		}
	}
	for _, s := range []string{hostile, "", "yes", "012", "1e3", "null", "- a", "a: b", "# c", "a\nb\n", " a ", "\u0085", "\ufeffx", "'", `"`, "😀\U000e0001"} {
		hold(t, object{Name: s, Labels: map[string]string{"x": s}})
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Filter(utf8.ValidString).Draw(t, "text")
		hold(t, object{Name: s, Labels: map[string]string{"x": s}})
	})
}

func TestDetail(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := show.Detail(&b, object{Name: "x\x1b", Labels: map[string]string{"k": "v"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "name:    x\\x1b\nlabels:  k=v\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// An answer that Detail would cut is not flat.
func TestFlat(t *testing.T) {
	t.Parallel()
	type plan struct {
		From  string   `json:"from"`
		Plans []object `json:"plans"`
	}
	if !show.Flat(object{Name: "x", Labels: map[string]string{"k": "v"}}) || !show.Flat(plan{From: "v1"}) || !show.Flat(&plan{}) {
		t.Error("what has no objects in it is not flat")
	}
	if show.Flat(plan{Plans: []object{{Name: "x"}}}) {
		t.Error("a list of objects is flat")
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 16 << 30: "16 GiB", 1 << 62: "4 EiB"} {
		if got := show.Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{-time.Second: "0s", 59 * time.Second: "59s", 90 * time.Second: "1m", 47 * time.Hour: "47h", 49 * time.Hour: "2d"} {
		if got := show.Span(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
