package rfc2136

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
	"kloigos/rig/dnsserver"
)

const zone = dns.Name("example.org.")

func anyAddress(netip.Addr) error { return nil }

func keyOf(key dnsserver.Key) Key {
	return Key{dns.Name(key.Name), Algorithm(key.Algorithm), key.Secret}
}

// setup starts a server and makes a client of it.
func setup(t *testing.T, start dnsserver.Start, options dnsserver.Options, changes ...func(*Config)) (*dnsserver.Server, *Client) {
	t.Helper()
	server := start(t, options)
	return server, clientOf(t, server, changes...)
}

func clientOf(t *testing.T, server *dnsserver.Server, changes ...func(*Config)) *Client {
	t.Helper()
	config := Config{Server: server.Address, Zone: dns.Name(server.Zone), Key: keyOf(server.SHA256), Allow: anyAddress}
	for _, change := range changes {
		change(&config)
	}
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func set(t *testing.T, name, kind string, ttl int, values ...string) dns.RecordSet {
	t.Helper()
	made, problems := dns.Draft{Name: name, Type: kind, TTL: ttl, Values: values}.Check(zone)
	if problems != nil {
		t.Fatal(problems)
	}
	return made
}

func desire(sets ...dns.RecordSet) []dns.Desired {
	var desired []dns.Desired
	for _, s := range sets {
		desired = append(desired, dns.Desired{RecordSet: s, ID: idOf(s)})
	}
	return desired
}

func idOf(s dns.RecordSet) string {
	return fmt.Sprintf("%s-%x", s.Type, string(s.Name))
}

// plan reads the server and makes the difference.
func plan(t *testing.T, client *Client, desired []dns.Desired) dns.Plan {
	t.Helper()
	snapshot, err := client.Transfer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made, err := dns.Difference(dns.Settings{Zone: zone, ZoneID: "z", Installation: "i", Mode: dns.Sync}, desired, snapshot.Sets)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func apply(t *testing.T, client *Client, changes []dns.Change) {
	t.Helper()
	for _, change := range changes {
		if applied, err := client.Apply(t.Context(), change); err != nil || applied.Already {
			t.Fatalf("%v: %+v, %v", change, applied, err)
		}
	}
}

// held is what the server holds, its own data and ownership records apart.
func held(t *testing.T, client *Client) []dns.RecordSet {
	t.Helper()
	snapshot, err := client.Transfer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var sets []dns.RecordSet
	for _, s := range snapshot.Sets {
		_, _, owner := dns.OwnedBy(s.Name)
		if s.Type != "SOA" && !owner && (s.Name != zone || s.Type != dns.NS) {
			sets = append(sets, s.RecordSet)
		}
	}
	return sets
}

func sorted(sets ...dns.RecordSet) []dns.RecordSet {
	slices.SortFunc(sets, func(a, b dns.RecordSet) int {
		return strings.Compare(string(a.Name)+string(a.Type), string(b.Name)+string(b.Type))
	})
	return sets
}

func wantReason(t *testing.T, err error, reason provider.Reason, fault provider.Fault, retry bool) {
	t.Helper()
	var failure *provider.Error
	if !errors.As(err, &failure) || failure.Reason != reason || failure.Fault != fault || failure.Retry != retry {
		t.Errorf("got %#v (%v); want %s, fault %s, retry %v", failure, err, reason, fault, retry)
		return
	}
	if !strings.Contains(failure.Text, ".") {
		t.Errorf("%q is no sentence", failure.Text)
	}
}

// Every type, a long text, apex, wildcard, IDN and a delegation: created, settled, updated, deleted.
func TestCreateUpdateDelete(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		_, client := setup(t, start, dnsserver.Options{})
		long := strings.Repeat("0123456789", 60)
		first := []dns.RecordSet{
			set(t, "@", "A", 60, "192.0.2.1"), set(t, "@", "TXT", 60, long), set(t, "@", "MX", 60, "10 mail.example.org", "20 mail.example.net"),
			set(t, "@", "CAA", 60, `0 issue "ca.example.net"`), set(t, "*", "A", 60, "192.0.2.2"), set(t, "*.w", "CNAME", 60, "a.example.net"),
			set(t, "bücher", "AAAA", 60, "2001:db8::1"), set(t, "alias", "CNAME", 60, "www.example.net"), set(t, "sub", "NS", 60, "ns.example.net"),
			set(t, "_https._tcp", "SRV", 60, "1 2 443 www.example.org"), set(t, "1", "PTR", 60, "host.example.org"),
			set(t, "odd", "TXT", 60, `"\"\\\000\255" "; ("`), set(t, "odd", "A", 60, "192.0.2.3", "192.0.2.4"),
		}
		made := plan(t, client, desire(first...))
		if len(made.Changes) != len(first) {
			t.Fatalf("%d changes for %d record sets: %v", len(made.Changes), len(first), made.Results)
		}
		before, err := client.Serial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		apply(t, client, made.Changes)
		if diff := cmp.Diff(sorted(first...), sorted(held(t, client)...)); diff != "" {
			t.Fatal(diff)
		}
		if after, err := client.Serial(t.Context()); err != nil || after == before {
			t.Errorf("the serial is still %d, %v", after, err)
		}
		if again := plan(t, client, desire(first...)); len(again.Changes) > 0 {
			t.Errorf("the difference does not settle: %v", again.Changes)
		}

		second := []dns.RecordSet{
			set(t, "@", "A", 120, "192.0.2.1"), set(t, "@", "TXT", 60, "short", long), set(t, "*", "A", 60, "192.0.2.9"),
			set(t, "alias", "A", 60, "192.0.2.5"), set(t, "bücher", "AAAA", 60, "2001:db8::1", "2001:db8::2"), set(t, "sub", "NS", 60, "ns2.example.net"),
		}
		apply(t, client, plan(t, client, desire(second...)).Changes)
		if diff := cmp.Diff(sorted(second...), sorted(held(t, client)...)); diff != "" {
			t.Fatal(diff)
		}
		apply(t, client, plan(t, client, nil).Changes)
		snapshot, err := client.Transfer(t.Context())
		if err != nil || len(snapshot.Sets) != 2 || snapshot.Outside != 0 || snapshot.NegativeTTL != dnsserver.NegativeTTL {
			t.Errorf("more than SOA and NS is left: %+v, %v", snapshot, err)
		}
	})
}

