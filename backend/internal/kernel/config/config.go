// Package config owns what an operator sets: it reads environment and flags
// once, into types, and reports every mistake together. A flag goes before its
// variable; what is set nowhere has a value that works.
//
// It refuses the database's URL as a flag, because it may hold a password and
// every user of a machine can read the arguments of its processes.
package config

import (
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kloigos/backend/api/tlsfile"
)

// Role is one of the three parts of a backend.
type Role string

// The roles.
const (
	RoleAPI        Role = "api"
	RoleWorker     Role = "worker"
	RoleReconciler Role = "reconciler"
)

// Config is everything that can be set.
type Config struct {
	DatabaseURL        string
	Listen             string        // host:port; "" for a backend without the API that was given none
	TLS                tlsfile.Files // of the API; none: it speaks plain HTTP
	Roles              []Role
	KeysetFile         string
	TrustedProxies     []netip.Prefix // whose word on the client's address is taken
	AllowLoopbackHosts bool
	DeniedNetworks     []netip.Prefix  // in which no host may be
	ChannelNetworks    []netip.Prefix  // private ranges that notification channels may lead to
	IdentityNetworks   []netip.Prefix  // private ranges that identity providers may be in
	ReleaseNetworks    []netip.Prefix  // private ranges in which web apps are asked for their version
	ManagementNetworks []netip.Prefix  // private ranges that management clusters of hosted control planes may be in
	WebURL             *url.URL        // of the web app, as browsers reach it; nil: nobody logs in by an identity provider
	FirstUID, LastUID  int64           // for tenants
	UnitNetwork        string          // of new allocations: "auto", "host" or "unit"
	DNSResolver        *netip.AddrPort // asked what the world is told of a name; nil: this machine's; the zero value: none
	Workers            int             // jobs that run at once here, at most
	JobMemory          int64           // bytes that one of them is reckoned with; 0: memory is not looked at
	PlaysAhead         int             // beginnings of plays that are made ahead of time
	Lease              time.Duration   // of a job
	KeepLogs           time.Duration   // of jobs that ended; 0: for ever
	LimitAccount       int             // requests a second of one account; 0: any number
	LimitKey           int             // of one API token or key
	LimitAddress       int             // of one address without a valid token
	KeepEvents         time.Duration   // of the audit trail; 0: for ever
	AgentURL           string          // that agents on hosts speak to; "": none is installed
	AgentCA            []byte          // authorities that agents trust (PEM); empty: those of each host
	AgentDir           string          // with the programs of agents; "": beside this program
	AgentReleaseKeys   string          // file with the public keys whose builds hosts take; "": hosts take no update
	AgentReleaseDir    string          // folder with signed builds of the agent, which init stores; "" for none
	DeliverySoak       time.Duration   // how long a delivered version of the agent must run before it is proven
	RunRoot            string          // where plays have their directories; "" for the best place there is
	FailpointDir       string          // where a test arms failpoints; "" for none
	LogLevel           slog.Level
	LogFormat          string // text or json
}

// Has tells whether this backend has a role.
func (c Config) Has(r Role) bool { return slices.Contains(c.Roles, r) }

// setting is one thing that can be set: by its variable, and by its flag.
type setting struct {
	variable, flag, help string
	value                string // the default
	set                  func(c *Config, v string) error
}

