package dns

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/lifecycle"
)

// ZoneState says how a zone stands to its name server.
type ZoneState string

// States of a zone.
const (
	ZonePending ZoneState = "pending"
	ZoneSyncing ZoneState = "syncing"
	ZoneLive    ZoneState = "live"
	ZoneHeld    ZoneState = "held"
	ZoneFailed  ZoneState = "failed"
)

// What happens to a zone.
const (
	SettingsChanged lifecycle.Event = "changed"        // its settings, or a confirmation
	SyncStarted     lifecycle.Event = "sync_started"   // a synchronization was asked for
	SyncSucceeded   lifecycle.Event = "sync_succeeded" // it brought the zone in line with this intent
	SyncOutdated    lifecycle.Event = "sync_outdated"  // it did so with an intent that has changed since
	SyncHeld        lifecycle.Event = "sync_held"      // the brake held it
	SyncFailed      lifecycle.Event = "sync_failed"
)

// syncDeadline is how long a zone may be synchronized for: a zone of 200,000 records and a job's retries fit.
const syncDeadline = 30 * time.Minute

// ZoneLifecycle is the life of a zone.
var ZoneLifecycle = lifecycle.Lifecycle[ZoneState]{
	Noun: "dns_zone", Initial: ZonePending,
	States: []lifecycle.StateInfo[ZoneState]{
		{State: ZonePending, Means: "its settings have not been tried on the name server yet"},
		{State: ZoneSyncing, Means: "a job compares it with the name server and brings it in line", Deadline: syncDeadline},
		{State: ZoneLive, Means: "the last synchronization succeeded"},
		{State: ZoneHeld, Means: "the plan changes many records; nothing is changed until a person confirms it", Failed: true},
		{State: ZoneFailed, Means: "the last synchronization failed", Failed: true},
	},
	Transitions: lifecycle.Table([]lifecycle.Move[ZoneState]{
		{From: []ZoneState{ZonePending}, On: SettingsChanged, To: ZonePending},
		{From: []ZoneState{ZoneSyncing}, On: SettingsChanged, To: ZoneSyncing},
		{From: []ZoneState{ZoneLive, ZoneHeld, ZoneFailed}, On: SettingsChanged, To: ZonePending},
		{From: []ZoneState{ZonePending, ZoneLive, ZoneHeld, ZoneFailed}, On: SyncStarted, To: ZoneSyncing},
		{From: []ZoneState{ZoneSyncing}, On: SyncSucceeded, To: ZoneLive},
		{From: []ZoneState{ZoneSyncing}, On: SyncOutdated, To: ZonePending},
		{From: []ZoneState{ZoneSyncing}, On: SyncHeld, To: ZoneHeld},
		{From: []ZoneState{ZoneSyncing}, On: SyncFailed, To: ZoneFailed},
	}),
}

// RFC2136 is the provider of zones whose server takes dynamic updates.
const RFC2136 = "rfc2136"

// defaultPort of name servers.
const defaultPort = "53"

// KeyAlgorithms of TSIG keys.
func KeyAlgorithms() []string { return []string{"hmac-sha256", "hmac-sha512"} }

// minKeyBytes of a TSIG key. Shorter ones can be guessed.
const minKeyBytes = 16

// ZoneDraft is a zone as a user writes it.
type ZoneDraft struct {
	Name         string
	Server       string // host, address, or either with a port
	AllowPrivate bool
	KeyName      string
	KeyAlgorithm string
	KeySecret    string // base64; empty with a change to keep the one that is there
	Patterns     []string
	Mode         Mode
	// NamesAllocations gives the allocations of the workspace a name in this zone.
	NamesAllocations bool
}

// zoneSettings are what a draft says, checked.
type zoneSettings struct {
	name, keyName Name
	server        string
	patterns      []string
}

// check returns the settings, or a fault.Invalid with all mistakes. The name of an existing zone is not read again.
func (d ZoneDraft) check(existing Name) (zoneSettings, error) {
	var bad fault.Invalid
	made := zoneSettings{name: existing, patterns: []string{}}
	var err error
	if existing == "" {
		made.name, err = parseZone(d.Name)
		bad.Check("name", err)
	}
	made.server, err = parseServer(d.Server, d.AllowPrivate)
	bad.Check("server", err)
	made.keyName, err = parseHost(d.KeyName)
	bad.Check("key_name", err)
	if !slices.Contains(KeyAlgorithms(), d.KeyAlgorithm) {
		bad.Add("key_algorithm", "Use one of: %s.", strings.Join(KeyAlgorithms(), ", "))
	}
	if d.KeySecret != "" || existing == "" {
		bad.Check("key_secret", checkSecret(d.KeySecret))
	}
	if !slices.Contains(Modes(), d.Mode) {
		bad.Add("mode", "Use one of: %s, %s, %s.", Sync, UpsertOnly, Observe)
	}
	if made.name != "" {
		patterns, problems := CheckPatterns(made.name, d.Patterns)
		for _, problem := range problems {
			bad.Add(problem.Field, "%s", problem.Text)
		}
		for _, pattern := range patterns {
			made.patterns = append(made.patterns, string(pattern))
		}
	}
	return made, bad.OrNil()
}