func TestBothAlgorithms(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		server, _ := setup(t, start, dnsserver.Options{})
		client := clientOf(t, server, func(c *Config) { c.Key = keyOf(server.SHA512) })
		apply(t, client, plan(t, client, desire(set(t, "www", "A", 60, "192.0.2.1"))).Changes)
	})
}

// Records that are not ours stay exactly as they are, and one of them blocks nothing but its own record set.
func TestForeignRecordsStay(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		_, client := setup(t, start, dnsserver.Options{Records: []string{
			"www 60 IN A 192.0.2.1", "taken 60 IN CNAME www.example.net.", `text 60 IN TXT "a" "b"`, "ssh 60 IN SSHFP 1 1 0102030405060708090a0b0c0d0e0f1011121314",
		}})
		before := held(t, client)
		desired := desire(set(t, "www", "A", 60, "192.0.2.9"), set(t, "taken", "A", 60, "192.0.2.9"), set(t, "new", "A", 60, "192.0.2.9"))
		made := plan(t, client, desired)
		apply(t, client, made.Changes)
		if diff := cmp.Diff(sorted(append(before, set(t, "new", "A", 60, "192.0.2.9"))...), sorted(held(t, client)...)); diff != "" {
			t.Error(diff)
		}
		outcomes := make(map[dns.Outcome]int)
		for _, result := range made.Results {
			outcomes[result.Outcome]++
		}
		want := map[dns.Outcome]int{dns.AdoptionNeeded: 1, dns.Blocked: 1, dns.Create: 1, dns.Foreign: 3}
		if diff := cmp.Diff(want, outcomes); diff != "" {
			t.Error(diff)
		}

		// Adoption is asked for: only then does it become ours. Its text was split in another way.
		text := desire(set(t, "text", "TXT", 60, "ab"))
		text[0].Adopt = dns.AdoptUnowned
		made = plan(t, client, text)
		if i := slices.IndexFunc(made.Changes, func(c dns.Change) bool { return c.Action == dns.Adopt }); i < 0 {
			t.Fatalf("no adoption in %v", made.Changes)
		}
		apply(t, client, made.Changes)
		if again := plan(t, client, desire(set(t, "text", "TXT", 60, "ab"))); len(again.Changes) > 0 {
			t.Errorf("an adopted record set does not settle: %v", again.Changes)
		}
	})
}

