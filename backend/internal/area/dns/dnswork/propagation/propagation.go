// Package propagation asks the servers of a zone, each one directly, and then a resolver, whether they tell a record set as
// it should be.
//
// It refuses to change anything and to wait: it says what each server told and how long the old answer may live on.
package propagation

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	mdns "github.com/miekg/dns"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
)

// Limits of a check. A zone has 13 servers at most in practice; a hostile one may name thousands.
const (
	maxServers   = 16
	maxAddresses = 32
	maxParallel  = 8
	askTimeout   = 4 * time.Second
	udpSize      = 1232 // fits any path (RFC 9715)
)

// DefaultTimeout of a check.
const DefaultTimeout = 20 * time.Second

// Server is one address of an authoritative server.
type Server struct {
	Name    string // for people
	Address netip.AddrPort
}

// Config of a Checker. Allow is needed, and either Servers or Resolver.
type Config struct {
	Zone     dns.Name
	Servers  []Server       // the zone's authoritative servers; found through Resolver if empty
	Resolver netip.AddrPort // asked last; not asked if it is the zero value
	Port     uint16         // of servers that are found; 53 if 0
	// Allow decides on the address of each authoritative server. The zone's own records lead to them, so they may lead
	// anywhere.
	Allow   func(netip.Addr) error
	Timeout time.Duration // of one check
}

// Checker asks the servers of one zone. It may be used by several goroutines.
type Checker struct{ config Config }

// New makes a Checker. Its error is a *provider.Error.
func New(config Config) (*Checker, error) {
	if config.Zone == "" || config.Allow == nil || len(config.Servers) == 0 && !config.Resolver.IsValid() {
		return nil, &provider.Error{Reason: provider.Invalid, Fault: provider.Ours, Text: "A zone, a rule for addresses, and servers or a resolver are needed."}
	}
	if config.Port == 0 {
		config.Port = 53
	}
	if config.Timeout == 0 {
		config.Timeout = DefaultTimeout
	}
	return &Checker{config}, nil
}

// Status of a server.
type Status string

const (
	Current          Status = "current"           // as it should be
	Absent           Status = "absent"            // it tells of no such record set
	Different        Status = "different"         // it tells another
	Unreachable      Status = "unreachable"       // no answer in time
	NotAllowed       Status = "address_refused"   // the zone does not allow its address; it was not asked
	NotAuthoritative Status = "not_authoritative" // it does not serve the zone
	Failed           Status = "failed"            // it answered with an error, or with what cannot be used
)

// Answer is what one server told.
type Answer struct {
	Server Server
	Status Status
	Values []string // canonical; at most as many as fit into an answer
	// TTL of the answer, in seconds. A resolver gives the same answer for that long. For Absent it is the negative TTL (RFC
	// 2308).
	TTL  uint32
	Text string // a plain sentence, if Status needs one
}

// Report is the result of a check.
type Report struct {
	Servers  []Answer // authoritative, in the order of their names and addresses
	Resolver *Answer  // nil if none was asked
	// Everywhere is true if all authoritative servers are Current, and there is at least one.
	Everywhere bool
	// Skipped counts addresses beyond the limit that were not asked.
	Skipped int
}

// Want is what should be told of a name and type. Set is nil if there should be no such record set.
type Want struct {
	Name dns.Name
	Type dns.Type
	Set  *dns.RecordSet
}

// Longest is how long a resolver may tell the old state after all authoritative servers tell the new one: the TTL of the
// record set before the change, or the zone's negative TTL (provider.Snapshot) if there was none. Resolvers with a minimum
// of their own may take longer.
func Longest(before *dns.RecordSet, negativeTTL uint32) time.Duration {
	if before != nil {
		return time.Duration(before.TTL) * time.Second
	}
	return time.Duration(negativeTTL) * time.Second
}