// settings is a function, not a variable, so that nobody changes it.
func settings() []setting {
	return []setting{
		{"KLOIGOS_DATABASE_URL", "", "URL of the CockroachDB or PostgreSQL", "", setDatabaseURL},
		{"KLOIGOS_LISTEN", "listen", "address and port of the API; without the API role, of /healthz, /readyz and /metrics, if given", "127.0.0.1:8080", setListen},
		{"KLOIGOS_TLS_CERT_FILE", "tls-cert-file", "certificate of the API with its chain (PEM), read again when it changes; empty for plain HTTP", "", func(c *Config, v string) error {
			c.TLS.Certificate = v
			return nil
		}},
		{"KLOIGOS_TLS_KEY_FILE", "tls-key-file", "its key (PEM)", "", func(c *Config, v string) error {
			c.TLS.Key = v
			return nil
		}},
		{"KLOIGOS_ROLE", "role", "what this backend does, comma-separated", "api,worker,reconciler", setRoles},
		{"KLOIGOS_KEYSET_FILE", "keyset-file", "the master key, mode 0600, the same on every backend", "/etc/kloigos/keyset.json", setKeysetFile},
		{"KLOIGOS_TRUSTED_PROXIES", "trusted-proxies", "addresses and networks of the proxies in front, comma-separated", "", func(c *Config, v string) (err error) {
			c.TrustedProxies, err = prefixes(v)
			return err
		}},
		{"KLOIGOS_LIMIT_ACCOUNT", "limit-account", "requests a second of one account over time, ten times as many at once; 0 for any number", "200", func(c *Config, v string) (err error) {
			c.LimitAccount, err = between(v, 0, 1_000_000)
			return err
		}},
		{"KLOIGOS_LIMIT_KEY", "limit-key", "the same of one API token or key of a service account", "100", func(c *Config, v string) (err error) {
			c.LimitKey, err = between(v, 0, 1_000_000)
			return err
		}},
		{"KLOIGOS_LIMIT_ADDRESS", "limit-address", "the same of one address without a valid token (of a /64 for IPv6)", "20", func(c *Config, v string) (err error) {
			c.LimitAddress, err = between(v, 0, 1_000_000)
			return err
		}},
		{"KLOIGOS_ALLOW_LOOPBACK_HOSTS", "allow-loopback-hosts", "allow hosts on this machine's loopback (demos and tests)", "false", func(c *Config, v string) (err error) {
			c.AllowLoopbackHosts, err = boolean(v)
			return err
		}},
		{"KLOIGOS_DENIED_NETWORKS", "denied-networks", "networks in which no host may be (the control plane's own), comma-separated", "", func(c *Config, v string) (err error) {
			c.DeniedNetworks, err = prefixes(v)
			return err
		}},
		{"KLOIGOS_CHANNEL_NETWORKS", "channel-networks", "private networks that notification channels may lead to, loopback included, comma-separated; empty for none", "", func(c *Config, v string) (err error) {
			c.ChannelNetworks, err = prefixes(v)
			return err
		}},
		{"KLOIGOS_IDENTITY_NETWORKS", "identity-networks", "private networks that identity providers may be in, loopback included, comma-separated; empty for none", "", func(c *Config, v string) (err error) {
			c.IdentityNetworks, err = prefixes(v)
			return err
		}},
		{"KLOIGOS_RELEASE_NETWORKS", "release-networks", "private networks in which deliveries of releases ask web apps for their version, loopback included, comma-separated; empty for none", "", func(c *Config, v string) (err error) {
			c.ReleaseNetworks, err = prefixes(v)
			return err
		}},
		{"KLOIGOS_MANAGEMENT_NETWORKS", "management-networks", "private networks that management clusters of hosted control planes may be in, loopback included, comma-separated; empty for none", "", func(c *Config, v string) (err error) {
			c.ManagementNetworks, err = prefixes(v)
			return err
		}},
		{"KLOIGOS_WEB_URL", "web-url", "URL of the web app as browsers reach it, such as https://kloigos.example.org; identity providers send browsers back there; empty for no logins by one", "", setWebURL},
		{"KLOIGOS_DNS_RESOLVER", "dns-resolver", "address, with a port if it is not 53, of the resolver that is asked whether records arrived; none for no resolver; empty for this machine's", "", setDNSResolver},
		{"KLOIGOS_UID_RANGE", "uid-range", "user ids for tenants", "65536-99999", setUIDRange},
		{"KLOIGOS_UNIT_NETWORK", "unit-network", "where addresses of new allocations lie: in networks of the units where their host can give one, else on the host (auto); never on the host (unit); always there (host)", "auto", func(c *Config, v string) error {
			if v != "auto" && v != "host" && v != "unit" {
				return fmt.Errorf("%q is not auto, host or unit", v)
			}
			c.UnitNetwork = v
			return nil
		}},
		{"KLOIGOS_WORKERS", "workers", "jobs that run at once on this backend, at most", "8", func(c *Config, v string) (err error) {
			c.Workers, err = between(v, 1, 1024)
			return err
		}},
		{"KLOIGOS_JOB_MEMORY_MIB", "job-memory-mib", "memory that a job is reckoned with; no more are begun than fit into what is available; 0 to look at KLOIGOS_WORKERS only", "100", func(c *Config, v string) error {
			n, err := between(v, 0, 1<<20)
			c.JobMemory = int64(n) << 20
			return err
		}},
		{"KLOIGOS_PLAYS_AHEAD", "plays-ahead", "plays' beginnings made ahead of time (Ansible loaded, some 70 MiB each), while there is work and for five minutes after; 0 for none", "1", func(c *Config, v string) (err error) {
			c.PlaysAhead, err = between(v, 0, 64)
			return err
		}},
		{"KLOIGOS_LEASE", "lease", "how long a job stays with a worker that no longer answers", "30s", setLease},
		{"KLOIGOS_KEEP_LOGS_DAYS", "keep-logs-days", "how long the logs of jobs that ended are kept; 0 for ever", "30", func(c *Config, v string) (err error) {
			c.KeepLogs, err = days(v)
			return err
		}},
		{"KLOIGOS_KEEP_EVENTS_DAYS", "keep-events-days", "how long the audit trail is kept; 0 for ever", "0", func(c *Config, v string) (err error) {
			c.KeepEvents, err = days(v)
			return err
		}},
		{"KLOIGOS_AGENT_RELEASE_KEYS_FILE", "agent-release-keys-file", "public keys whose builds of the agent hosts take, one a line, brought to each host; empty for hosts that take no update", "", func(c *Config, v string) error {
			c.AgentReleaseKeys = v
			return nil
		}},
		{"KLOIGOS_AGENT_RELEASE_DIR", "agent-release-dir", "folder with signed builds of the agent, which init stores; empty for none", "", func(c *Config, v string) error {
			c.AgentReleaseDir = v
			return nil
		}},
		{"KLOIGOS_DELIVERY_SOAK", "delivery-soak", "how long a delivered version of the agent must run on a host before it counts as proven there", "40s", setDeliverySoak},
		{"KLOIGOS_RUN_ROOT", "run-root", "directory for running plays, on a memory file system if possible; empty for the best place there is", "", setRunRoot},
		{"KLOIGOS_AGENT_URL", "agent-url", "https address that agents on hosts speak to, such as https://kloigos.example.org; empty to install none", "", setAgentURL},
		{"KLOIGOS_AGENT_CA_FILE", "agent-ca-file", "authorities that sign its certificate, brought to each host; empty for those of the host", "", setAgentCA},
		{"KLOIGOS_AGENT_DIR", "agent-dir", "directory with kloigos-agent-amd64 and kloigos-agent-arm64; empty for that of this program", "", func(c *Config, v string) error {
			if v != "" && !filepath.IsAbs(v) {
				return fmt.Errorf("%q is not an absolute path", v)
			}
			c.AgentDir = v
			return nil
		}},
		{"KLOIGOS_FAILPOINT_DIR", "failpoint-dir", "directory in which tests arm failpoints: a file there ends this backend at the place of that name", "", setFailpointDir},
		{"KLOIGOS_LOG_LEVEL", "log-level", "debug, info, warn or error", "info", func(c *Config, v string) error {
			if c.LogLevel.UnmarshalText([]byte(v)) != nil {
				return fmt.Errorf("%q is not debug, info, warn or error", v)
			}
			return nil
		}},
		{"KLOIGOS_LOG_FORMAT", "log-format", "text or json", "json", func(c *Config, v string) error {
			if v != "text" && v != "json" {
				return fmt.Errorf("%q is not text or json", v)
			}
			c.LogFormat = v
			return nil
		}},
	}
}