// A server ignores a record beside a CNAME without a word. The prerequisites make that an error.
func TestACNAMEBesideOthersIsRefused(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		server, client := setup(t, start, dnsserver.Options{})
		alias, address := set(t, "x", "CNAME", 60, "a.example.net"), set(t, "y", "A", 60, "192.0.2.1")
		made := plan(t, client, desire(alias, address))
		server.Update(t, `+x.example.org. 60 IN TXT "by hand"`, "+y.example.org. 60 IN CNAME b.example.net.")
		before := held(t, client)
		for _, change := range made.Changes {
			_, err := client.Apply(t.Context(), change)
			wantReason(t, err, provider.Changed, provider.User, true)
		}
		if diff := cmp.Diff(before, held(t, client)); diff != "" {
			t.Error(diff)
		}
	})
}

// What another hand changed between the transfer and the update is not overwritten: value, ownership record, deletion, creation.
func TestChangedByHandInBetween(t *testing.T) {
	t.Parallel()
	hands := map[string][]string{
		"value":        {"-www.example.org. 60 IN A 192.0.2.1", "+www.example.org. 60 IN A 192.0.2.7"},
		"one more":     {"+www.example.org. 60 IN A 192.0.2.7"},
		"deleted":      {"-www.example.org. 60 IN A 192.0.2.1"},
		"owner gone":   {`-_kloigos-a.www.example.org. 60 IN TXT "x"`},
		"other owner":  {`-_kloigos-a.www.example.org. 60 IN TXT "x"`, `+_kloigos-a.www.example.org. 60 IN TXT "x"`},
		"second owner": {`+_kloigos-a.www.example.org. 300 IN TXT "x"`},
	}
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		_, client := setup(t, start, dnsserver.Options{})
		for name, lines := range hands {
			server, client := setup(t, start, dnsserver.Options{})
			apply(t, client, plan(t, client, desire(set(t, "www", "A", 60, "192.0.2.1"))).Changes)
			update := plan(t, client, desire(set(t, "www", "A", 60, "192.0.2.2"))).Changes
			deletion := plan(t, client, nil).Changes
			server.Update(t, lines...)
			before, err := client.Transfer(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, change := range append(update, deletion...) {
				_, err := client.Apply(t.Context(), change)
				if provider.ReasonOf(err) != provider.Changed {
					t.Errorf("%s: %v ended in %v", name, change, err)
				}
			}
			if after, err := client.Transfer(t.Context()); err != nil || !cmp.Equal(before, after) {
				t.Errorf("%s: changed all the same, %v: %s", name, err, cmp.Diff(before, after))
			}
		}
		// A wildcard that answers for the name is not taken for its record set.
		creation := plan(t, client, desire(set(t, "new", "A", 60, "192.0.2.1"))).Changes
		apply(t, client, plan(t, client, desire(set(t, "*", "A", 60, "192.0.2.1"))).Changes)
		apply(t, client, creation)
	})
}

