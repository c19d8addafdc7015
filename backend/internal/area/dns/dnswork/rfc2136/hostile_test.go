package rfc2136

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
)

var hostileKey = Key{"key.", SHA256, "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}

// peer is the other end of a connection that a hostile server has accepted, with the question that came.
type peer struct {
	*testing.T
	conn  *mdns.Conn
	query *mdns.Msg
	mac   string
	sent  int
}

// hostile serves one behaviour that no real server shows.
func hostile(t *testing.T, behave func(p *peer)) *Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
				p := &peer{T: t, conn: &mdns.Conn{Conn: conn}}
				packed, err := p.conn.ReadMsgHeader(nil)
				p.query = new(mdns.Msg)
				if err == nil && p.query.Unpack(packed) == nil {
					p.mac = p.query.IsTsig().MAC
					behave(p)
				}
			}()
		}
	}()
	client, err := New(Config{Server: listener.Addr().String(), Zone: zone, Key: hostileKey, Allow: anyAddress, Timeout: 10 * time.Second, MaxRecords: 1000, MaxBytes: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// answer is signed with the right key: the server is the right one, and hostile all the same.
func (p *peer) answer(records ...string) error {
	message := new(mdns.Msg)
	message.SetReply(p.query)
	message.Authoritative = true
	for _, text := range records {
		record, err := mdns.NewRR(text)
		if err != nil {
			p.Error(err)
			return err
		}
		message.Answer = append(message.Answer, record)
	}
	return p.sign(message)
}

func (p *peer) sign(message *mdns.Msg) error {
	message.SetTsig(string(hostileKey.Name), "hmac-sha256.", fudge, time.Now().Unix())
	packed, mac, err := mdns.TsigGenerate(message, hostileKey.Secret, p.mac, p.sent > 0)
	if err != nil {
		p.Error(err)
		return err
	}
	p.mac = mac
	p.sent++
	_, err = p.conn.Write(packed)
	return err
}

const soa = "example.org. 60 IN SOA a. b. 7 1 1 1 9"

func TestHostileTransfers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		behave func(p *peer)
		reason provider.Reason
	}{
		"endless": {func(p *peer) {
			_ = p.answer(soa)
			for i := 0; p.answer(fmt.Sprintf("h%d.example.org. 60 IN A 192.0.2.1", i)) == nil; i++ {
			}
		}, provider.TooLarge},
		"endless outside": {func(p *peer) {
			_ = p.answer(soa)
			for p.answer("www.example.com. 60 IN A 192.0.2.1") == nil {
			}
		}, provider.TooLarge},
		"no beginning":      {func(p *peer) { _ = p.answer("www.example.org. 60 IN A 192.0.2.1", soa, soa) }, provider.BadAnswer},
		"empty message":     {func(p *peer) { _ = p.answer(soa); _ = p.answer() }, provider.BadAnswer},
		"two serials":       {func(p *peer) { _ = p.answer(soa, "example.org. 60 IN SOA a. b. 8 1 1 1 9") }, provider.BadAnswer},
		"more after":        {func(p *peer) { _ = p.answer(soa, soa, "www.example.org. 60 IN A 192.0.2.1") }, provider.BadAnswer},
		"another zone":      {func(p *peer) { _ = p.answer("example.com. 60 IN SOA a. b. 7 1 1 1 9") }, provider.BadAnswer},
		"ends early":        {func(p *peer) { _ = p.answer(soa, "www.example.org. 60 IN A 192.0.2.1") }, provider.Interrupted},
		"no bytes":          {func(*peer) {}, provider.Interrupted},
		"half a length":     {func(p *peer) { _, _ = p.conn.Conn.Write([]byte{1}) }, provider.Interrupted},
		"short":             {func(p *peer) { _, _ = p.conn.Conn.Write([]byte{0, 3, 1, 2, 3}) }, provider.Interrupted},
		"noise":             {func(p *peer) { _, _ = p.conn.Conn.Write(append([]byte{0, 64}, make([]byte, 64)...)) }, provider.BadAnswer},
		"another id":        {func(p *peer) { p.query.Id++; _ = p.answer(soa, soa) }, provider.BadAnswer},
		"a query":           {func(p *peer) { _ = p.sign(p.query.Copy()) }, provider.BadAnswer},
		"signed by another": {func(p *peer) { p.mac = strings.Repeat("00", 32); _ = p.answer(soa, soa) }, provider.BadAnswer},
		"unsigned": {func(p *peer) {
			message := new(mdns.Msg)
			message.SetReply(p.query)
			record, _ := mdns.NewRR(soa)
			message.Answer = []mdns.RR{record, record}
			_ = p.conn.WriteMsg(message)
		}, provider.BadAnswer},
		"unsigned later": {func(p *peer) {
			_ = p.answer(soa)
			message := new(mdns.Msg)
			message.SetReply(p.query)
			record, _ := mdns.NewRR(soa)
			message.Answer = []mdns.RR{record}
			_ = p.conn.WriteMsg(message)
		}, provider.BadAnswer},
		"unknown code": {func(p *peer) {
			message := new(mdns.Msg)
			message.SetRcode(p.query, 15)
			_ = p.sign(message)
		}, provider.ServerFailed},
		"echo": {func(p *peer) { _, _ = io.Copy(p.conn.Conn, p.conn.Conn) }, provider.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := hostile(t, test.behave)
			if name == "echo" {
				client.config.Timeout = 200 * time.Millisecond
			}
			snapshot, err := client.Transfer(t.Context())
			if provider.ReasonOf(err) != test.reason {
				t.Errorf("got %v, %v; want %s", snapshot, err, test.reason)
			}
		})
	}
}