// Check asks all servers. It ends within the configured time. It fails with a *provider.Error only if no authoritative server
// is known; what a single server did wrong stands in its answer.
func (c *Checker) Check(ctx context.Context, want Want) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	servers, skipped := c.config.Servers, 0
	if len(servers) == 0 {
		var err error
		if servers, err = c.find(ctx); err != nil {
			return Report{}, err
		}
	}
	if len(servers) > maxAddresses {
		servers, skipped = servers[:maxAddresses], len(servers)-maxAddresses
	}
	report := Report{Servers: make([]Answer, len(servers)), Skipped: skipped}
	slots := make(chan struct{}, maxParallel)
	var group sync.WaitGroup
	for i, server := range servers {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			report.Servers[i] = c.askServer(ctx, server, want)
		})
	}
	group.Wait()
	report.Everywhere = len(servers) > 0 && !slices.ContainsFunc(report.Servers, func(a Answer) bool { return a.Status != Current })
	if c.config.Resolver.IsValid() {
		answer := c.ask(ctx, Server{"resolver", c.config.Resolver}, want, false)
		report.Resolver = &answer
	}
	return report, nil
}

func (c *Checker) askServer(ctx context.Context, server Server, want Want) Answer {
	if err := c.config.Allow(server.Address.Addr().Unmap()); err != nil {
		return Answer{Server: server, Status: NotAllowed, Text: fmt.Sprintf("The zone does not allow this address: %s", err)}
	}
	return c.ask(ctx, server, want, true)
}