// Load reads flags (without the program's name) and environment. The error
// joins one line for every mistake; flag.ErrHelp if help was asked for.
func Load(args []string, getenv func(string) string) (Config, error) {
	all := settings()
	flags := flag.NewFlagSet("kloigos-backend", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	given := map[string]string{}
	for _, s := range all {
		if s.flag == "" {
			continue
		}
		flags.Func(s.flag, s.help, func(v string) error {
			given[s.flag] = v
			return nil
		})
	}
	var mistakes []error
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return Config{}, err
		}
		mistakes = append(mistakes, err)
	}
	if flags.NArg() > 0 {
		mistakes = append(mistakes, fmt.Errorf("unexpected argument %q", flags.Arg(0)))
	}
	var c Config
	for _, s := range all {
		name, value := s.variable, getenv(s.variable)
		if v, ok := given[s.flag]; ok && s.flag != "" {
			name, value = "--"+s.flag, v
		}
		if value == "" {
			value = s.value
		}
		if err := s.set(&c, strings.TrimSpace(value)); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", name, err))
		}
	}
	if err := c.TLS.Check(); err != nil {
		mistakes = append(mistakes, fmt.Errorf("KLOIGOS_TLS_CERT_FILE, KLOIGOS_TLS_KEY_FILE: %w", err))
	}
	if len(mistakes) > 0 {
		return Config{}, errors.Join(mistakes...)
	}
	if _, flagged := given["listen"]; !c.Has(RoleAPI) && !flagged && getenv("KLOIGOS_LISTEN") == "" {
		// A worker may run beside an API on one machine, which has the default.
		c.Listen = ""
	}
	return c, nil
}