// parseZone reads the name of a zone. The error is a Refusal.
func parseZone(text string) (Name, error) {
	name, err := ParseName(text)
	switch {
	case err != nil:
		return "", err
	case name.Wildcard():
		return "", refuse("The name of a zone cannot begin with a wildcard.")
	case strings.Contains("."+string(name), "."+ownerPrefix):
		return "", refuse("Labels that begin with %s are reserved for ownership records.", ownerPrefix)
	}
	return name, nil
}

// parseServer adds the port, and refuses an address that the zone does not allow. A name is judged when it is connected to.
func parseServer(text string, allowPrivate bool) (string, error) {
	text = strings.TrimSpace(text)
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), defaultPort
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return "", refuse("The port of the server must be from 1 to 65535.")
	}
	if address, err := netip.ParseAddr(host); err == nil {
		if address.Zone() != "" {
			return "", refuse("%s names an interface of this machine.", host)
		}
		return net.JoinHostPort(address.Unmap().String(), port), AddressRule(allowPrivate)(address)
	}
	name, err := parseHost(host)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(strings.TrimSuffix(string(name), "."), port), nil
}

func checkSecret(text string) error {
	secret, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(secret) < minKeyBytes {
		return refuse("The secret must be base64 of at least %d bytes, as in the configuration of the server.", minKeyBytes)
	}
	return nil
}

// Zone is one row of dns_zones.
type Zone struct {
	ID               uuid.UUID  `db:"id"`
	WorkspaceID      uuid.UUID  `db:"workspace_id"`
	Name             Name       `db:"name"`
	Provider         string     `db:"provider"`
	Server           string     `db:"server"`
	AllowPrivate     bool       `db:"allow_private"`
	KeyName          Name       `db:"key_name"`
	KeyAlgorithm     string     `db:"key_algorithm"`
	KeySealed        []byte     `db:"key_sealed"`
	Patterns         []string   `db:"patterns"`
	Mode             Mode       `db:"mode"`
	NamesAllocations bool       `db:"names_allocations"`
	State            ZoneState  `db:"state"`
	StateMessage     string     `db:"state_message"`
	Reason           string     `db:"reason"`
	Revision         int64      `db:"revision"`
	SyncedRevision   int64      `db:"synced_revision"`
	Serial           *int64     `db:"soa_serial"`
	NegativeTTL      int64      `db:"negative_ttl"` // seconds
	SyncedAt         *time.Time `db:"synced_at"`
	Plan             []byte     `db:"plan"`
	PlanOwned        int64      `db:"plan_owned"`
	PlanTouched      int64      `db:"plan_touched"`
	Confirmed        []byte     `db:"confirmed"`
	Version          int64      `db:"version"`
	CreatedAt        time.Time  `db:"created_at"`
	UpdatedAt        time.Time  `db:"updated_at"`
}

// sealedFor is what the key of a zone is bound to, so that it cannot be moved to another row.
func sealedFor(zone uuid.UUID) string { return "dns_zones/" + zone.String() }

// Settings are what a difference depends on.
func (z Zone) Settings(installation string) Settings {
	made := Settings{Zone: z.Name, ZoneID: z.ID.String(), Installation: installation, Mode: z.Mode}
	for _, pattern := range z.Patterns {
		made.Patterns = append(made.Patterns, Pattern(pattern))
	}
	return made
}

// facts are what an event tells of a zone: no secrets.
func (z Zone) facts() map[string]any {
	return map[string]any{
		"name": z.Name.Display(), "server": z.Server, "allow_private": z.AllowPrivate, "key_name": z.KeyName.Display(),
		"key_algorithm": z.KeyAlgorithm, "patterns": z.Patterns, "mode": z.Mode, "state": z.State,
		"names_allocations": z.NamesAllocations,
	}
}

// String names the zone in a log.
func (z Zone) String() string { return fmt.Sprintf("zone %s", z.Name.Display()) }
