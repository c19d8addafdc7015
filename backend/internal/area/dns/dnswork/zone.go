package dnswork

import (
	"context"
	"errors"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
	"kloigos/backend/internal/area/dns/dnswork/rfc2136"
)

// Open makes the driver of a zone, which connects to nothing yet. secret is that of the zone's key.
func Open(zone dns.Zone, secret string) (provider.Provider, error) {
	return rfc2136.New(rfc2136.Config{
		Server: zone.Server, Zone: zone.Name, Allow: dns.AddressRule(zone.AllowPrivate),
		Key: rfc2136.Key{Name: zone.KeyName, Algorithm: rfc2136.Algorithm(zone.KeyAlgorithm), Secret: secret},
	})
}

// SyncZone synchronizes a zone. With force it reads the zone even if neither serial nor intent changed: somebody may have
// changed an access list. A failure that concerns the whole zone is returned for its record; the error is for what has none:
// a fault of ours, or a context that ended.
func SyncZone(ctx context.Context, server provider.Provider, work dns.SyncWork, force bool, log func(line string)) (dns.Report, *dns.Failure, error) {
	in := Input{Settings: work.Settings(), Desired: work.Desired(), Known: work.Known(), Confirmed: work.Zone.Confirmed, Log: log}
	if force {
		in.Known = nil
	}
	report, err := Sync(ctx, server, in)
	if err == nil {
		return report, nil, nil
	}
	if ctx.Err() != nil {
		return report, nil, errors.Join(ctx.Err(), err)
	}
	var failure *provider.Error
	if !errors.As(err, &failure) {
		return report, nil, err
	}
	return report, &dns.Failure{Reason: string(failure.Reason), Retry: failure.Retry, Text: failure.Text}, nil
}
