// Package dnsserver gives a test or a trial a real name server on a loopback address: knot or bind9, from Debian's
// packages, with a zone and TSIG keys of its own, in a directory of its own. It ends with the test, or when it is closed.
//
// It refuses mocks, ports that others can reach, and to touch a server that it did not start.
package dnsserver

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"kloigos/rig/freeport"
)

// Key is a TSIG key that a server knows.
type Key struct {
	Name      string // with a final dot
	Algorithm string // "hmac-sha256" or "hmac-sha512"
	Secret    string // base64
}

// Options of a server.
type Options struct {
	Zone         string   // with a final dot; "example.org." if empty
	Records      []string // lines of the zone file beside SOA and NS
	DenyTransfer bool     // no key may transfer the zone
	DenyUpdate   bool     // no key may update it
	Address      string   // a loopback address; 127.0.0.1 if empty, the only one that named listens to
	Port         int      // a free one if 0
	NameServers  []string // of the zone; "ns1.example.net." if empty
}

// NegativeTTL of the zones in seconds.
const NegativeTTL = 5

// Server is a running name server. Its keys may transfer and update the zone unless the options deny it.
type Server struct {
	Kind    string // "knot" or "bind"
	Address string // with its port
	Zone    string
	SHA256  Key
	SHA512  Key

	dir     string
	command []string
	mu      sync.Mutex
	process *exec.Cmd
	ended   chan struct{}
	log     *output
}

// output is what a server wrote.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Start starts a server of one kind.
type Start func(t testing.TB, options Options) *Server

// Kinds are the servers that a test is to run against, by name.
func Kinds() map[string]Start { return map[string]Start{"knot": Knot, "bind": Bind} }

// Each runs a test against each kind, in parallel.
func Each(t *testing.T, run func(t *testing.T, start Start)) {
	t.Helper()
	for name, start := range Kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, start)
		})
	}
}

// Knot starts knotd.
func Knot(t testing.TB, options Options) *Server {
	t.Helper()
	return start(t, "knot", "knotd", options, knotConfig)
}

// Bind starts named.
func Bind(t testing.TB, options Options) *Server {
	t.Helper()
	return start(t, "bind", "named", options, bindConfig)
}

// Resolver starts a named that answers for no zone, keeps what it was told for its TTL, and asks a server for everything.
func Resolver(t testing.TB, options Options, upstream *Server) *Server {
	t.Helper()
	return start(t, "bind", "named", options, func(dir string, _ *Server, o Options, port int) (string, []string) {
		host, upstreamPort, _ := net.SplitHostPort(upstream.Address)
		return fmt.Sprintf(`options { directory %q; pid-file none; session-keyfile none; listen-on port %d { %s; }; listen-on-v6 { none; };
  recursion yes; allow-query { any; }; allow-recursion { any; }; dnssec-validation no; empty-zones-enable no; qname-minimization off; };
controls { };
zone %q { type forward; forward only; forwarders { %s port %s; }; };
`, dir, port, o.Address, o.Zone, host, upstreamPort), []string{"-g", "-n", "1", "-c", filepath.Join(dir, "conf")}
	})
}

// New starts knotd for a program that is no test. Who starts it closes it.
func New(options Options) (*Server, error) { return run("knot", "knotd", options, knotConfig) }

// config makes the text of a configuration file, and the program's arguments.
type config func(dir string, s *Server, o Options, port int) (text string, args []string)

func start(t testing.TB, kind, program string, options Options, c config) *Server {
	t.Helper()
	s, err := run(kind, program, options, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", program, s.log)
		}
	})
	return s
}

func run(kind, program string, options Options, c config) (*Server, error) {
	path, err := lookUp(program)
	if err != nil {
		return nil, err
	}
	if options.Zone == "" {
		options.Zone = "example.org."
	}
	if options.Address == "" {
		options.Address = "127.0.0.1"
	}
	if len(options.NameServers) == 0 {
		options.NameServers = []string{"ns1.example.net."}
	}
	s := &Server{Kind: kind, Zone: options.Zone, SHA256: newKey("hmac-sha256"), SHA512: newKey("hmac-sha512")}
	// A short path: knot's control socket lies in it.
	if s.dir, err = os.MkdirTemp("", "kldns"); err != nil {
		return nil, err
	}
	// Another process may take a free port before the server does.
	for attempt := 1; ; attempt++ {
		err := s.tryPort(path, options, c)
		if err == nil {
			return s, nil
		}
		s.Stop()
		if attempt == 3 || options.Port != 0 {
			s.Close()
			return nil, fmt.Errorf("%s does not start: %w\n%s", program, err, s.log)
		}
	}
}

