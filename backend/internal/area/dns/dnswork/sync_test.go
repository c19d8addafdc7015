package dnswork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
	"kloigos/backend/internal/area/dns/dnswork/rfc2136"
	"kloigos/rig/dnsserver"
)

const zone = dns.Name("example.org.")

// watched is a real client that counts its calls, and lets a test do something in front of a change.
type watched struct {
	*rfc2136.Client
	transfers, applies int
	before             func(applied int)
}

func (w *watched) Transfer(ctx context.Context) (provider.Snapshot, error) {
	w.transfers++
	return w.Client.Transfer(ctx)
}

func (w *watched) Apply(ctx context.Context, change dns.Change) (provider.Applied, error) {
	if w.before != nil {
		w.before(w.applies)
	}
	w.applies++
	return w.Client.Apply(ctx, change)
}

func connect(t *testing.T, server *dnsserver.Server) *watched {
	t.Helper()
	client, err := rfc2136.New(rfc2136.Config{
		Server: server.Address, Zone: zone, Allow: dns.AddressRule(true),
		Key: rfc2136.Key{Name: dns.Name(server.SHA256.Name), Algorithm: rfc2136.SHA256, Secret: server.SHA256.Secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &watched{Client: client}
}

func address(t *testing.T, name, value string) dns.Desired {
	t.Helper()
	set, problems := dns.Draft{Name: name, Type: "A", TTL: 300, Values: []string{value}}.Check(zone)
	if problems != nil {
		t.Fatal(problems)
	}
	return dns.Desired{RecordSet: set, ID: "set-" + strings.ReplaceAll(name, ".", "-")}
}

func hosts(t *testing.T, count int, value string) []dns.Desired {
	t.Helper()
	desired := make([]dns.Desired, count)
	for i := range desired {
		desired[i] = address(t, fmt.Sprintf("h%02d", i), value)
	}
	return desired
}

func input(mode dns.Mode, desired ...dns.Desired) Input {
	return Input{Settings: dns.Settings{Zone: zone, ZoneID: "z", Installation: "i", Mode: mode}, Desired: desired}
}

func mustSync(t *testing.T, server provider.Provider, in Input) dns.Report {
	t.Helper()
	report, err := Sync(t.Context(), server, in)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// outcomes are the results by name and type.
func outcomes(report dns.Report) map[string]dns.Outcome {
	found := make(map[string]dns.Outcome)
	for _, result := range report.Results {
		found[result.Name.Relative(zone)+" "+string(result.Type)] = result.Outcome
	}
	return found
}

// tells is what the server holds of a name: the values of its A records.
func tells(t *testing.T, server *watched, name string) []string {
	t.Helper()
	snapshot, err := server.Client.Transfer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range snapshot.Sets {
		if set.Name.Relative(zone) == name && set.Type == dns.A {
			return set.Values
		}
	}
	return nil
}

func wantTold(t *testing.T, server *watched, name string, values ...string) {
	t.Helper()
	if got := tells(t, server, name); !slices.Equal(got, values) {
		t.Errorf("the server tells %v of %s, want %v", got, name, values)
	}
}

func TestSyncFollowsIntentAndSerial(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		server := start(t, dnsserver.Options{Records: []string{"foreign A 192.0.2.99"}})
		client := connect(t, server)
		in := input(dns.Sync, address(t, "www", "192.0.2.1"))
		report := mustSync(t, client, in)
		if !report.Settled(dns.Sync) || report.Applied != 1 || outcomes(report)["www A"] != dns.InSync || outcomes(report)["foreign A"] != dns.Foreign {
			t.Errorf("first: %+v", report)
		}
		if report.NegativeTTL != dnsserver.NegativeTTL {
			t.Errorf("negative TTL %d", report.NegativeTTL)
		}
		wantTold(t, client, "www", "192.0.2.1")

		// Neither serial nor intent changed: the zone is not transferred.
		in.Known, client.transfers = &report.Serial, 0
		if again := mustSync(t, client, in); !again.Unchanged || again.Serial != report.Serial || client.transfers != 0 {
			t.Errorf("second: %+v after %d transfers", again, client.transfers)
		}

		// Another hand changes a record of ours and one of its own.
		server.Update(t, "-www.example.org. 300 IN A 192.0.2.1", "+www.example.org. 300 IN A 192.0.2.66", "+other.example.org. 300 IN A 192.0.2.67")
		third := mustSync(t, client, in)
		if third.Unchanged || third.Applied != 1 || third.Serial == report.Serial || outcomes(third)["other A"] != dns.Foreign {
			t.Errorf("third: %+v", third)
		}
		wantTold(t, client, "www", "192.0.2.1")
		wantTold(t, client, "other", "192.0.2.67")

		// The intent is gone.
		last := mustSync(t, client, input(dns.Sync))
		if _, there := outcomes(last)["www A"]; there || last.Applied != 1 {
			t.Errorf("last: %+v", last)
		}
		wantTold(t, client, "www")
		wantTold(t, client, "foreign", "192.0.2.99")
	})
}

// A backend is killed between the update and its record: the next attempt finds the change made.
func TestSyncCanBeRepeated(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		client := connect(t, start(t, dnsserver.Options{Records: []string{"old A 192.0.2.9"}}))
		adopted := address(t, "old", "192.0.2.10")
		adopted.Adopt = dns.AdoptUnowned
		in := input(dns.Sync, append(hosts(t, 3, "192.0.2.1"), adopted)...)
		first := mustSync(t, client, in)
		second := mustSync(t, client, in)
		if first.Applied != 4 || second.Applied != 0 || !second.Settled(dns.Sync) || second.Serial != first.Serial {
			t.Errorf("first %+v, second %+v", first, second)
		}
		wantTold(t, client, "old", "192.0.2.10")
	})
}

