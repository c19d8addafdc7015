// Package rfc2136 reads and changes zones of name servers that allow transfers (AXFR, RFC 5936) and dynamic updates
// (RFC 2136), over TCP and signed with TSIG (RFC 8945).
//
// It believes nothing that a server sends: answers are bounded, must be signed with the zone's key, and names outside the zone
// are dropped. It refuses unsigned work.
package rfc2136

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	mdns "github.com/miekg/dns"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
)

// Algorithm of a TSIG key.
type Algorithm string

const (
	SHA256 Algorithm = "hmac-sha256"
	SHA512 Algorithm = "hmac-sha512"
)

// Key is a TSIG key. Its String hides the secret.
type Key struct {
	Name      dns.Name
	Algorithm Algorithm
	Secret    string // base64, as in the configuration of the server
}

func (k Key) String() string { return string(k.Name) + " (" + string(k.Algorithm) + ")" }

// GoString hides the secret too.
func (k Key) GoString() string { return k.String() }

// Defaults of Config.
const (
	DefaultTimeout    = 20 * time.Second
	DefaultMaxRecords = 200_000
	DefaultMaxBytes   = 64 << 20
)

// fudge is how far the clocks may differ, in seconds, as RFC 8945, section 10 recommends.
const fudge = 300

// Config of a Client. Server, Zone, Key and Allow are needed.
type Config struct {
	Server string // host or address, with a port: "ns1.example.org:53", "[2001:db8::1]:53"
	Zone   dns.Name
	Key    Key
	// Allow decides on each address before it is connected to. Its error is told to the user. The name of a server may
	// lead to an address inside our own network; a zone has to allow that.
	Allow      func(netip.Addr) error
	Timeout    time.Duration    // of one call
	MaxRecords int              // of a transfer
	MaxBytes   int              // of a transfer, on the wire
	Now        func() time.Time // signs; time.Now if nil
}

// Client is a provider.Provider. It holds no connection and may be used by several goroutines.
type Client struct{ config Config }

var _ provider.Provider = (*Client)(nil)

// New checks the configuration and connects to nothing. Its error is a *provider.Error.
func New(config Config) (*Client, error) {
	if config.Timeout == 0 {
		config.Timeout = DefaultTimeout
	}
	if config.MaxRecords == 0 {
		config.MaxRecords = DefaultMaxRecords
	}
	if config.MaxBytes == 0 {
		config.MaxBytes = DefaultMaxBytes
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	host, port, err := net.SplitHostPort(config.Server)
	number, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" || portErr != nil || number == 0 {
		return nil, invalid("The server must be a host with a port, as in ns1.example.org:53.")
	}
	if config.Zone == "" || config.Key.Name == "" || config.Allow == nil {
		return nil, invalid("The zone, the name of its key and a rule for addresses are needed.")
	}
	if config.Key.Algorithm != SHA256 && config.Key.Algorithm != SHA512 {
		return nil, invalid("The algorithm of the key must be hmac-sha256 or hmac-sha512.")
	}
	if secret, err := base64.StdEncoding.DecodeString(config.Key.Secret); err != nil || len(secret) < 16 {
		return nil, invalid("The secret of the key must be base64 of at least 16 bytes.")
	}
	return &Client{config}, nil
}

func invalid(text string) *provider.Error {
	return &provider.Error{Reason: provider.Invalid, Fault: provider.User, Text: text}
}

// Serial implements provider.Provider.
func (c *Client) Serial(ctx context.Context) (uint32, error) {
	soa, err := c.soa(ctx)
	if err != nil {
		return 0, err
	}
	return soa.Serial, nil
}

func (c *Client) soa(ctx context.Context) (*mdns.SOA, error) {
	query := new(mdns.Msg)
	query.SetQuestion(string(c.config.Zone), mdns.TypeSOA)
	query.RecursionDesired = false
	answer, err := c.exchange(ctx, query)
	if err != nil {
		return nil, err
	}
	if answer.Rcode != mdns.RcodeSuccess {
		return nil, c.codeError(answer.Rcode, provider.QueryRefused)
	}
	for _, record := range answer.Answer {
		soa, ok := record.(*mdns.SOA)
		if ok && answer.Authoritative && strings.EqualFold(soa.Hdr.Name, string(c.config.Zone)) {
			return soa, nil
		}
	}
	return nil, c.notAuthoritative()
}

func (c *Client) notAuthoritative() *provider.Error {
	return &provider.Error{Reason: provider.NotAuthoritative, Fault: provider.User, Text: fmt.Sprintf("The server %s does not serve the zone %s.", c.config.Server, c.config.Zone.Display())}
}