// tryPort starts the server on the port of the options, or on one that is free.
func (s *Server) tryPort(path string, options Options, c config) (err error) {
	port := options.Port
	if port == 0 {
		if port, err = freeport.Find(options.Address); err != nil {
			return err
		}
	}
	text, args := c(s.dir, s, options, port)
	for name, text := range map[string]string{"zone": zoneFile(options), "conf": text} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	s.command = append([]string{path}, args...)
	s.Address = net.JoinHostPort(options.Address, strconv.Itoa(port))
	return s.start()
}

func lookUp(program string) (string, error) {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		path := filepath.Join(dir, program)
		if found, err := os.Stat(path); err == nil && !found.IsDir() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is needed for DNS (Debian: apt-get install knot bind9)", program)
}

func newKey(algorithm string) Key {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	return Key{"key-" + algorithm[len("hmac-"):] + ".", algorithm, base64.StdEncoding.EncodeToString(secret)}
}

// FreePort is a port that is free on an address for both TCP and UDP.
func FreePort(t testing.TB, address string) int {
	t.Helper()
	port, err := freeport.Find(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func zoneFile(o Options) string {
	var text strings.Builder
	fmt.Fprintf(&text, "$ORIGIN %s\n$TTL 300\n@ IN SOA ns1.example.net. hostmaster.example.net. 1 3600 600 86400 %d\n", o.Zone, NegativeTTL)
	for _, server := range o.NameServers {
		fmt.Fprintf(&text, "@ IN NS %s\n", server)
	}
	for _, record := range o.Records {
		text.WriteString(record + "\n")
	}
	return text.String()
}

func knotConfig(dir string, s *Server, o Options, port int) (string, []string) {
	var actions []string
	if !o.DenyTransfer {
		actions = append(actions, "transfer")
	}
	if !o.DenyUpdate {
		actions = append(actions, "update")
	}
	acl, rule := "", ""
	if len(actions) > 0 {
		acl = fmt.Sprintf("acl:\n  - id: keys\n    key: [%s, %s]\n    action: [%s]\n", s.SHA256.Name, s.SHA512.Name, strings.Join(actions, ", "))
		rule = "    acl: keys\n"
	}
	return fmt.Sprintf(`server:
  rundir: %[1]q
  listen: %[2]s@%[3]d
  udp-workers: 1
  tcp-workers: 2
  background-workers: 1
log:
  - target: stderr
    any: info
database:
  storage: %[1]q
  journal-db-max-size: 64M
  kasp-db-max-size: 16M
  timer-db-max-size: 16M
key:
  - id: %[4]s
    algorithm: %[5]s
    secret: %[6]s
  - id: %[7]s
    algorithm: %[8]s
    secret: %[9]s
%[10]szone:
  - domain: %[11]s
    storage: %[1]q
    file: zone
    journal-max-usage: 32M
%[12]s`, dir, o.Address, port, s.SHA256.Name, s.SHA256.Algorithm, s.SHA256.Secret, s.SHA512.Name, s.SHA512.Algorithm, s.SHA512.Secret, acl, o.Zone, rule),
		[]string{"-c", filepath.Join(dir, "conf")}
}

func bindConfig(dir string, s *Server, o Options, port int) (string, []string) {
	keys := fmt.Sprintf("key %q; key %q;", s.SHA256.Name, s.SHA512.Name)
	transfer, update := keys, keys
	if o.DenyTransfer {
		transfer = "none;"
	}
	if o.DenyUpdate {
		update = "none;"
	}
	return fmt.Sprintf(`options { directory %q; pid-file none; session-keyfile none; listen-on port %d { %s; }; listen-on-v6 { none; };
  recursion no; allow-query { any; }; dnssec-validation no; empty-zones-enable no; };
controls { };
key %q { algorithm %s; secret %q; };
key %q { algorithm %s; secret %q; };
zone %q { type primary; file "zone"; allow-transfer { %s }; allow-update { %s }; notify no; };
`, dir, port, o.Address, s.SHA256.Name, s.SHA256.Algorithm, s.SHA256.Secret, s.SHA512.Name, s.SHA512.Algorithm, s.SHA512.Secret, o.Zone, transfer, update),
		[]string{"-g", "-n", "1", "-c", filepath.Join(dir, "conf")}
}

// start runs the program and waits until it answers.
func (s *Server) start() error {
	s.mu.Lock()
	s.log = new(output)
	s.process = exec.Command(s.command[0], s.command[1:]...)
	s.process.Stdout, s.process.Stderr = s.log, s.log
	// A test that is killed leaves no server behind.
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := s.process.Start()
	if err != nil {
		s.process = nil
		s.mu.Unlock()
		return err
	}
	ended, process := make(chan struct{}), s.process
	s.ended = ended
	s.mu.Unlock()
	go func() {
		_ = process.Wait()
		close(ended)
	}()
	question := new(mdns.Msg)
	question.SetQuestion(s.Zone, mdns.TypeSOA)
	client := mdns.Client{Net: "tcp", Timeout: time.Second}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			return errors.New("it ended")
		default:
		}
		if answer, _, err := client.Exchange(question, s.Address); err == nil && answer.Rcode == mdns.RcodeSuccess {
			return nil
		}
	}
	return errors.New("it does not answer")
}

