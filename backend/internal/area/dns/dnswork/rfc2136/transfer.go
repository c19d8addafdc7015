package rfc2136

import (
	"context"
	"fmt"
	"strings"

	mdns "github.com/miekg/dns"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
)

// Transfer implements provider.Provider with AXFR. A transfer that exceeds a limit of the configuration fails.
func (c *Client) Transfer(ctx context.Context) (provider.Snapshot, error) {
	query := new(mdns.Msg)
	query.SetAxfr(string(c.config.Zone))
	s, err := c.open(ctx)
	if err != nil {
		return provider.Snapshot{}, err
	}
	defer s.close()
	if err := s.send(query); err != nil {
		return provider.Snapshot{}, err
	}
	t := transfer{zone: c.config.Zone}
	for size := 0; !t.done; {
		answer, bytes, err := s.receive()
		if err != nil {
			return provider.Snapshot{}, c.keyError(ctx, err, provider.TransferRefused)
		}
		if answer.Rcode != mdns.RcodeSuccess {
			return provider.Snapshot{}, c.deniedError(ctx, answer.Rcode, provider.TransferRefused)
		}
		size += bytes
		if err := t.add(answer.Answer); err != nil {
			return provider.Snapshot{}, err
		}
		if size > c.config.MaxBytes || t.seen > c.config.MaxRecords {
			return provider.Snapshot{}, &provider.Error{
				Reason: provider.TooLarge, Fault: provider.User,
				Text: fmt.Sprintf("The zone %s has more than %d records or more than %d bytes.", c.config.Zone.Display(), c.config.MaxRecords, c.config.MaxBytes),
			}
		}
	}
	sets, err := dns.Group(t.records)
	if err != nil {
		return provider.Snapshot{}, badAnswer("A record is malformed.")
	}
	return provider.Snapshot{Serial: t.soa.Serial, NegativeTTL: min(t.soa.Hdr.Ttl, t.soa.Minttl), Sets: sets, Outside: t.outside}, nil
}

// transfer gathers the records between the two SOA records that begin and end a zone (RFC 5936, section 2.2).
type transfer struct {
	zone    dns.Name
	soa     *mdns.SOA
	records []mdns.RR
	seen    int
	outside int
	done    bool
}

func (t *transfer) add(records []mdns.RR) error {
	if len(records) == 0 {
		return badAnswer("A message of the transfer is empty.")
	}
	for _, record := range records {
		if t.done {
			return badAnswer("Records follow the end of the zone.")
		}
		t.seen++
		header := record.Header()
		soa, isSOA := record.(*mdns.SOA)
		isSOA = isSOA && strings.EqualFold(header.Name, string(t.zone))
		switch {
		case t.soa == nil && !isSOA:
			return badAnswer("The transfer does not begin with the SOA record of the zone.")
		case t.soa == nil:
			t.soa = soa
			t.records = append(t.records, soa)
		case isSOA && soa.Serial != t.soa.Serial:
			return badAnswer("The zone ends with another serial than it began with.")
		case isSOA:
			t.done = true
		case header.Class != mdns.ClassINET || !dns.Name(strings.ToLower(header.Name)).Within(t.zone):
			t.outside++
		default:
			t.records = append(t.records, record)
		}
	}
	return nil
}