func TestTwoSyncsAtOnce(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		server := start(t, dnsserver.Options{})
		in := input(dns.Sync, hosts(t, 30, "192.0.2.1")...)
		// Each has read the zone before either changes it.
		var ready, group sync.WaitGroup
		ready.Add(2)
		var reports [2]dns.Report
		var errs [2]error
		for i := range reports {
			client := connect(t, server)
			client.before = func(applied int) {
				if applied == 0 {
					ready.Done()
					ready.Wait()
				}
			}
			group.Go(func() { reports[i], errs[i] = Sync(t.Context(), client, in) })
		}
		group.Wait()
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		for _, report := range reports {
			if !report.Settled(dns.Sync) || len(report.Results) != 30 {
				t.Errorf("%+v", report)
			}
		}
		for i := range 30 {
			wantTold(t, connect(t, server), fmt.Sprintf("h%02d", i), "192.0.2.1")
		}
	})
}

// Another hand changes a record between reading and writing.
func TestSyncMeetsAnotherHand(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		server := start(t, dnsserver.Options{})
		mustSync(t, connect(t, server), input(dns.Sync, address(t, "www", "192.0.2.1"), address(t, "api", "192.0.2.1")))
		in := input(dns.Sync, address(t, "www", "192.0.2.2"), address(t, "api", "192.0.2.2"))

		always := connect(t, server)
		meddle := func(applied int) {
			server.Update(t, "-www.example.org. 300 IN A 192.0.2.1", fmt.Sprintf("+www.example.org. 300 IN A 192.0.2.%d", 100+applied))
		}
		always.before = meddle
		report := mustSync(t, always, in)
		if report.Settled(dns.Sync) {
			t.Errorf("settled: %+v", report)
		}
		for _, result := range report.Results {
			if contested := result.Failure != nil && result.Failure.Reason == string(provider.Changed); contested != (result.Name == "www.example.org.") {
				t.Errorf("%s: %v", result.Name, result.Failure)
			}
		}
		if always.transfers != maxRounds {
			t.Errorf("%d transfers", always.transfers)
		}
		wantTold(t, always, "api", "192.0.2.2")

		once := connect(t, server)
		once.before = func(applied int) {
			if applied == 0 {
				meddle(200 - 100)
			}
		}
		if report := mustSync(t, once, in); !report.Settled(dns.Sync) || report.Applied != 1 {
			t.Errorf("once: %+v", report)
		}
		wantTold(t, once, "www", "192.0.2.2")
	})
}

