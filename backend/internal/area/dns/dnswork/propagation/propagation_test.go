package propagation

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mdns "github.com/miekg/dns"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
	"kloigos/rig/dnsserver"
)

const zone = dns.Name("example.org.")

func anyAddress(netip.Addr) error { return nil }

func want(t *testing.T, name, kind string, values ...string) Want {
	t.Helper()
	set, problems := dns.Draft{Name: name, Type: kind, TTL: 60, Values: values}.Check(zone)
	if problems != nil {
		t.Fatal(problems)
	}
	return Want{set.Name, set.Type, &set}
}

func statuses(report Report) map[string]Status {
	found := make(map[string]Status)
	for _, answer := range report.Servers {
		found[answer.Server.Name] = answer.Status
	}
	return found
}

func check(t *testing.T, config Config, want Want) Report {
	t.Helper()
	checker, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	report, err := checker.Check(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Two servers of one zone, knot and bind, get a record one after the other. A resolver that asked too early keeps the denial.
func TestARecordArrives(t *testing.T) {
	t.Parallel()
	options := dnsserver.Options{
		NameServers: []string{"ns1.example.org.", "ns2.example.org."},
		Records:     []string{"ns1 60 IN A 127.0.0.2", "ns2 60 IN A 127.0.0.1"},
	}
	// Found servers have one port, so both listen to the same. Named listens to addresses of interfaces only.
	second := dnsserver.Bind(t, options)
	options.Address, options.Port = "127.0.0.2", int(netip.MustParseAddrPort(second.Address).Port())
	first := dnsserver.Knot(t, options)
	resolver := dnsserver.Resolver(t, dnsserver.Options{}, first)

	config := Config{Zone: zone, Resolver: netip.MustParseAddrPort(resolver.Address), Port: netip.MustParseAddrPort(first.Address).Port(), Allow: anyAddress}
	new1 := want(t, "new", "A", "192.0.2.1")
	report := check(t, config, new1)
	if diff := cmp.Diff(map[string]Status{"ns1.example.org": Absent, "ns2.example.org": Absent}, statuses(report)); diff != "" || report.Everywhere {
		t.Error(diff, report)
	}
	if r := report.Resolver; r == nil || r.Status != Absent || r.TTL == 0 || r.TTL > dnsserver.NegativeTTL {
		t.Errorf("the resolver: %+v", r)
	}
	first.Update(t, "+new.example.org. 60 IN A 192.0.2.1")
	report = check(t, config, new1)
	if diff := cmp.Diff(map[string]Status{"ns1.example.org": Current, "ns2.example.org": Absent}, statuses(report)); diff != "" || report.Everywhere {
		t.Error(diff, report)
	}
	second.Update(t, "+new.example.org. 60 IN A 192.0.2.1")
	if report = check(t, config, new1); !report.Everywhere {
		t.Errorf("%+v", report)
	}
	// The resolver follows within the negative TTL. The deadline is far above it.
	for deadline := time.Now().Add(time.Minute); report.Resolver.Status != Current; report = check(t, config, new1) {
		if time.Now().After(deadline) {
			t.Fatalf("the resolver: %+v", report.Resolver)
		}
		time.Sleep(100 * time.Millisecond)
	}

	// Now it keeps the value. A deletion is not told by the servers, and still by the resolver, with the time that is left.
	first.Update(t, "-new.example.org. 60 IN A 192.0.2.1")
	second.Update(t, "-new.example.org. 60 IN A 192.0.2.1")
	report = check(t, config, Want{Name: new1.Name, Type: dns.A})
	if r := report.Resolver; !report.Everywhere || r.Status != Different || r.TTL == 0 || r.TTL > 60 || !cmp.Equal(r.Values, new1.Set.Values) {
		t.Errorf("after the deletion: %+v, resolver %+v", report, r)
	}

	no := errors.New("it is private")
	config.Allow = func(address netip.Addr) error {
		if address == netip.MustParseAddr("127.0.0.1") {
			return no
		}
		return nil
	}
	first.Stop()
	if diff := cmp.Diff(map[string]Status{"ns1.example.org": Unreachable, "ns2.example.org": NotAllowed}, statuses(check(t, config, new1))); diff != "" {
		t.Error(diff)
	}
	resolver.Stop()
	checker, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := checker.Check(t.Context(), new1); provider.ReasonOf(err) != provider.Unreachable {
		t.Errorf("without a resolver: %v", err)
	}
}

// Everything that a record set can be is recognized where a server holds it.
func TestEveryFormIsRecognized(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		long := strings.Repeat("x", 3000)
		server := start(t, dnsserver.Options{Records: []string{
			"@ 60 IN TXT " + strings.TrimSpace(strings.Repeat(`"`+strings.Repeat("x", 250)+`" `, 12)), "* 60 IN A 192.0.2.1", "alias 60 IN CNAME WWW.example.net.",
			"sub 60 IN NS ns.example.net.", "xn--bcher-kva 60 IN AAAA 2001:db8::1", "slow 61 IN A 192.0.2.1",
		}})
		config := Config{Zone: zone, Servers: []Server{{"s", netip.MustParseAddrPort(server.Address)}}, Allow: anyAddress}
		for _, test := range []struct {
			want   Want
			status Status
		}{
			{want(t, "@", "TXT", long), Current}, // does not fit into UDP
			{want(t, "*", "A", "192.0.2.1"), Current},
			{want(t, "alias", "CNAME", "www.example.net"), Current},
			{want(t, "alias", "A", "192.0.2.1"), Different},
			{want(t, "sub", "NS", "ns.example.net"), Current},
			{want(t, "sub", "NS", "other.example.net"), Different},
			{want(t, "bücher", "AAAA", "2001:db8::1"), Current},
			{want(t, "slow", "A", "192.0.2.1"), Different},
			{want(t, "@", "MX", "10 a.example.net"), Absent},
			{Want{Name: zone, Type: dns.MX}, Current},
			{Want{Name: "alias.example.org.", Type: dns.CNAME}, Different},
		} {
			report := check(t, config, test.want)
			if report.Servers[0].Status != test.status || report.Everywhere != (test.status == Current) || report.Resolver != nil {
				t.Errorf("%v %v: %+v, want %s", test.want.Name, test.want.Type, report, test.status)
			}
		}
		config.Zone = "example.com."
		if report := check(t, config, Want{Name: "www.example.com.", Type: dns.A}); report.Everywhere || report.Servers[0].Status != NotAuthoritative {
			t.Errorf("another zone: %+v", report)
		}
	})
}