// Names outside the zone and records of other classes are dropped and counted.
func TestRecordsOutsideTheZoneAreDropped(t *testing.T) {
	t.Parallel()
	client := hostile(t, func(p *peer) {
		_ = p.answer(soa, "www.example.com. 60 IN A 192.0.2.1", "notexample.org. 60 IN A 192.0.2.1", "version.example.org. 60 CH TXT x", "WWW.example.org. 60 IN A 192.0.2.1", soa)
	})
	snapshot, err := client.Transfer(t.Context())
	if err != nil || snapshot.Outside != 3 || len(snapshot.Sets) != 2 || snapshot.Sets[1].Name != "www.example.org." || snapshot.Serial != 7 || snapshot.NegativeTTL != 9 {
		t.Errorf("%+v, %v", snapshot, err)
	}
}

// An answer to an update that is not signed proves nothing.
func TestAnUnsignedSuccessIsNotBelieved(t *testing.T) {
	t.Parallel()
	client := hostile(t, func(p *peer) {
		message := new(mdns.Msg)
		message.SetReply(p.query)
		_ = p.conn.WriteMsg(message)
	})
	after := set(t, "www", "A", 60, "192.0.2.1")
	_, err := client.Apply(t.Context(), dns.Change{Action: dns.Create, Name: after.Name, Type: after.Type, After: &after})
	wantReason(t, err, provider.BadAnswer, provider.Operator, true)
}

// FuzzTransferRecords holds that no message makes the reading of a transfer panic.
func FuzzTransferRecords(f *testing.F) {
	message := new(mdns.Msg)
	for _, text := range []string{soa, `x.example.org. 1 IN TXT "a"`, `x.example.org. 1 IN CAA 0 issue "x"`, "x.example.org. 1 IN SRV 1 2 3 y.", "x.example.org. 1 IN NSEC y. A", "x.example.org. 1 IN SVCB 1 . alpn=h2", `x.example.org. 1 IN TYPE9999 \# 2 abcd`, soa} {
		record, err := mdns.NewRR(text)
		if err != nil {
			f.Fatal(err)
		}
		message.Answer = append(message.Answer, record)
	}
	packed, err := message.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Fuzz(func(t *testing.T, packed []byte) {
		message := new(mdns.Msg)
		if message.Unpack(packed) != nil {
			return
		}
		read := transfer{zone: zone}
		if read.add(message.Answer) != nil {
			return
		}
		sets, err := dns.Group(read.records)
		if err != nil {
			return
		}
		if _, err := dns.Difference(dns.Settings{Zone: zone, ZoneID: "z", Installation: "i", Mode: dns.Sync}, nil, sets); err != nil {
			t.Fatal(err)
		}
		for _, s := range sets {
			_ = s.Name.Display()
			_, _ = dns.Canonical(s.Type, s.Values[0])
		}
	})
}