// Stop kills the server, as a crash would. It may be stopped twice.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return
	}
	_ = s.process.Process.Signal(syscall.SIGCONT)
	_ = s.process.Process.Kill()
	<-s.ended
	s.process = nil
}

// Close ends the server for good and removes its directory.
func (s *Server) Close() {
	s.Stop()
	_ = os.RemoveAll(s.dir)
}

// Freeze stops the server from answering while its connections stay open. Thaw lets it go on.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
	// The signal returns before the threads have stopped.
	for deadline := time.Now().Add(10 * time.Second); !s.stopped(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not stop", s.Kind)
		}
	}
}

// stopped reports whether every thread of the server is stopped (proc_pid_stat(5): state T).
func (s *Server) stopped() bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", s.process.Process.Pid))
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil {
			return false
		}
		// The name before the state stands in parentheses and may contain any.
		if end := bytes.LastIndexByte(stat, ')'); end < 0 || !bytes.HasPrefix(stat[end+1:], []byte(" T")) {
			return false
		}
	}
	return true
}

// Thaw ends Freeze.
func (s *Server) Thaw(t testing.TB) { s.signal(t, syscall.SIGCONT) }

func (s *Server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.process.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// Restart starts the server again on its port, with its zone as it was.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.StartAgain(); err != nil {
		t.Fatal(err)
	}
}

// StartAgain does what Restart does, for a program that is no test.
func (s *Server) StartAgain() error {
	s.Stop()
	if err := s.start(); err != nil {
		return fmt.Errorf("%s does not start again: %w\n%s", s.Kind, err, s.log)
	}
	return nil
}

// Update changes the zone as another hand would: with an update of its own. Lines begin with "+" to add the record that
// follows, or with "-" to remove the record set that has its name and type.
func (s *Server) Update(t testing.TB, lines ...string) {
	t.Helper()
	if err := s.Change(lines...); err != nil {
		t.Fatal(err)
	}
}

// Change does what Update does, for a program that is no test.
func (s *Server) Change(lines ...string) error {
	message := new(mdns.Msg)
	message.SetUpdate(s.Zone)
	for _, line := range lines {
		record, err := mdns.NewRR(line[1:])
		if err != nil {
			return err
		}
		if line[0] == '+' {
			message.Insert([]mdns.RR{record})
		} else {
			message.RemoveRRset([]mdns.RR{record})
		}
	}
	answer, err := s.exchange(message)
	if err == nil && answer.Rcode != mdns.RcodeSuccess {
		err = fmt.Errorf("%v", answer)
	}
	if err != nil {
		return fmt.Errorf("update by another hand: %w", err)
	}
	return nil
}

// Values are those that the server tells for a name and type, sorted; none if there is no such name.
func (s *Server) Values(name string, kind uint16) (values []string, err error) {
	question := new(mdns.Msg)
	question.SetQuestion(name, kind)
	answer, err := s.exchange(question)
	if err != nil {
		return nil, err
	}
	for _, record := range answer.Answer {
		values = append(values, strings.TrimPrefix(record.String(), record.Header().String()))
	}
	slices.Sort(values)
	return values, nil
}

// exchange signs a message and sends it over TCP.
func (s *Server) exchange(message *mdns.Msg) (*mdns.Msg, error) {
	message.SetTsig(s.SHA256.Name, s.SHA256.Algorithm+".", 300, time.Now().Unix())
	client := mdns.Client{Net: "tcp", Timeout: 5 * time.Second, TsigSecret: map[string]string{s.SHA256.Name: s.SHA256.Secret}}
	answer, _, err := client.Exchange(message, s.Address)
	return answer, err
}
