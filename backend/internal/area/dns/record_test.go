package dns

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	mdns "github.com/miekg/dns"
	"pgregory.net/rapid"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	a300 := strings.Repeat("a", 300)
	for _, test := range []struct {
		kind       Type
		text, want string
	}{
		{A, " 192.0.2.1 ", "192.0.2.1"},
		{A, "192.0.2.01", ""},
		{A, "2001:db8::1", ""},
		{A, "::ffff:192.0.2.1", ""},
		{AAAA, "2001:DB8:0:0::0:1", "2001:db8::1"},
		{AAAA, "192.0.2.1", ""},
		{AAAA, "::ffff:192.0.2.1", ""},
		{AAAA, "fe80::1%eth0", ""},
		{CNAME, "WWW.Example.ORG", "www.example.org."},
		{CNAME, "bücher.example", "xn--bcher-kva.example."},
		{CNAME, "192.0.2.1", ""},
		{CNAME, "*.example.org", ""},
		{NS, "ns1.example.org.", "ns1.example.org."},
		{PTR, "Host.example.org", "host.example.org."},
		{MX, "010  Mail.example.org", "10 mail.example.org."},
		{MX, "0 .", "0 ."},
		{MX, "65536 mail.example.org", ""},
		{MX, "-1 mail.example.org", ""},
		{MX, "mail.example.org", ""},
		{MX, "10 192.0.2.1", ""},
		{SRV, "10 5 0443 Host.example.org", "10 5 443 host.example.org."},
		{SRV, "0 0 0 .", "0 0 0 ."},
		{SRV, "10 5 host.example.org", ""},
		{TXT, `v=spf1 -all`, `"v=spf1 -all"`},
		{TXT, `say "hi" \o/`, `"say \"hi\" \\o/"`},
		{TXT, `"a" "b"`, `"ab"`},
		{TXT, `"a""b"`, `"ab"`},
		{TXT, `"a\"\065\a"`, `"a\"Aa"`},
		{TXT, ``, `""`},
		{TXT, `""`, `""`},
		{TXT, `ü`, `"\195\188"`},
		{TXT, `"; semicolon ( paren"`, `"; semicolon ( paren"`},
		{TXT, a300, `"` + a300[:255] + `" "` + a300[:45] + `"`},
		{TXT, `"` + a300 + `"`, `"` + a300[:255] + `" "` + a300[:45] + `"`},
		{TXT, `"open`, ""},
		{TXT, `"a" b`, ""},
		{TXT, `"\256"`, ""},
		{TXT, `"\25"`, ""},
		{TXT, "a\nb", ""},
		{TXT, "\"a\nb\"", ""},
		{TXT, strings.Repeat("a", 4097), ""},
		{CAA, `0 ISSUE "ca.example.net"`, `0 issue "ca.example.net"`},
		{CAA, `128 issuewild ca.example.net`, `128 issuewild "ca.example.net"`},
		{CAA, `0 issue ";"`, `0 issue ";"`},
		{CAA, `0 issue`, ""},
		{CAA, `256 issue "x"`, ""},
		{CAA, `0 is-sue "x"`, ""},
		{CAA, `0 issue "x" "y"`, ""},
		{"SOA", "x", ""},
	} {
		got, err := Canonical(test.kind, test.text)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("Canonical(%s, %q) = %q, %v; want %q", test.kind, test.text, got, err, test.want)
		}
	}
}

// The data on the wire is what an independent implementation makes of the canonical text.
func TestRdataAgreesWithMiekg(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(Types()).Draw(t, "type")
		value, err := Canonical(kind, anyValue(kind).Draw(t, "value"))
		if err != nil {
			return
		}
		record, err := mdns.NewRR("x.example.org. 60 IN " + string(kind) + " " + value)
		if err != nil {
			t.Fatalf("%s %s: %v", kind, value, err)
		}
		grouped, err := Group([]mdns.RR{record})
		if err != nil {
			t.Fatal(err)
		}
		data, err := Rdata(kind, value)
		if err != nil {
			t.Fatal(err)
		}
		want := []Stored{{RecordSet: RecordSet{"x.example.org.", kind, 60, []string{value}}, Rdata: [][]byte{data}}}
		if diff := cmp.Diff(want, grouped); diff != "" {
			t.Fatal(diff)
		}
	})
}

