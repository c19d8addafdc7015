package httpapi

import (
	"net/netip"
	"strings"
	"testing"
)

func TestClientAddress(t *testing.T) {
	t.Parallel()
	proxies := netip.MustParsePrefix("10.0.0.0/8")
	for name, c := range map[string]struct{ peer, forwarded, want string }{
		"no proxy":                         {"192.0.2.1", "", "192.0.2.1"},
		"a stranger's word":                {"192.0.2.1", "for=198.51.100.7", "192.0.2.1"},
		"a proxy's word":                   {"10.0.0.1", "for=198.51.100.7;proto=https", "198.51.100.7"},
		"with a port":                      {"10.0.0.1", `for="198.51.100.7:1234"`, "198.51.100.7"},
		"IPv6":                             {"10.0.0.1", `For="[2001:db8::1]:1234"`, "2001:db8::1"},
		"mapped":                           {"::ffff:10.0.0.1", "for=198.51.100.7", "198.51.100.7"},
		"two proxies":                      {"10.0.0.1", "for=198.51.100.7, for=10.0.0.2", "198.51.100.7"},
		"what the client put before":       {"10.0.0.1", "for=127.0.0.1, for=198.51.100.7", "198.51.100.7"},
		"hidden":                           {"10.0.0.1", "for=_hidden", "10.0.0.1"},
		"unknown behind a proxy":           {"10.0.0.1", "for=unknown, for=10.0.0.2", "10.0.0.2"},
		"nothing of use":                   {"10.0.0.1", "proto=https", "10.0.0.1"},
		"a quoted comma":                   {"10.0.0.1", `for="a,for=127.0.0.1", for=198.51.100.7`, "198.51.100.7"},
		"a zone is no address of a client": {"10.0.0.1", `for="[fe80::1%eth0]"`, "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []string
			if c.forwarded != "" {
				told = forwardedFor(c.forwarded)
			}
			got := client(netip.MustParseAddr(c.peer), told, proxies.Contains)
			if got.String() != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func FuzzForwarded(f *testing.F) {
	f.Add(`for="[2001:db8::1]:1234";proto=https, for=1.2.3.4`)
	f.Fuzz(func(t *testing.T, header string) {
		for _, node := range forwardedFor(header) {
			if a, ok := nodeAddress(node); ok && !a.IsValid() {
				t.Errorf("%q became an invalid address", node)
			}
		}
	})
}

// Whatever encoding/json takes, the walk takes as well or refuses; it must
// come to its end.
func FuzzCheckJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\ud83d\ude00",true,null,false,{"b":{}}]}`, `[]`, `"\u0000"`, ` { "a" : -1 , "a" : 2.5 } `, strings.Repeat("[", 70) + strings.Repeat("]", 70)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		w := jsonWalk{text: body}
		if len(checkJSON(body)) > 0 {
			return
		}
		w.value(1)
		w.space()
		if w.at != len(body) {
			t.Errorf("the walk ended at %d of %d in %q", w.at, len(body), body)
		}
	})
}