// The server goes away after some of the changes: the error may be retried, and the retry makes what is left.
func TestServerGoesAwayInTheMiddle(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		server := start(t, dnsserver.Options{})
		client := connect(t, server)
		client.before = func(applied int) {
			if applied == 3 {
				server.Stop()
			}
		}
		in := input(dns.Sync, hosts(t, 8, "192.0.2.1")...)
		report, err := Sync(t.Context(), client, in)
		var failure *provider.Error
		if !errors.As(err, &failure) || failure.Reason != provider.Unreachable || !failure.Retry || report.Applied != 3 {
			t.Fatalf("%+v, %v", report, err)
		}
		server.Restart(t)
		client.before = nil
		if report := mustSync(t, client, in); !report.Settled(dns.Sync) || report.Applied == 0 {
			t.Errorf("retry: %+v", report)
		}
		for i := range 8 {
			wantTold(t, client, fmt.Sprintf("h%02d", i), "192.0.2.1")
		}
	})
}

func TestTheBrakeHoldsUntilItIsConfirmed(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		client := connect(t, start(t, dnsserver.Options{}))
		all := hosts(t, 12, "192.0.2.1")
		mustSync(t, client, input(dns.Sync, all...))
		in := input(dns.Sync, append(slices.Clone(all[6:]), address(t, "new", "192.0.2.1"))...)
		held := mustSync(t, client, in)
		if held.Brake == nil || *held.Brake != (dns.Brake{Owned: 12, Touched: 6, Percent: 30}) || held.Applied != 0 || held.Settled(dns.Sync) {
			t.Fatalf("not held: %+v", held)
		}
		wantTold(t, client, "h00", "192.0.2.1")
		wantTold(t, client, "new")

		// A confirmation of less is none.
		in.Confirmed = held.Plan[:len(held.Plan)/2]
		if report := mustSync(t, client, in); report.Brake == nil || report.Applied != 0 {
			t.Errorf("half confirmed: %+v", report)
		}

		// The attempt is interrupted after two deletions. What is left is still confirmed.
		in.Confirmed = held.Plan
		ctx, cancel := context.WithCancel(t.Context())
		client.applies = 0
		client.before = func(applied int) {
			if applied == 2 {
				cancel()
			}
		}
		if report, err := Sync(ctx, client, in); err == nil || report.Applied != 2 {
			t.Fatalf("interrupted: %+v, %v", report, err)
		}
		client.before = nil
		if report := mustSync(t, client, in); !report.Settled(dns.Sync) || report.Applied != 5 {
			t.Errorf("confirmed: %+v", report)
		}
		wantTold(t, client, "h00")
		wantTold(t, client, "h06", "192.0.2.1")
		wantTold(t, client, "new", "192.0.2.1")
	})
}

func TestAdoptionIsAnExplicitAct(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		server := start(t, dnsserver.Options{Records: []string{"www A 192.0.2.9"}})
		client := connect(t, server)
		www := address(t, "www", "192.0.2.1")
		report := mustSync(t, client, input(dns.Sync, www, address(t, "api", "192.0.2.1")))
		if outcomes(report)["www A"] != dns.AdoptionNeeded || outcomes(report)["api A"] != dns.InSync || report.Applied != 1 {
			t.Errorf("before: %+v", report)
		}
		wantTold(t, client, "www", "192.0.2.9")
		www.Adopt = dns.AdoptUnowned
		if report := mustSync(t, client, input(dns.Sync, www, address(t, "api", "192.0.2.1"))); !report.Settled(dns.Sync) || report.Applied != 1 {
			t.Errorf("adopted: %+v", report)
		}
		wantTold(t, client, "www", "192.0.2.1")

		// Another installation wants it too.
		other := input(dns.Sync, address(t, "www", "192.0.2.5"))
		other.Settings.Installation = "other"
		if report := mustSync(t, client, other); outcomes(report)["www A"] != dns.OwnerForeign || report.Applied != 0 {
			t.Errorf("other: %+v", report)
		}
		other.Desired[0].Adopt = dns.AdoptForeign
		if report := mustSync(t, client, other); report.Applied != 1 {
			t.Errorf("other adopts: %+v", report)
		}
		www.Adopt, www.Applied = dns.AdoptNone, true
		if report := mustSync(t, client, input(dns.Sync, www, address(t, "api", "192.0.2.1"))); outcomes(report)["www A"] != dns.OwnerForeign {
			t.Errorf("lost to another: %+v", report)
		}
		wantTold(t, client, "www", "192.0.2.5")
	})
}