// A crash between the call and its record: the same change again succeeds and says so.
func TestApplyCanBeRepeated(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		_, client := setup(t, start, dnsserver.Options{Records: []string{"there 60 IN A 192.0.2.1"}})
		adopted := desire(set(t, "there", "A", 60, "192.0.2.2"))
		adopted[0].Adopt = dns.AdoptUnowned
		steps := [][]dns.Desired{
			desire(set(t, "www", "A", 60, "192.0.2.1"), set(t, "alias", "CNAME", 60, "a.example.net"), set(t, "*", "TXT", 60, strings.Repeat("x", 600))),
			desire(set(t, "www", "A", 60, "192.0.2.2"), set(t, "alias", "CNAME", 60, "b.example.net"), set(t, "*", "TXT", 60, "y")),
			append(desire(set(t, "www", "A", 60, "192.0.2.2")), adopted...),
			nil,
		}
		for i, desired := range steps {
			changes := plan(t, client, desired).Changes
			if len(changes) == 0 {
				t.Fatalf("step %d changes nothing", i)
			}
			for _, change := range changes {
				for try := range 3 {
					applied, err := client.Apply(t.Context(), change)
					if err != nil || applied.Already != (try > 0) {
						t.Errorf("%v, call %d: %+v, %v", change, try, applied, err)
					}
				}
			}
		}
	})
}

func TestWrongKeyAndClock(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		server, good := setup(t, start, dnsserver.Options{})
		change := plan(t, good, desire(set(t, "www", "A", 60, "192.0.2.1"))).Changes[0]
		for name, test := range map[string]struct {
			config func(*Config)
			reason provider.Reason
			fault  provider.Fault
			retry  bool
			text   string
		}{
			"secret":    {func(c *Config) { c.Key.Secret = server.SHA512.Secret }, provider.WrongKey, provider.User, false, "another secret"},
			"name":      {func(c *Config) { c.Key.Name = "other." }, provider.WrongKey, provider.User, false, "does not know the key"},
			"algorithm": {func(c *Config) { c.Key.Algorithm = SHA512 }, provider.WrongKey, provider.User, false, "the key"},
			"late":      {func(c *Config) { c.Now = func() time.Time { return time.Now().Add(-time.Hour) } }, provider.ClockSkew, provider.Dependency, true, "server's clock is at 20"},
			"early":     {func(c *Config) { c.Now = func() time.Time { return time.Now().Add(time.Hour) } }, provider.ClockSkew, provider.Dependency, true, "server's clock is at 20"},
		} {
			client := clientOf(t, server, test.config)
			for call, try := range map[string]func() error{
				"serial":   func() error { _, err := client.Serial(t.Context()); return err },
				"transfer": func() error { _, err := client.Transfer(t.Context()); return err },
				"apply":    func() error { _, err := client.Apply(t.Context(), change); return err },
			} {
				err := try()
				wantReason(t, err, test.reason, test.fault, test.retry)
				if err == nil || !strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), server.SHA256.Secret) || strings.Contains(err.Error(), server.SHA512.Secret) {
					t.Errorf("%s, %s: %v", name, call, err)
				}
			}
		}
		if sets := held(t, good); len(sets) > 0 {
			t.Errorf("a refused change left %v", sets)
		}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		after := set(t, "www", "A", 60, "192.0.2.1")
		create := dns.Change{Action: dns.Create, Name: after.Name, Type: after.Type, After: &after}
		// Each refused alone, then both.
		_, client := setup(t, start, dnsserver.Options{DenyTransfer: true})
		if _, err := client.Apply(t.Context(), create); err != nil {
			t.Error(err)
		}
		_, err := client.Transfer(t.Context())
		wantReason(t, err, provider.TransferRefused, provider.Operator, false)
		if err == nil || !strings.Contains(err.Error(), "access list for transfers must have the key key-sha256.") {
			t.Errorf("it does not say whose access list: %v", err)
		}
		_, client = setup(t, start, dnsserver.Options{DenyUpdate: true})
		if sets := held(t, client); len(sets) != 0 {
			t.Errorf("the zone is not empty: %v", sets)
		}
		_, err = client.Apply(t.Context(), create)
		wantReason(t, err, provider.UpdateRefused, provider.Operator, false)

		server, client := setup(t, start, dnsserver.Options{DenyTransfer: true, DenyUpdate: true})
		if server.Kind == "knot" {
			// Knot takes a key that no access list of the zone has for an unknown one, whatever is asked.
			for _, call := range []func() error{
				func() error { _, err := client.Serial(t.Context()); return err },
				func() error { _, err := client.Transfer(t.Context()); return err },
				func() error { _, err := client.Apply(t.Context(), create); return err },
			} {
				err := call()
				wantReason(t, err, provider.WrongKey, provider.User, false)
				if err == nil || !strings.Contains(err.Error(), "or its access list gives the key nothing") {
					t.Errorf("it does not name the access list: %v", err)
				}
			}
		} else {
			_, err = client.Transfer(t.Context())
			wantReason(t, err, provider.TransferRefused, provider.Operator, false)
			_, err = client.Apply(t.Context(), create)
			wantReason(t, err, provider.UpdateRefused, provider.Operator, false)
			if _, err := client.Serial(t.Context()); err != nil {
				t.Error(err)
			}
		}

		other := clientOf(t, server, func(c *Config) { c.Zone = "example.com." })
		_, err = other.Serial(t.Context())
		if reason := provider.ReasonOf(err); reason != provider.NotAuthoritative && reason != provider.QueryRefused {
			t.Errorf("a zone that is not there: %v", err)
		}
		if _, err = other.Transfer(t.Context()); err == nil {
			t.Error("a zone that is not there is transferred")
		}

		no := errors.New("it is private")
		inside := clientOf(t, server, func(c *Config) {
			c.Allow = func(address netip.Addr) error {
				if address.IsLoopback() {
					return no
				}
				return nil
			}
		})
		_, err = inside.Serial(t.Context())
		wantReason(t, err, provider.AddressRefused, provider.User, false)
		if !errors.Is(err, no) {
			t.Errorf("the cause is lost: %v", err)
		}
	})
}