// exchange sends one signed message and returns the answer. Answers that report success are signed.
func (c *Client) exchange(ctx context.Context, query *mdns.Msg) (*mdns.Msg, error) {
	s, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.send(query); err != nil {
		return nil, err
	}
	answer, _, err := s.receive()
	return answer, err
}

// session is one connection with one signed question. The signature of each message covers the one before.
type session struct {
	c     *Client
	ctx   context.Context
	conn  *mdns.Conn
	stop  func() bool
	query *mdns.Msg
	mac   string
	first bool // the next answer is the first
}

// open connects within the time of a call. The context ends every read and write.
func (c *Client) open(ctx context.Context) (*session, error) {
	deadline := time.Now().Add(c.config.Timeout)
	var refused error
	dialer := net.Dialer{Deadline: deadline, Control: func(_, address string, _ syscall.RawConn) error {
		// Here the name is resolved already, so the answer of a resolver cannot change in between.
		parsed, err := netip.ParseAddrPort(address)
		if err == nil {
			err = c.config.Allow(parsed.Addr().Unmap())
		}
		if err != nil {
			refused = err
		}
		return err
	}}
	conn, err := dialer.DialContext(ctx, "tcp", c.config.Server)
	if err != nil {
		if refused != nil {
			return nil, &provider.Error{Reason: provider.AddressRefused, Fault: provider.User, Text: fmt.Sprintf("The zone does not allow a server at the address of %s: %s", c.config.Server, refused), Err: err}
		}
		return nil, &provider.Error{Reason: provider.Unreachable, Fault: provider.Dependency, Retry: true, Text: fmt.Sprintf("The server %s cannot be reached over TCP.", c.config.Server), Err: err}
	}
	s := &session{c: c, ctx: ctx, conn: &mdns.Conn{Conn: conn}, first: true}
	_ = conn.SetDeadline(deadline)
	s.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return s, nil
}

func (s *session) close() {
	s.stop()
	_ = s.conn.Close()
}

func (s *session) send(query *mdns.Msg) error {
	key := s.c.config.Key
	query.SetTsig(string(key.Name), string(key.Algorithm)+".", fudge, s.c.config.Now().Unix())
	packed, mac, err := mdns.TsigGenerate(query, key.Secret, "", false)
	if err != nil {
		return &provider.Error{Reason: provider.TooLarge, Fault: provider.User, Text: "The change does not fit into one update of 64 KiB.", Err: err}
	}
	s.query, s.mac = query, mac
	if _, err := s.conn.Write(packed); err != nil {
		return s.interrupted(err)
	}
	return nil
}

func (s *session) interrupted(err error) error {
	if cause := context.Cause(s.ctx); cause != nil {
		err = errors.Join(cause, err)
	}
	return &provider.Error{Reason: provider.Interrupted, Fault: provider.Dependency, Retry: true, Text: fmt.Sprintf("The connection to %s ended before the answer was complete.", s.c.config.Server), Err: err}
}

func badAnswer(format string, args ...any) *provider.Error {
	return &provider.Error{Reason: provider.BadAnswer, Fault: provider.Operator, Retry: true, Text: "The answer of the server cannot be used: " + fmt.Sprintf(format, args...)}
}

// receive reads an answer and its size in bytes. An answer that reports success is signed with our key; one that reports an
// error may come unsigned, since it changes nothing and leads to nothing but an error.
func (s *session) receive() (*mdns.Msg, int, error) {
	packed, err := s.conn.ReadMsgHeader(nil)
	if err != nil {
		return nil, 0, s.interrupted(err)
	}
	answer := new(mdns.Msg)
	if err := answer.Unpack(packed); err != nil {
		return nil, 0, badAnswer("It is malformed.")
	}
	if answer.Id != s.query.Id || !answer.Response || answer.Opcode != s.query.Opcode {
		return nil, 0, badAnswer("It belongs to another question.")
	}
	tsig := answer.IsTsig()
	if answer.Rcode == mdns.RcodeNotAuth && tsig != nil && tsig.Error != mdns.RcodeSuccess {
		return nil, 0, s.c.signatureError(tsig)
	}
	if err := s.verify(packed, tsig); err != nil && answer.Rcode == mdns.RcodeSuccess {
		return nil, 0, err
	}
	s.first = false
	return answer, len(packed), nil
}

