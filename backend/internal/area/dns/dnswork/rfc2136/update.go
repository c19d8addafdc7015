package rfc2136

import (
	"context"
	"encoding/hex"
	"fmt"

	mdns "github.com/miekg/dns"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
)

// Apply implements provider.Provider: one update whose prerequisites are what the difference saw. If they fail, a second
// message without changes asks whether the desired state holds already. A query would not do: a wildcard or a delegation
// answers in place of the name.
func (c *Client) Apply(ctx context.Context, change dns.Change) (provider.Applied, error) {
	update, err := c.update(change)
	if err != nil {
		return provider.Applied{}, err
	}
	answer, err := c.exchange(ctx, update)
	if err != nil {
		return provider.Applied{}, c.keyError(ctx, err, provider.UpdateRefused)
	}
	switch answer.Rcode {
	case mdns.RcodeSuccess:
		return provider.Applied{}, nil
	case mdns.RcodeYXDomain, mdns.RcodeYXRrset, mdns.RcodeNXRrset, mdns.RcodeNameError:
	default:
		return provider.Applied{}, c.deniedError(ctx, answer.Rcode, provider.UpdateRefused)
	}
	look, err := c.look(change)
	if err != nil {
		return provider.Applied{}, err
	}
	if answer, err = c.exchange(ctx, look); err != nil {
		return provider.Applied{}, err
	}
	if answer.Rcode == mdns.RcodeSuccess {
		return provider.Applied{Already: true}, nil
	}
	return provider.Applied{}, &provider.Error{
		Reason: provider.Changed, Fault: provider.User, Retry: true,
		Text: fmt.Sprintf("The records of %s changed on the server after they were read. Nothing was changed.", change.Name.Display()),
	}
}

// update is the message of a change (RFC 2136, section 2).
func (c *Client) update(change dns.Change) (*mdns.Msg, error) {
	message := new(mdns.Msg)
	message.SetUpdate(string(c.config.Zone))
	owner := dns.OwnerName(change.Name, change.Type)
	if !change.Name.Within(c.config.Zone) {
		return nil, ours(fmt.Errorf("%s is not in %s", change.Name, c.config.Zone))
	}

	message.Answer = append(message.Answer, equals(change.Name, change.Type, change.Before)...)
	message.Answer = append(message.Answer, equals(owner, dns.TXT, change.OwnerBefore)...)
	if change.Before == nil && change.After != nil {
		// A server ignores a record beside a CNAME without an error (RFC 2136, section 3.4.2.2), so we ask first.
		if change.Type == dns.CNAME {
			message.Answer = append(message.Answer, empty(change.Name, mdns.TypeANY, mdns.ClassNONE))
		} else {
			message.Answer = append(message.Answer, empty(change.Name, mdns.TypeCNAME, mdns.ClassNONE))
		}
	}
	for _, part := range []struct {
		name   dns.Name
		kind   dns.Type
		before *dns.Stored
		after  *dns.RecordSet
	}{{change.Name, change.Type, change.Before, change.After}, {owner, dns.TXT, change.OwnerBefore, change.OwnerAfter}} {
		if part.before != nil {
			message.Ns = append(message.Ns, empty(part.name, typeOf(part.kind), mdns.ClassANY))
		}
		added, err := records(part.name, part.kind, part.after, true)
		if err != nil {
			return nil, err
		}
		message.Ns = append(message.Ns, added...)
	}
	return message, nil
}

// look is a message that changes nothing and succeeds if the server holds what the change leads to.
func (c *Client) look(change dns.Change) (*mdns.Msg, error) {
	message := new(mdns.Msg)
	message.SetUpdate(string(c.config.Zone))
	owner := dns.OwnerName(change.Name, change.Type)
	for _, part := range []struct {
		name  dns.Name
		kind  dns.Type
		after *dns.RecordSet
	}{{change.Name, change.Type, change.After}, {owner, dns.TXT, change.OwnerAfter}} {
		if part.after == nil {
			message.Answer = append(message.Answer, empty(part.name, typeOf(part.kind), mdns.ClassNONE))
			continue
		}
		held, err := records(part.name, part.kind, part.after, false)
		if err != nil {
			return nil, err
		}
		message.Answer = append(message.Answer, held...)
	}
	return message, nil
}

// equals asks that the record set is exactly this one, or that there is none (RFC 2136, sections 2.4.2 and 2.4.3).
func equals(name dns.Name, kind dns.Type, set *dns.Stored) []mdns.RR {
	if set == nil {
		return []mdns.RR{empty(name, typeOf(kind), mdns.ClassNONE)}
	}
	var asked []mdns.RR
	for _, data := range set.Rdata {
		asked = append(asked, record(name, kind, 0, data))
	}
	return asked
}

// records are those of a set: with its TTL to add them, without one to ask for them.
func records(name dns.Name, kind dns.Type, set *dns.RecordSet, ttl bool) ([]mdns.RR, error) {
	if set == nil {
		return nil, nil
	}
	var made []mdns.RR
	for _, value := range set.Values {
		data, err := dns.Rdata(kind, value)
		if err != nil {
			return nil, ours(err)
		}
		seconds := uint32(0)
		if ttl {
			seconds = set.TTL
		}
		made = append(made, record(name, kind, seconds, data))
	}
	return made, nil
}

// record carries data as it stands, so that the server compares exactly what it sent.
func record(name dns.Name, kind dns.Type, ttl uint32, data []byte) mdns.RR {
	header := mdns.RR_Header{Name: string(name), Rrtype: typeOf(kind), Class: mdns.ClassINET, Ttl: ttl}
	return &mdns.RFC3597{Hdr: header, Rdata: hex.EncodeToString(data)}
}

// empty is a record without data. Its class says what is meant.
func empty(name dns.Name, kind, class uint16) mdns.RR {
	return &mdns.ANY{Hdr: mdns.RR_Header{Name: string(name), Rrtype: kind, Class: class}}
}

func typeOf(kind dns.Type) uint16 { return mdns.StringToType[string(kind)] }

func ours(err error) *provider.Error {
	return &provider.Error{Reason: provider.Invalid, Fault: provider.Ours, Text: "The change cannot be sent. This is a fault of Kloigos.", Err: err}
}