// The server is killed, or stops to answer, in the middle of work. When it is back, the same change succeeds once.
func TestServerGoneInTheMiddle(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		server, client := setup(t, start, dnsserver.Options{})
		changes := plan(t, client, desire(set(t, "a", "A", 60, "192.0.2.1"), set(t, "b", "A", 60, "192.0.2.1"))).Changes
		apply(t, client, changes[:1])
		server.Stop()
		_, err := client.Apply(t.Context(), changes[1])
		wantReason(t, err, provider.Unreachable, provider.Dependency, true)
		server.Restart(t)
		for i, change := range changes {
			if applied, err := client.Apply(t.Context(), change); err != nil || applied.Already != (i == 0) {
				t.Errorf("%v: %+v, %v", change, applied, err)
			}
		}

		server.Freeze(t)
		last := plan0(t, desire(set(t, "c", "A", 60, "192.0.2.1")))
		hasty := clientOf(t, server, func(c *Config) { c.Timeout = 300 * time.Millisecond })
		_, err = hasty.Apply(t.Context(), last)
		wantReason(t, err, provider.Interrupted, provider.Dependency, true)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err = client.Apply(ctx, last)
		cancel()
		wantReason(t, err, provider.Interrupted, provider.Dependency, true)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context is not the cause: %v", err)
		}
		server.Thaw(t)
		// The frozen server may have read the change or not; either is fine.
		if _, err := client.Apply(t.Context(), last); err != nil {
			t.Error(err)
		}
		if got := len(held(t, client)); got != 3 {
			t.Errorf("there are %d record sets, want 3", got)
		}
	})
}