func (s *session) verify(packed []byte, tsig *mdns.TSIG) error {
	key := s.c.config.Key
	switch {
	case tsig == nil:
		return badAnswer("It is not signed.")
	case !strings.EqualFold(tsig.Hdr.Name, string(key.Name)) || !strings.EqualFold(tsig.Algorithm, string(key.Algorithm)+"."):
		return badAnswer("It is signed with another key.")
	}
	// After the first message, signatures cover the times only (RFC 8945, section 5.3.1).
	err := mdns.TsigVerify(packed, key.Secret, s.mac, !s.first)
	if errors.Is(err, mdns.ErrTime) {
		// The server accepted our time, so the signature is right and only this clock differs from the one that signed.
		return s.c.skewError("")
	}
	if err != nil {
		return badAnswer("Its signature is wrong.")
	}
	s.mac = tsig.MAC
	return nil
}

// signatureError tells what the server says of our signature (RFC 8945, section 5.2).
func (c *Client) signatureError(tsig *mdns.TSIG) error {
	failure := &provider.Error{Reason: provider.WrongKey, Fault: provider.User}
	switch tsig.Error {
	case mdns.RcodeBadKey:
		failure.Text = fmt.Sprintf("The server %s does not know the key %s, or its access list gives the key nothing in this zone.", c.config.Server, c.config.Key)
	case mdns.RcodeBadSig:
		failure.Text = fmt.Sprintf("The server %s has another secret for the key %s.", c.config.Server, c.config.Key)
	case mdns.RcodeBadTime:
		// The other data is the server's time: 48 bits in seconds.
		offset := ""
		if seconds, err := strconv.ParseInt(tsig.OtherData, 16, 64); err == nil && len(tsig.OtherData) == 12 {
			offset = fmt.Sprintf(" The server's clock is at %s.", time.Unix(seconds, 0).UTC().Format(time.RFC3339))
		}
		return c.skewError(offset)
	default:
		failure.Text = fmt.Sprintf("The server %s refuses the signature with the key %s.", c.config.Server, c.config.Key)
	}
	return failure
}

func (c *Client) skewError(offset string) *provider.Error {
	return &provider.Error{
		Reason: provider.ClockSkew, Fault: provider.Dependency, Retry: true,
		Text: fmt.Sprintf("The clocks of the server %s and of this backend differ by more than %d seconds.%s", c.config.Server, fudge, offset),
	}
}

// codeError maps the code of an answer. refused is the reason that a refusal stands for.
func (c *Client) codeError(code int, refused provider.Reason) error {
	name := mdns.RcodeToString[code]
	server, zone := c.config.Server, c.config.Zone.Display()
	switch code {
	case mdns.RcodeRefused:
		texts := map[provider.Reason]string{
			provider.TransferRefused: "The server %s refuses to transfer the zone %s. Its access list for transfers must have the key %s.",
			provider.UpdateRefused:   "The server %s refuses to update the zone %s. Its access list for updates must have the key %s.",
			provider.QueryRefused:    "The server %s refuses queries about the zone %s with the key %s.",
		}
		return &provider.Error{Reason: refused, Fault: provider.Operator, Text: fmt.Sprintf(texts[refused], server, zone, c.config.Key)}
	case mdns.RcodeNotAuth, mdns.RcodeNotZone, mdns.RcodeNameError:
		return c.notAuthoritative()
	case mdns.RcodeNotImplemented, mdns.RcodeFormatError:
		return &provider.Error{Reason: provider.ServerFailed, Fault: provider.Operator, Text: fmt.Sprintf("The server %s does not understand the request (%s).", server, name)}
	}
	return &provider.Error{Reason: provider.ServerFailed, Fault: provider.Operator, Retry: true, Text: fmt.Sprintf("The server %s failed with code %d %s.", server, code, name)}
}

// deniedError tells a refusal from a zone that the server does not have.
func (c *Client) deniedError(ctx context.Context, code int, refused provider.Reason) error {
	if code == mdns.RcodeNotAuth && c.answersKey(ctx) {
		code = mdns.RcodeRefused
	}
	return c.codeError(code, refused)
}

// keyError tells a refusal from a wrong key. Knot says BADKEY of a good key that its access list does not have.
func (c *Client) keyError(ctx context.Context, err error, refused provider.Reason) error {
	if provider.ReasonOf(err) == provider.WrongKey && c.answersKey(ctx) {
		return c.codeError(mdns.RcodeRefused, refused)
	}
	return err
}

// answersKey reports whether the server serves the zone and accepts our signature of a query.
func (c *Client) answersKey(ctx context.Context) bool {
	_, err := c.soa(ctx)
	return err == nil
}
