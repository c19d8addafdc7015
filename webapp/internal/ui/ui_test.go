package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 512 << 20: "512 MiB", 4 << 30: "4 GiB", 1<<40 - 1: "1 TiB", 100 << 40: "100 TiB", 3 << 60: "3072 PiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestNumbersHaveTheirThousandsApart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 12345: "12,345", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
	if got := Count(1136, "address"); got != "1,136 addresses" {
		t.Errorf("Count: %q", got)
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		time.Second: "just now", -2 * time.Second: "just now", 30 * time.Second: "30 s ago", 61 * time.Second: "1 min 01 s ago", 20 * time.Minute: "20 min ago",
		5*time.Hour + 7*time.Minute: "5 h 07 min ago", 30 * time.Hour: "30 h ago", 72 * time.Hour: "3 days ago", -time.Hour: "in 1 h",
	} {
		if got := Ago(now.Add(-d), now); got != want {
			t.Errorf("Ago(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestTerminalKeepsColoursAndNothingElse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]Run{
		"plain\ttext\n":                            {{"plain\ttext\n", ""}},
		"\x1b[1;31mred\x1b[0m off":                 {{"red", "t1 tb"}, {" off", ""}},
		"\x1b[92mbright\x1b[39m":                   {{"bright", "t2"}},
		"a\x1b[2J\x1b[10;5Hb\x1b[?25lc":            {{"abc", ""}},
		"\x1b]8;;https://evil\x07text\x1b]8;;\x07": {{"text", ""}},
		"\x1b]1337;File=inline=1:AAAA\x1b\\x":      {{"x", ""}},
		"\x1b]0;never ended\nnext":                 {{"\nnext", ""}},
		"a\rb\x08c\x00d\x7f\u009b31me":             {{"abcd31me", ""}},
		"\x1b[38;5;196mx\x1b[38;2;1;2;3my":         {{"x", ""}, {"y", ""}},
		"\x1b[3":                                   nil,
		"\x1b":                                     nil,
		"\x1b[31\x1b[32mg":                         {{"g", "t2"}},
		"ünïcödé ✓":                                {{"ünïcödé ✓", ""}},
	} {
		if d := cmp.Diff(want, Terminal(in)); d != "" {
			t.Errorf("%q: %s", in, d)
		}
	}
}

func FuzzTerminal(f *testing.F) {
	f.Add("\x1b[1;31mred\x1b[0m")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Terminal(s) {
			if strings.ContainsAny(r.Text, "\x1b\r\x00\x07\x08") {
				t.Errorf("%q came out of %q", r.Text, s)
			}
		}
	})
}

func TestDiffMarksLines(t *testing.T) {
	t.Parallel()
	want := []DiffLine{{"--- before", "d-file"}, {"+++ after", "d-file"}, {"@@ -1 +1 @@", "d-at"}, {"-old", "d-del"}, {"+new", "d-add"}, {" same", ""}}
	if d := cmp.Diff(want, Diff("--- before\n+++ after\n@@ -1 +1 @@\n-old\n+\x1b[32mnew\n same\n")); d != "" {
		t.Error(d)
	}
}

func TestProblemsFindTheirFields(t *testing.T) {
	t.Parallel()
	p := Problems{Fields: []FieldProblem{{"ssh_keys[1]", "bad"}, {"ssh_keys", "few"}, {"ssh_keys_x", "other"}, {"labels.a", "odd"}, {"units[2].cpus", "taken"}}}
	if d := cmp.Diff([]string{"No. 2: bad", "few"}, p.For("ssh_keys")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a: odd"}, p.For("labels")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"No. 3: taken"}, p.For("units")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]FieldProblem{{"ssh_keys_x", "other"}}, p.Rest("ssh_keys", "labels", "units")); d != "" {
		t.Error(d)
	}
}

func TestCPUMapKeepsSocketsNodesAndThreadsTogether(t *testing.T) {
	t.Parallel()
	var cpus []CPU
	for c := range 40 { // 2 sockets of 10 cores of 2 threads; the threads are c and c+20
		cpus = append(cpus, CPU{Number: c, Socket: c % 20 / 10, Node: c % 20 / 10, Core: c % 10, Owner: OwnerNone})
	}
	sockets := CPUMap(cpus, map[int]string{1: "64 GiB"})
	if len(sockets) != 2 || len(sockets[0].Nodes) != 1 || len(sockets[0].Nodes[0].Cells) != 20 {
		t.Fatalf("%+v", sockets)
	}
	var first []string
	for _, c := range sockets[1].Nodes[0].Cells[:4] {
		first = append(first, c.Number)
	}
	if d := cmp.Diff([]string{"10", "30", "11", "31"}, first); d != "" {
		t.Error(d)
	}
	if m := sockets[1].Nodes[0].Memory; m != "64 GiB" {
		t.Errorf("memory %q", m)
	}
	n := sockets[0].Nodes[0]
	for _, c := range n.Cells {
		if c.X+cellWidth > n.Width || c.Y+cellHeight > n.Height {
			t.Errorf("CPU %s is outside", c.Number)
		}
	}
}