// plan0 is the creation of one record set on a server that does not hold it.
func plan0(t *testing.T, desired []dns.Desired) dns.Change {
	t.Helper()
	made, err := dns.Difference(dns.Settings{Zone: zone, ZoneID: "z", Installation: "i", Mode: dns.Sync}, desired, nil)
	if err != nil || len(made.Changes) != 1 {
		t.Fatal(made, err)
	}
	return made.Changes[0]
}

// Two backends apply changes made of one reading. For each record set exactly one of them wins.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		_, client := setup(t, start, dnsserver.Options{})
		const sets = 20
		var plans [2][]dns.Change
		for writer := range plans {
			var desired []dns.RecordSet
			for i := range sets {
				desired = append(desired, set(t, fmt.Sprint("h", i), "A", 60, fmt.Sprintf("192.0.2.%d", 1+writer)))
			}
			plans[writer] = plan(t, client, desire(desired...)).Changes
		}
		var won [2][sets]error
		var group sync.WaitGroup
		for writer, changes := range plans {
			group.Go(func() {
				for i, change := range changes {
					_, won[writer][i] = client.Apply(t.Context(), change)
				}
			})
		}
		group.Wait()
		now := make(map[dns.Name]string)
		for _, s := range held(t, client) {
			now[s.Name] = strings.Join(s.Values, " ")
		}
		for i := range sets {
			a, b := won[0][i], won[1][i]
			winner, loser := 0, b
			if a != nil {
				winner, loser = 1, a
			}
			if (a == nil) == (b == nil) || provider.ReasonOf(loser) != provider.Changed {
				t.Errorf("set %d: %v and %v", i, a, b)
			}
			if want := fmt.Sprintf("192.0.2.%d", 1+winner); now[plans[0][i].Name] != want {
				t.Errorf("set %d is %q, want %q", i, now[plans[0][i].Name], want)
			}
		}
	})
}

// A zone of many messages is read whole, and not read at all if it exceeds a limit.
func TestLargeZone(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		var records []string
		const many = 5000
		for i := range many {
			records = append(records, fmt.Sprintf("h%d 60 IN TXT %q", i, strings.Repeat("x", 100)))
		}
		server, client := setup(t, start, dnsserver.Options{Records: records})
		if got := len(held(t, client)); got != many {
			t.Errorf("%d record sets were read, want %d", got, many)
		}
		for name, limit := range map[string]func(*Config){
			"records": func(c *Config) { c.MaxRecords = many / 2 }, "bytes": func(c *Config) { c.MaxBytes = 100_000 },
		} {
			_, err := clientOf(t, server, limit).Transfer(t.Context())
			wantReason(t, err, provider.TooLarge, provider.User, false)
			if err == nil {
				t.Errorf("no limit for %s", name)
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	good := Config{Server: "127.0.0.1:53", Zone: zone, Key: Key{"k.", SHA256, "MDEyMzQ1Njc4OTAxMjM0NQ=="}, Allow: anyAddress}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"no port": func(c *Config) { c.Server = "127.0.0.1" }, "no host": func(c *Config) { c.Server = ":53" }, "port 0": func(c *Config) { c.Server = "a:0" },
		"no zone": func(c *Config) { c.Zone = "" }, "no rule": func(c *Config) { c.Allow = nil }, "md5": func(c *Config) { c.Key.Algorithm = "hmac-md5" },
		"no base64": func(c *Config) { c.Key.Secret = "?" }, "short": func(c *Config) { c.Key.Secret = "MDEy" },
	} {
		config := good
		change(&config)
		_, err := New(config)
		if provider.ReasonOf(err) != provider.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v", good.Key, good, good.Key); strings.Contains(text, good.Key.Secret) {
		t.Errorf("the secret is shown: %s", text)
	}
}