// Usage lists what can be set.
func Usage(w io.Writer) {
	for _, s := range settings() {
		name := s.variable
		if s.flag != "" {
			name += ", --" + s.flag
		}
		def := ""
		if s.value != "" {
			def = " (" + s.value + ")"
		}
		_, _ = fmt.Fprintf(w, "  %s\n        %s%s\n", name, s.help, def)
	}
}

// Logger makes the program's logger.
func (c Config) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

func setDatabaseURL(c *Config, v string) error {
	if v == "" {
		return errors.New("must be set, to postgresql://user:password@host:port/database?sslmode=verify-full")
	}
	if !strings.HasPrefix(v, "postgres://") && !strings.HasPrefix(v, "postgresql://") {
		return errors.New("must begin with postgresql://") // the value may hold a password
	}
	c.DatabaseURL = v
	return nil
}

func setListen(c *Config, v string) error {
	_, port, err := net.SplitHostPort(v)
	if err != nil {
		return fmt.Errorf("%q is not an address and a port, such as 127.0.0.1:8080", v)
	}
	if _, err := between(port, 0, 65535); err != nil {
		return fmt.Errorf("%q has a port that is not from 0 to 65535", v)
	}
	c.Listen = v
	return nil
}

func setRoles(c *Config, v string) error {
	for part := range strings.SplitSeq(v, ",") {
		r := Role(strings.TrimSpace(part))
		switch r {
		case RoleAPI, RoleWorker, RoleReconciler:
		default:
			return fmt.Errorf("%q is not api, worker or reconciler", r)
		}
		if c.Has(r) {
			return fmt.Errorf("%s is named twice", r)
		}
		c.Roles = append(c.Roles, r)
	}
	return nil
}

func setKeysetFile(c *Config, v string) error {
	// systemd hands a credential over in a directory of its own.
	c.KeysetFile = os.Expand(v, func(name string) string {
		if name == "CREDENTIALS_DIRECTORY" {
			return os.Getenv(name)
		}
		return "$" + name
	})
	return nil
}

