package reader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kloigos/backend/api"
)

const (
	// stateEvery is how often the promises are looked at.
	stateEvery  = 30 * time.Second
	stateWithin = 20 * time.Second
	// halfLooks is how many looks in a row may lack the answer of a program before they are told as they are. A busy host answers
	// late, and that is no drift: nobody stopped its services.
	halfLooks = 3
)

// manifest says which unit is where. It tells the reader where to look, and nobody what was promised.
type manifest struct {
	Unit struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Mount string `json:"mount"`
	} `json:"unit"`
	Allocation struct {
		ID        string `json:"id"`
		LoginUser string `json:"login_user"`
		UID       number `json:"uid"`
		Address   string `json:"address"`
	} `json:"allocation"`
}

// number is written by templates: between quotes, or not.
type number int

// UnmarshalJSON takes both.
func (n *number) UnmarshalJSON(text []byte) error {
	i, err := strconv.Atoi(strings.Trim(string(text), `"`))
	*n = number(i)
	return err
}

func (m manifest) uid() int { return int(m.Allocation.UID) }

var (
	unitID    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	unitName  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,70}$`)
	unitMount = regexp.MustCompile(`^/mnt/kloigos/[a-z0-9-]{1,64}/cu[0-9]{2,4}$`)
	loginUser = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`)
)

func (m manifest) sensible(file string) bool {
	return file == m.Unit.ID+".json" && unitID.MatchString(m.Unit.ID) && unitName.MatchString(m.Unit.Name) && unitMount.MatchString(m.Unit.Mount) &&
		loginUser.MatchString(m.Allocation.LoginUser) && m.uid() > 0
}

const manifests = "etc/kloigos/units"

// manifests are those of the units on the host, the first AgentMaxParts by id. What cannot be read is left out: the control
// plane misses the unit then.
func (r *Reader) manifests() (all []manifest) {
	files, err := os.ReadDir(filepath.Join(r.Root, manifests))
	if err != nil {
		return nil
	}
	for _, file := range files {
		var m manifest
		if json.Unmarshal([]byte(r.text(filepath.Join(manifests, file.Name()))), &m) != nil || !m.sensible(file.Name()) {
			continue
		}
		if all = append(all, m); len(all) == api.AgentMaxParts {
			break
		}
	}
	return all
}

// State is what the last look found; nil before the first, and on a host that is not prepared.
func (r *Reader) State() []api.AgentPart {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	return r.state
}

// keepLooking looks until ctx is done. Whoever asks meanwhile gets what the last look found, and never waits.
func (r *Reader) keepLooking(ctx context.Context) {
	for ctx.Err() == nil {
		r.Look(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(stateEvery):
		}
	}
}

// Look reads all that is promised on the host. What the look before found stays where this one lacks an answer.
func (r *Reader) Look(ctx context.Context) {
	var parts []api.AgentPart
	whole := true
	if _, err := os.Stat(filepath.Join(r.Root, "etc/kloigos/kloigos.nft")); err == nil {
		parts, whole = r.parts(ctx)
	}
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	if r.half++; whole {
		r.half = 0
	}
	if whole || r.half >= halfLooks {
		r.state = parts
	}
}

func (r *Reader) parts(ctx context.Context) (parts []api.AgentPart, whole bool) {
	ctx, cancel := context.WithTimeout(ctx, stateWithin)
	defer cancel()
	s := r.look(ctx)
	host := api.AgentPart{Part: api.AgentHostPart, Facts: clean(s.host()), Units: map[string]string{}}
	for _, m := range s.manifests {
		part := api.AgentPart{Part: m.Unit.ID, Facts: clean(s.unit(m))}
		part.Hash = hash(part)
		host.Units[m.Unit.ID] = part.Hash
		parts = append(parts, part)
	}
	host.Hash = hash(host)
	return append(parts, host), s.units != nil && s.table.hook != unreadable
}

// hash is the same as long as nothing of a part changes.
func hash(p api.AgentPart) string {
	text, _ := json.Marshal([]any{p.Facts, p.Units}) // maps of strings; their keys are sorted
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:api.AgentHashBytes])
}

// clean bounds facts, as the control plane does.
func clean(facts map[string]string) map[string]string {
	for _, key := range slices.Collect(maps.Keys(facts)) {
		facts[key] = plain(facts[key])
	}
	return facts
}

func plain(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, text)
	return text[:min(len(text), api.AgentMaxValue)]
}

// seen is one look at the host: what several units share is read once.
type seen struct {
	*Reader
	manifests []manifest
	mounts    map[string]mount // by mount point, the topmost
	table     table
	net       network
	profiles  map[string]string // mode of each AppArmor profile
	users     map[string][]string
	passwords map[string][]string
	groups    []group
	strays    map[int][]string // by UID: processes outside of their slice
	units     map[string]systemdUnit
}

func (r *Reader) look(ctx context.Context) *seen {
	s := &seen{Reader: r, manifests: r.manifests(), mounts: r.mountsOfInit(), users: r.colons("etc/passwd"), passwords: r.colons("etc/shadow"), groups: r.groups()}
	s.table = r.readTable(ctx)
	s.net = r.readNetwork()
	s.profiles = r.readProfiles()
	if s.units = r.systemdUnits(ctx); s.units != nil {
		r.noteFailed(s.units)
	}
	uids := map[int]bool{}
	for _, m := range s.manifests {
		uids[m.uid()] = true
	}
	s.strays = s.readStrays(uids)
	return s
}

// colons reads a file such as /etc/passwd: the fields of each line by the first of them.
func (r *Reader) colons(name string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(r.text(name)) {
		fields := strings.Split(strings.TrimRight(line, "\n"), ":")
		all[fields[0]] = fields
	}
	return all
}

type group struct {
	name    string
	members []string
}

func (r *Reader) groups() (all []group) {
	for line := range strings.Lines(r.text("etc/group")) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) == 4 {
			all = append(all, group{fields[0], strings.Split(fields[3], ",")})
		}
	}
	return all
}

// readProfiles is the mode of each AppArmor profile that the kernel has loaded.
func (r *Reader) readProfiles() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(r.text("sys/kernel/security/apparmor/profiles")) {
		name, mode, ok := strings.Cut(strings.TrimSpace(line), " (")
		if ok {
			all[name] = strings.TrimSuffix(mode, ")")
		}
	}
	return all
}
