package dnswork

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/propagation"
	"kloigos/backend/internal/area/dns/dnswork/provider"
	"kloigos/backend/internal/kernel/db"
)

// SystemResolver is the first resolver of this machine (resolv.conf(5)); the zero value if it has none.
func SystemResolver() netip.AddrPort {
	file, err := os.Open("/etc/resolv.conf")
	if err != nil {
		return netip.AddrPort{}
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 2 || words[0] != "nameserver" {
			continue
		}
		if address, err := netip.ParseAddr(words[1]); err == nil {
			return netip.AddrPortFrom(address, 53)
		}
	}
	return netip.AddrPort{}
}

// CheckSet asks each authoritative server of a zone directly, and then the resolver, what they tell of a record set. If the
// resolver knows no servers of the zone, the one that takes updates is asked alone. The error is a *provider.Error.
func CheckSet(ctx context.Context, zone dns.Zone, set dns.ManagedSet, resolver netip.AddrPort) (dns.Check, error) {
	want := propagation.Want{Name: set.Name, Type: set.Type}
	if set.State != dns.SetDeleting {
		content := set.RecordSet()
		want.Set = &content
	}
	config := propagation.Config{Zone: zone.Name, Resolver: resolver, Allow: dns.AddressRule(zone.AllowPrivate)}
	var notes []string
	report, err := ask(ctx, config, want)
	if provider.ReasonOf(err) == provider.Unreachable || !resolver.IsValid() {
		notes = append(notes, "The resolver knows no name servers of the zone, so only the server that takes updates was asked.")
		if config.Servers, err = updateServer(ctx, zone); err != nil {
			return dns.Check{}, err
		}
		config.Resolver = netip.AddrPort{}
		report, err = ask(ctx, config, want)
	}
	if err != nil {
		return dns.Check{}, err
	}
	check := dns.Check{Everywhere: report.Everywhere, Servers: []dns.Told{}, Notes: notes}
	for _, answer := range report.Servers {
		check.Servers = append(check.Servers, told(answer))
	}
	if report.Resolver != nil {
		answer := told(*report.Resolver)
		check.Resolver = &answer
	}
	if report.Skipped > 0 {
		check.Notes = append(check.Notes, fmt.Sprintf("The zone has too many name servers: %d addresses were not asked.", report.Skipped))
	}
	return check, nil
}

func ask(ctx context.Context, config propagation.Config, want propagation.Want) (propagation.Report, error) {
	checker, err := propagation.New(config)
	if err != nil {
		return propagation.Report{}, err
	}
	return checker.Check(ctx, want)
}

func told(answer propagation.Answer) dns.Told {
	return dns.Told{
		Server: answer.Server.Name, Address: answer.Server.Address.String(), Status: string(answer.Status),
		Values: answer.Values, TTL: int64(answer.TTL), Text: answer.Text,
	}
}

// updateServer finds the addresses of the server that takes updates.
func updateServer(ctx context.Context, zone dns.Zone) ([]propagation.Server, error) {
	host, port, err := net.SplitHostPort(zone.Server)
	number, portErr := strconv.ParseUint(port, 10, 16)
	if err = errors.Join(err, portErr); err != nil {
		return nil, fmt.Errorf("read the server of %s: %w", zone, err)
	}
	addresses := []netip.Addr{}
	if address, err := netip.ParseAddr(host); err == nil {
		addresses = append(addresses, address)
	} else if addresses, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, &provider.Error{Reason: provider.Unreachable, Fault: provider.Dependency, Retry: true, Text: fmt.Sprintf("The name of the server %s cannot be resolved.", host), Err: err}
	}
	var servers []propagation.Server
	for _, address := range addresses {
		servers = append(servers, propagation.Server{Name: host, Address: netip.AddrPortFrom(address.Unmap(), uint16(number))})
	}
	return servers, nil
}

// check asks all servers and records what they told.
func (s steps) check(ctx context.Context, d *db.DB, set dns.ManagedSet) (dns.Check, error) {
	zone, err := dns.ZoneByID(ctx, d.Reader, set.ZoneID)
	if err != nil {
		return dns.Check{}, fmt.Errorf("load the zone: %w", err)
	}
	check, err := CheckSet(ctx, zone, set, s.resolver())
	if err != nil {
		return dns.Check{}, err
	}
	err = d.InTx(ctx, func(tx *db.Tx) error { return dns.RecordCheck(ctx, tx, set.ID, set.Revision, check) })
	return check, err
}