// A hostile server gains nothing: its answers are failures, and a check ends in time.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	for name, behave := range map[string]func(query, answer *mdns.Msg) []byte{
		"noise":            func(_, _ *mdns.Msg) []byte { return make([]byte, 600) },
		"short":            func(_, _ *mdns.Msg) []byte { return []byte{1} },
		"another question": func(_, a *mdns.Msg) []byte { a.Question[0].Name = "example.com."; return pack(a) },
		"a query":          func(q, _ *mdns.Msg) []byte { return pack(q) },
		"another name": func(_, a *mdns.Msg) []byte {
			record, _ := mdns.NewRR("other.example.org. 60 IN A 192.0.2.1")
			a.Answer = []mdns.RR{record}
			return pack(a)
		},
		"no authority": func(_, a *mdns.Msg) []byte {
			record, _ := mdns.NewRR("www.example.org. 60 IN A 192.0.2.1")
			a.Answer, a.Authoritative = []mdns.RR{record}, false
			return pack(a)
		},
		"failure": func(_, a *mdns.Msg) []byte { a.Rcode = mdns.RcodeServerFailure; return pack(a) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			packets, err := net.ListenPacket("udp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = packets.Close() })
			go func() {
				buffer := make([]byte, 4096)
				for {
					n, from, err := packets.ReadFrom(buffer)
					if err != nil {
						return
					}
					query := new(mdns.Msg)
					if query.Unpack(buffer[:n]) == nil {
						answer := new(mdns.Msg)
						answer.SetReply(query)
						answer.Authoritative = true
						_, _ = packets.WriteTo(behave(query.Copy(), answer), from)
					}
				}
			}()
			config := Config{Zone: zone, Servers: []Server{{"s", netip.MustParseAddrPort(packets.LocalAddr().String())}}, Allow: anyAddress, Timeout: 2 * time.Second}
			began := time.Now()
			report := check(t, config, want(t, "www", "A", "192.0.2.1"))
			if report.Everywhere || report.Servers[0].Status == Current {
				t.Errorf("it is believed: %+v", report)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func pack(message *mdns.Msg) []byte {
	packed, err := message.Pack()
	if err != nil {
		panic(err)
	}
	return packed
}

func TestLongest(t *testing.T) {
	t.Parallel()
	if got := Longest(&dns.RecordSet{TTL: 300}, 5); got != 5*time.Minute {
		t.Errorf("a record set of 300 s: %s", got)
	}
	if got := Longest(nil, 5); got != 5*time.Second {
		t.Errorf("no record set: %s", got)
	}
}