// find reads the zone's NS records and their addresses from the resolver.
func (c *Checker) find(ctx context.Context) ([]Server, error) {
	failure := func(text string, err error) error {
		return &provider.Error{Reason: provider.Unreachable, Fault: provider.Dependency, Retry: true, Text: text, Err: err}
	}
	answer, err := exchange(ctx, c.config.Resolver, c.config.Zone, mdns.TypeNS, true)
	if err != nil {
		return nil, failure("The resolver does not answer.", err)
	}
	var names []string
	for _, record := range answer.Answer {
		if ns, ok := record.(*mdns.NS); ok && strings.EqualFold(ns.Hdr.Name, string(c.config.Zone)) {
			names = append(names, strings.ToLower(ns.Ns))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	names = names[:min(len(names), maxServers)]
	found := make([][]Server, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() { found[i] = c.addresses(ctx, name) })
	}
	group.Wait()
	servers := slices.Concat(found...)
	if len(servers) == 0 {
		return nil, failure(fmt.Sprintf("The resolver knows no name server of the zone %s with an address.", c.config.Zone.Display()), nil)
	}
	return servers, nil
}

func (c *Checker) addresses(ctx context.Context, name string) []Server {
	var servers []Server
	for _, kind := range []uint16{mdns.TypeA, mdns.TypeAAAA} {
		answer, err := exchange(ctx, c.config.Resolver, dns.Name(name), kind, true)
		if err != nil {
			continue
		}
		for _, record := range answer.Answer {
			var ip []byte
			switch record := record.(type) {
			case *mdns.A:
				ip = record.A.To4()
			case *mdns.AAAA:
				ip = record.AAAA.To16()
			}
			if address, ok := netip.AddrFromSlice(ip); ok && strings.EqualFold(record.Header().Name, name) {
				servers = append(servers, Server{dns.Name(name).Display(), netip.AddrPortFrom(address, c.config.Port)})
			}
		}
	}
	slices.SortFunc(servers, func(a, b Server) int { return a.Address.Compare(b.Address) })
	return slices.Compact(servers)
}

// ask asks one server and compares. TTLs are compared for authoritative servers only; those of a resolver run down.
func (c *Checker) ask(ctx context.Context, server Server, want Want, authoritative bool) Answer {
	made := Answer{Server: server}
	message, err := exchange(ctx, server.Address, want.Name, mdns.StringToType[string(want.Type)], !authoritative)
	switch {
	case err != nil:
		made.Status, made.Text = Unreachable, "The server does not answer with a message that can be used."
		return made
	case authoritative && (message.Rcode == mdns.RcodeRefused || message.Rcode == mdns.RcodeNotAuth):
		made.Status, made.Text = NotAuthoritative, "The server does not serve the zone, or answers no queries from here."
		return made
	case message.Rcode != mdns.RcodeSuccess && message.Rcode != mdns.RcodeNameError:
		made.Status, made.Text = Failed, fmt.Sprintf("The server failed with code %d %s.", message.Rcode, mdns.RcodeToString[message.Rcode])
		return made
	}
	sets, referral, err := told(message, want)
	if err != nil {
		made.Status, made.Text = Failed, "The answer contains a malformed record."
		return made
	}
	if authoritative && !message.Authoritative && !referral {
		made.Status, made.Text = NotAuthoritative, "The server does not serve the zone."
		return made
	}
	made.compare(sets, want, message, authoritative)
	return made
}

// told returns the record sets that an answer has for the name. A delegation is told as a referral, without authority
// (RFC 1034, section 4.3.2).
func told(message *mdns.Msg, want Want) (sets []dns.Stored, referral bool, err error) {
	ofName := func(records []mdns.RR) []mdns.RR {
		var chosen []mdns.RR
		for _, record := range records {
			kind := record.Header().Rrtype
			if strings.EqualFold(record.Header().Name, string(want.Name)) && kind != mdns.TypeRRSIG && kind != mdns.TypeSOA {
				chosen = append(chosen, record)
			}
		}
		return chosen
	}
	records := ofName(message.Answer)
	if len(records) == 0 && want.Type == dns.NS {
		records = slices.DeleteFunc(ofName(message.Ns), func(r mdns.RR) bool { return r.Header().Rrtype != mdns.TypeNS })
		referral = len(records) > 0
	}
	sets, err = dns.Group(records)
	return sets, referral, err
}

func (a *Answer) compare(sets []dns.Stored, want Want, message *mdns.Msg, authoritative bool) {
	i := slices.IndexFunc(sets, func(s dns.Stored) bool { return s.Type == want.Type })
	if i < 0 {
		a.TTL = negativeTTL(message)
		switch {
		case len(sets) > 0 && want.Set != nil:
			a.Status, a.Text = Different, fmt.Sprintf("The server tells a %s record of this name.", sets[0].Type)
		case want.Set == nil:
			a.Status = Current
		default:
			a.Status, a.Text = Absent, "The server tells of no such record."
		}
		return
	}
	a.Values, a.TTL = sets[i].Values, sets[i].TTL
	switch {
	case want.Set == nil:
		a.Status, a.Text = Different, "The server still tells the deleted record."
	case !slices.Equal(sets[i].Values, want.Set.Values):
		a.Status, a.Text = Different, "The server tells other values."
	case authoritative && sets[i].TTL != want.Set.TTL:
		a.Status, a.Text = Different, "The server tells another TTL."
	default:
		a.Status = Current
	}
}

// negativeTTL is how long a denial may be kept (RFC 2308, section 5).
func negativeTTL(message *mdns.Msg) uint32 {
	for _, record := range message.Ns {
		if soa, ok := record.(*mdns.SOA); ok {
			return min(soa.Hdr.Ttl, soa.Minttl)
		}
	}
	return 0
}

// exchange asks over UDP, and over TCP if the answer does not fit or does not come.
func exchange(ctx context.Context, server netip.AddrPort, name dns.Name, kind uint16, recursion bool) (*mdns.Msg, error) {
	question := new(mdns.Msg)
	question.SetQuestion(string(name), kind)
	question.RecursionDesired = recursion
	question.SetEdns0(udpSize, false)
	answer, err := exchangeOver(ctx, "udp", server, question)
	if err == nil && !answer.Truncated {
		return answer, nil
	}
	return exchangeOver(ctx, "tcp", server, question)
}

func exchangeOver(ctx context.Context, network string, server netip.AddrPort, question *mdns.Msg) (*mdns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	client := mdns.Client{Net: network, Timeout: askTimeout, UDPSize: udpSize}
	answer, _, err := client.ExchangeContext(ctx, question, server.String())
	if err != nil {
		return nil, fmt.Errorf("ask %s over %s: %w", server, network, err)
	}
	if !answer.Response || len(answer.Question) != 1 || !strings.EqualFold(answer.Question[0].Name, question.Question[0].Name) ||
		answer.Question[0].Qtype != question.Question[0].Qtype {
		return nil, fmt.Errorf("ask %s over %s: the answer belongs to another question", server, network)
	}
	return answer, nil
}
