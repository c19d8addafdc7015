package dns

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const zone = Name("example.org.")

func TestParseName(t *testing.T) {
	t.Parallel()
	label63 := strings.Repeat("a", 63)
	longest := strings.Repeat(label63+".", 3) + strings.Repeat("b", 61)
	for text, want := range map[string]Name{
		"Example.ORG":               "example.org.",
		" www.example.org. ":        "www.example.org.",
		"*.example.org":             "*.example.org.",
		"_acme-challenge.x.org":     "_acme-challenge.x.org.",
		"bücher.example":            "xn--bcher-kva.example.",
		"BÜCHER.example":            "xn--bcher-kva.example.",
		"XN--BCHER-KVA.example":     "xn--bcher-kva.example.",
		"faß.de":                    "xn--fa-hia.de.",
		"例え。テスト":                    "xn--r8jz45g.xn--zckzah.",
		"ＷＷＷ.example.org":           "www.example.org.",
		label63 + ".org":            Name(label63 + ".org."),
		longest:                     Name(longest + "."),
		"1.2.0.192.in-addr.arpa":    "1.2.0.192.in-addr.arpa.",
		"0/25.2.0.192.in-addr.arpa": "",
		"":                          "",
		".":                         "",
		"a..b":                      "",
		".a":                        "",
		"-a.org":                    "",
		"a-.org":                    "",
		"a b.org":                   "",
		`a\.b.org`:                  "",
		"a.*.org":                   "",
		"a*.org":                    "",
		"**.org":                    "",
		"xn--a.org":                 "",
		"xn--.org":                  "",
		"\u00ad.org":                "",
		"a\x00.org":                 "",
		"\xff.org":                  "",
		"☃\u200d.org":               "",
		label63 + "a.org":           "",
		longest + "b":               "",
		strings.Repeat("ü", 300):    "",
	} {
		got, err := ParseName(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("ParseName(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestParseNameIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Name{
		"": zone, "@": zone, "example.org": zone, "EXAMPLE.org.": zone,
		"www": "www.example.org.", "a.b": "a.b.example.org.", "*": "*.example.org.",
		"www.example.org": "www.example.org.", "www.example.org.": "www.example.org.",
		"www.example.com.": "", "www.": "", "notexample.org": "notexample.org.example.org.", "notexample.org.": "",
	} {
		got, err := ParseNameIn(zone, text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("ParseNameIn(%q) = %q, %v; want %q", text, got, err, want)
		}
		if err == nil {
			if again, err := ParseNameIn(zone, got.Relative(zone)); again != got || err != nil {
				t.Errorf("ParseNameIn(Relative(%q)) = %q, %v", got, again, err)
			}
		}
	}
}

func TestNameDisplay(t *testing.T) {
	t.Parallel()
	for name, want := range map[Name]string{
		"www.example.org.": "www.example.org", "xn--bcher-kva.example.": "bücher.example", "*.xn--fa-hia.de.": "*.faß.de",
		"xn--a.example.": "xn--a.example", `a\.b.example.`: `a\.b.example`,
	} {
		if got := name.Display(); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}

// anyName draws texts that are often names.
func anyName() *rapid.Generator[string] {
	label := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9_-]{1,20}`),
		rapid.SampledFrom([]string{"bücher", "faß", "例え", "xn--bcher-kva", "ＷＷＷ", "*", "_tcp", "ÄÖ", "Σίσυφος", "1"}),
		rapid.StringN(1, 8, 30),
	)
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(label, 1, 6).Draw(t, "labels"), ".") })
}

func TestNamesAreStable(t *testing.T) {
	t.Parallel()
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		name, err := ParseName(anyName().Draw(t, "name"))
		if err != nil {
			return
		}
		accepted++
		if again, err := ParseName(string(name)); again != name || err != nil {
			t.Fatalf("%q becomes %q, %v", name, again, err)
		}
		if again, err := ParseName(name.Display()); again != name || err != nil {
			t.Fatalf("%q is shown as %q and becomes %q, %v", name, name.Display(), again, err)
		}
	})
	if accepted == 0 {
		t.Error("no name was accepted, so nothing was tried")
	}
}

func TestOwnerNamesRoundTrip(t *testing.T) {
	t.Parallel()
	for set, want := range map[setKey]Name{
		{"www.example.org.", A}:         "_kloigos-a.www.example.org.",
		{"example.org.", MX}:            "_kloigos-mx.example.org.",
		{"*.example.org.", CNAME}:       "_kloigos-wildcard-cname.example.org.",
		{"wildcard-a.example.org.", A}:  "_kloigos-a.wildcard-a.example.org.",
		{"xn--bcher-kva.example.", TXT}: "_kloigos-txt.xn--bcher-kva.example.",
	} {
		if got := OwnerName(set.name, set.kind); got != want {
			t.Errorf("the owner of %v lies at %q, want %q", set, got, want)
		}
	}
	seen := make(map[Name]setKey)
	rapid.Check(t, func(t *rapid.T) {
		name, err := ParseName(anyName().Draw(t, "name"))
		if err != nil {
			return
		}
		set := setKey{name, rapid.SampledFrom(Types()).Draw(t, "type")}
		owner := OwnerName(set.name, set.kind)
		if gotName, gotType, ok := OwnedBy(owner); !ok || gotName != set.name || gotType != set.kind {
			t.Fatalf("%q is the owner of %q %q, %v; want %v", owner, gotName, gotType, ok, set)
		}
		if other, there := seen[owner]; there && other != set {
			t.Fatalf("%v and %v have one owner name %q", set, other, owner)
		}
		seen[owner] = set
	})
	for _, name := range []Name{"www.example.org.", "_kloigos-a.", "_kloigos-.x.", "_kloigos-soa.x.", "_kloigos-A.x.", "_kloigos-a.*.x.", "_kloigos-wildcard-a.*.x.", ".", ""} {
		if of, kind, ok := OwnedBy(name); ok {
			t.Errorf("%q is taken for the owner of %q %q", name, of, kind)
		}
	}
}

func TestParseOwner(t *testing.T) {
	t.Parallel()
	owner := Owner{"i-1", "z-1", "s-1"}
	if got, err := ParseOwner(owner.Record("www.example.org.", A).Values); got != owner || err != nil {
		t.Errorf("%v was read as %v, %v", owner, got, err)
	}
	if got, err := ParseOwner([]string{`"kloigos1 installation=i zone=z set=s later=x"`}); got != (Owner{"i", "z", "s"}) || err != nil {
		t.Errorf("a later key is not ignored: %v, %v", got, err)
	}
	for _, values := range [][]string{
		nil,
		{`""`},
		{`"kloigos1 installation=i zone=z set=s"`, `"kloigos1 installation=i zone=z set=s"`},
		{`"kloigos1 installation=i zone=z"`},
		{`"kloigos1 installation=i zone=z set=s set=t"`},
		{`"kloigos1 installation=i zone=z set="`},
		{`"kloigos1 installation=i  zone=z set=s"`},
		{`"kloigos1 installation=<b> zone=z set=s"`},
		{`"kloigos1 installation=i\000 zone=z set=s"`},
		{`"kloigos2 installation=i zone=z set=s"`},
		{`"heritage=external-dns,external-dns/owner=x"`},
		{`"kloigos1 installation=` + strings.Repeat("i", 65) + ` zone=z set=s"`},
		{`"` + strings.Repeat("kloigos1 ", 100) + `"`},
		{`\# 2 abcd`},
	} {
		if got, err := ParseOwner(values); err == nil {
			t.Errorf("%q was read as %v", values, got)
		}
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for text, names := range map[string]struct{ match, miss []Name }{
		"*.apps.example.org": {
			[]Name{"a.apps.example.org.", "*.apps.example.org.", "_acme.apps.example.org."},
			[]Name{"apps.example.org.", "a.b.apps.example.org.", "a.apps.example.com.", "xapps.example.org."},
		},
		"Web-*.*.example.org.": {
			[]Name{"web-1.a.example.org."},
			[]Name{"web-.a.example.org.", "web.a.example.org.", "web-1.example.org."},
		},
		"a*a.example.org": {[]Name{"aba.example.org.", "aaa.example.org."}, []Name{"aa.example.org.", "a.example.org."}},
		"example.org":     {[]Name{zone}, []Name{"www.example.org."}},
		"bücher.example.org": {
			[]Name{"xn--bcher-kva.example.org."}, []Name{"b.example.org."},
		},
	} {
		pattern, err := ParsePattern(zone, text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for _, name := range names.match {
			if !pattern.Match(name) {
				t.Errorf("%q does not match %q", text, name)
			}
		}
		for _, name := range names.miss {
			if pattern.Match(name) {
				t.Errorf("%q matches %q", text, name)
			}
		}
	}
	for _, text := range []string{"", "*", "**.example.org", "*a*.example.org", "*.example.com", "bü*.example.org", "xn--*.example.org", "a..example.org", "-*.example.org", "*.org"} {
		if pattern, err := ParsePattern(zone, text); err == nil {
			t.Errorf("%q became the pattern %q", text, pattern)
		}
	}
	if _, problems := CheckPatterns(zone, []string{"*.example.org", "*.EXAMPLE.org.", "**.example.org"}); len(problems) != 2 || problems[0].Field != "patterns[1]" {
		t.Errorf("the problems are %v", problems)
	}
}