func TestModes(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		client := connect(t, start(t, dnsserver.Options{}))
		mustSync(t, client, input(dns.Sync, address(t, "a", "192.0.2.1"), address(t, "b", "192.0.2.1")))
		want := []dns.Desired{address(t, "a", "192.0.2.2"), address(t, "c", "192.0.2.1")}

		report := mustSync(t, client, input(dns.Observe, want...))
		got := outcomes(report)
		if got["a A"] != dns.Update || got["b A"] != dns.Delete || got["c A"] != dns.Create || report.Applied != 0 || client.applies != 2 || !report.Settled(dns.Observe) {
			t.Errorf("observe: %+v", report)
		}
		report = mustSync(t, client, input(dns.UpsertOnly, want...))
		if outcomes(report)["b A"] != dns.Kept || report.Applied != 2 || !report.Settled(dns.UpsertOnly) {
			t.Errorf("upsert only: %+v", report)
		}
		wantTold(t, client, "a", "192.0.2.2")
		wantTold(t, client, "b", "192.0.2.1")
		if report := mustSync(t, client, input(dns.Sync, want...)); report.Applied != 1 {
			t.Errorf("sync: %+v", report)
		}
		wantTold(t, client, "b")
	})
}

func TestRefusalsOfTheServer(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		client := connect(t, start(t, dnsserver.Options{DenyTransfer: true}))
		if _, err := Sync(t.Context(), client, input(dns.Sync, address(t, "a", "192.0.2.1"))); provider.ReasonOf(err) != provider.TransferRefused {
			t.Errorf("transfer: %v", err)
		}
		// An update can be refused for one name, so each record set has its own result.
		client = connect(t, start(t, dnsserver.Options{DenyUpdate: true}))
		report := mustSync(t, client, input(dns.Sync, hosts(t, 2, "192.0.2.1")...))
		for _, result := range report.Results {
			if result.Failure == nil || result.Failure.Reason != string(provider.UpdateRefused) {
				t.Errorf("update: %+v", result)
			}
		}
		if len(report.Results) != 2 || report.Settled(dns.Sync) {
			t.Errorf("update: %+v", report)
		}
		// A server that refuses everything is not asked for each of many.
		client.applies = 0
		if _, err := Sync(t.Context(), client, input(dns.Sync, hosts(t, 50, "192.0.2.1")...)); provider.ReasonOf(err) != provider.UpdateRefused || client.applies != maxFailures {
			t.Errorf("%v after %d updates", err, client.applies)
		}
	})
}

// A zone without allow_private does not lead to loopback.
func TestAPrivateServerIsNotAsked(t *testing.T) {
	t.Parallel()
	server := dnsserver.Knot(t, dnsserver.Options{})
	client, err := rfc2136.New(rfc2136.Config{
		Server: server.Address, Zone: zone, Allow: dns.AddressRule(false),
		Key: rfc2136.Key{Name: dns.Name(server.SHA256.Name), Algorithm: rfc2136.SHA256, Secret: server.SHA256.Secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sync(t.Context(), client, input(dns.Sync)); provider.ReasonOf(err) != provider.AddressRefused || !strings.Contains(err.Error(), "private") {
		t.Error(err)
	}
}