func setUIDRange(c *Config, v string) error {
	first, last, ok := strings.Cut(v, "-")
	lo, err1 := strconv.ParseInt(first, 10, 64)
	hi, err2 := strconv.ParseInt(last, 10, 64)
	switch {
	case !ok || err1 != nil || err2 != nil || hi < lo:
		return fmt.Errorf("%q is not a range, such as 65536-99999", v)
	case lo < 1000 || hi > 1<<31-2:
		return fmt.Errorf("%q reaches out of 1000 to %d, where users of people can be", v, 1<<31-2)
	case lo <= 32767 && hi >= 32766:
		return fmt.Errorf("%q holds 32766 or 32767, which some systems give to nobody", v)
	case lo <= 65535 && hi >= 65534:
		return fmt.Errorf("%q holds 65534 or 65535, which mean nobody", v)
	}
	c.FirstUID, c.LastUID = lo, hi
	return nil
}

func setDeliverySoak(c *Config, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Second || d > time.Hour {
		return fmt.Errorf("%q is not a time from 1s to 1h", v)
	}
	c.DeliverySoak = d
	return nil
}

func setLease(c *Config, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < 2*time.Second || d > 10*time.Minute {
		return fmt.Errorf("%q is not a time from 2s to 10m", v)
	}
	c.Lease = d
	return nil
}

func setWebURL(c *Config, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" || strings.Trim(u.Path, "/") != "" {
		return fmt.Errorf("%q is not the URL of a web site, such as https://kloigos.example.org", v)
	}
	loopback := u.Hostname() == "localhost"
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		loopback = a.IsLoopback()
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback) {
		return fmt.Errorf("%q is not https", v)
	}
	u.Path = ""
	c.WebURL = u
	return nil
}

func setRunRoot(c *Config, v string) error {
	if v != "" && !filepath.IsAbs(v) {
		return fmt.Errorf("%q is not an absolute path", v)
	}
	c.RunRoot = v
	return nil
}

func setFailpointDir(c *Config, v string) error {
	if v != "" && !filepath.IsAbs(v) {
		return fmt.Errorf("%q is not an absolute path", v)
	}
	c.FailpointDir = v
	return nil
}

// setAgentURL takes what an agent takes: https only, since a host is another machine.
func setAgentURL(c *Config, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is not such as https://kloigos.example.org", v)
	}
	c.AgentURL = "https://" + u.Host
	return nil
}

// setAgentCA reads the file once: what is brought to hosts does not change under a running backend.
func setAgentCA(c *Config, v string) error {
	if v == "" {
		return nil
	}
	text, err := os.ReadFile(v)
	if err != nil {
		return fmt.Errorf("read the authorities: %w", err)
	}
	if len(text) > 256<<10 || !x509.NewCertPool().AppendCertsFromPEM(text) {
		return fmt.Errorf("%q holds no certificate, or more than 256 KiB", v)
	}
	c.AgentCA = text
	return nil
}

func setDNSResolver(c *Config, v string) error {
	c.DNSResolver = &netip.AddrPort{}
	switch v {
	case "":
		c.DNSResolver = nil
		return nil
	case "none":
		return nil
	}
	if address, err := netip.ParseAddr(v); err == nil {
		*c.DNSResolver = netip.AddrPortFrom(address, 53)
		return nil
	}
	resolver, err := netip.ParseAddrPort(v)
	if err != nil || resolver.Port() == 0 {
		return fmt.Errorf("%q is not an address, with a port or without, and not none", v)
	}
	*c.DNSResolver = resolver
	return nil
}

func prefixes(v string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for part := range strings.SplitSeq(v, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if a, err := netip.ParseAddr(part); err == nil && a.Zone() == "" {
			all = append(all, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(part)
		if err != nil {
			return nil, fmt.Errorf("%q is not an address or a network", part)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

func boolean(v string) (bool, error) {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("%q is not true or false", v)
	}
	return b, nil
}

func days(v string) (time.Duration, error) {
	n, err := between(v, 0, 36500)
	return time.Duration(n) * 24 * time.Hour, err
}

func between(v string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("%q is not a number from %d to %d", v, lo, hi)
	}
	return n, nil
}