func anyValue(kind Type) *rapid.Generator[string] {
	number := rapid.StringMatching(`[0-9]{1,5}`)
	switch kind {
	case A:
		return rapid.StringMatching(`[0-9]{1,3}\.[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,3}`)
	case AAAA:
		return rapid.StringMatching(`[0-9a-fA-F]{1,4}:(0:|[0-9A-F]{1,4}:|:){1,4}[0-9a-f]{1,4}`)
	case MX:
		return rapid.Custom(func(t *rapid.T) string { return number.Draw(t, "preference") + " " + anyName().Draw(t, "name") })
	case SRV:
		return rapid.Custom(func(t *rapid.T) string {
			return number.Draw(t, "a") + " " + number.Draw(t, "b") + " " + number.Draw(t, "c") + " " + anyName().Draw(t, "name")
		})
	case TXT:
		return rapid.OneOf(rapid.String(), rapid.StringMatching(`"([a-z ;()]|\\[0-2][0-5][0-5]|\\"|\\\\){0,400}"`), rapid.StringN(200, 600, 1200))
	case CAA:
		return rapid.StringMatching(`(0|128|7) [a-zA-Z0-9]{1,16} ("([a-z ;=]|\\")*"|[a-z;.]{0,9})`)
	}
	return anyName()
}

func TestCanonicalIsStable(t *testing.T) {
	t.Parallel()
	for _, kind := range Types() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			accepted := 0
			rapid.Check(t, func(t *rapid.T) {
				value, err := Canonical(kind, anyValue(kind).Draw(t, "value"))
				if err != nil {
					return
				}
				accepted++
				if again, err := Canonical(kind, value); again != value || err != nil {
					t.Fatalf("%q becomes %q, %v", value, again, err)
				}
			})
			if accepted == 0 {
				t.Error("no value was accepted, so nothing was tried")
			}
		})
	}
}

// FuzzFromRdata: no data of a server causes a panic, and data that is accepted reads the same after it was written.
func FuzzFromRdata(f *testing.F) {
	for i, kind := range Types() {
		for _, text := range []string{"192.0.2.1", "2001:db8::1", "a.example", "10 a.example", "1 2 3 a.example", "text", `0 issue "x"`} {
			if data, err := Rdata(kind, text); err == nil {
				f.Add(i, data)
			}
		}
		f.Add(i, []byte{0xc0, 0})
		f.Add(i, []byte{0, 10, 0xc0, 2})
	}
	f.Fuzz(func(t *testing.T, index int, data []byte) {
		kind := Types()[uint(index)%uint(len(Types()))]
		value, err := FromRdata(kind, data)
		if err != nil {
			return
		}
		again, err := Canonical(kind, value)
		if err == nil && again != value {
			t.Fatalf("%s %q becomes %q", kind, value, again)
		}
		_, _ = ParseOwner([]string{value})
	})
}

func TestDraftCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		draft Draft
		want  RecordSet
		wrong []string
	}{
		{Draft{"WWW", "a", 60, []string{"192.0.2.2", "192.0.2.1"}}, RecordSet{"www.example.org.", A, 60, []string{"192.0.2.1", "192.0.2.2"}}, nil},
		{Draft{"@", "TXT", 30, []string{"x"}}, RecordSet{zone, TXT, 30, []string{`"x"`}}, nil},
		{Draft{"*", "CNAME", 604800, []string{"a.example.net"}}, RecordSet{"*.example.org.", CNAME, 604800, []string{"a.example.net."}}, nil},
		{Draft{"sub", "NS", 3600, []string{"ns.example.net"}}, RecordSet{"sub.example.org.", NS, 3600, []string{"ns.example.net."}}, nil},
		{Draft{"www", "A", 29, nil}, RecordSet{}, []string{"ttl", "values"}},
		{Draft{"www", "A", 604801, []string{"192.0.2.1", "x", "192.0.2.1"}}, RecordSet{}, []string{"ttl", "values[1]", "values[2]"}},
		{Draft{"@", "CNAME", 60, []string{"a.example.net"}}, RecordSet{}, []string{"name"}},
		{Draft{"@", "NS", 60, []string{"a.example.net"}}, RecordSet{}, []string{"name"}},
		{Draft{"*", "NS", 60, []string{"a.example.net"}}, RecordSet{}, []string{"name"}},
		{Draft{"x", "CNAME", 60, []string{"a.example.net", "b.example.net"}}, RecordSet{}, []string{"values"}},
		{Draft{"x", "CNAME", 60, []string{"X.example.org"}}, RecordSet{}, []string{"values[0]"}},
		{Draft{"x", "MX", 60, []string{"0 .", "10 a.example.net"}}, RecordSet{}, []string{"values"}},
		{Draft{"x", "SOA", 60, []string{"a"}}, RecordSet{}, []string{"type"}},
		{Draft{"_kloigos-a.x", "TXT", 60, []string{"a"}}, RecordSet{}, []string{"name"}},
		{Draft{strings.Repeat(strings.Repeat("a", 59)+".", 4) + "b", "A", 60, []string{"192.0.2.1"}}, RecordSet{}, []string{"name"}},
		{Draft{"x", "TXT", 60, []string{strings.Repeat("a", 4096), strings.Repeat("b", 4096), strings.Repeat("c", 4096), strings.Repeat("d", 4096)}}, RecordSet{}, []string{"values"}},
	} {
		got, problems := test.draft.Check(zone)
		var fields []string
		for _, problem := range problems {
			fields = append(fields, problem.Field)
			if !strings.HasSuffix(problem.Text, ".") {
				t.Errorf("%q is not a sentence", problem.Text)
			}
		}
		if !cmp.Equal(got, test.want) || !cmp.Equal(fields, test.wrong) {
			t.Errorf("%.100v is %v with %v; want %v with problems at %v", test.draft, got, problems, test.want, test.wrong)
		}
	}
}

func TestCheckBeside(t *testing.T) {
	t.Parallel()
	cname, address := RecordSet{Name: "x.example.org.", Type: CNAME}, RecordSet{Name: "x.example.org.", Type: A}
	text := RecordSet{Name: "x.example.org.", Type: TXT}
	if err := CheckBeside(cname, []RecordSet{cname, {Name: "y.example.org.", Type: A}}); err != nil {
		t.Error(err)
	}
	if err := CheckBeside(text, []RecordSet{address}); err != nil {
		t.Error(err)
	}
	if CheckBeside(cname, []RecordSet{address}) == nil || CheckBeside(address, []RecordSet{text, cname}) == nil {
		t.Error("a CNAME record may stand beside others")
	}
}

func TestGroupKeepsWhatTheServerHolds(t *testing.T) {
	t.Parallel()
	var records []mdns.RR
	for _, text := range []string{
		`B.example.org. 60 IN TXT "a" "B"`, "b.example.org. 60 IN MX 10 Mail.Example.org.", "b.EXAMPLE.org. 60 IN MX 5 mail.example.org.",
		`a.example.org. 60 IN SSHFP 1 1 ABCD`,
	} {
		record, err := mdns.NewRR(text)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	got, err := Group(records)
	if err != nil {
		t.Fatal(err)
	}
	want := []RecordSet{
		{"a.example.org.", "SSHFP", 60, []string{`\# 4 0101abcd`}},
		{"b.example.org.", MX, 60, []string{"10 mail.example.org.", "5 mail.example.org."}},
		{"b.example.org.", TXT, 60, []string{`"aB"`}},
	}
	for i, set := range got {
		if !set.Equal(want[i]) {
			t.Errorf("got %v, want %v", set.RecordSet, want[i])
		}
	}
	if len(got) != 3 || string(got[2].Rdata[0]) != "\x01a\x01B" || !strings.Contains(string(got[1].Rdata[1]), "\x04Mail\x07Example") {
		t.Errorf("the data of the server is not kept: %v", got)
	}
}
