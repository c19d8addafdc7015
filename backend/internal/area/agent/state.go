package agent

import (
	"regexp"

	"github.com/google/uuid"
)

// Limits of what an agent says of the promises on its host. The protocol has the same.
const (
	maxFacts = 64
	maxValue = 400
	maxParts = 96
	// HostPart is the part about the host itself.
	HostPart = "host"
)

var (
	stateHash = regexp.MustCompile(`^[0-9a-f]{16}$`)
	factName  = regexp.MustCompile(`^[a-z_]{1,20}\.[a-z_]{1,19}$`)
)

// Part is a part of what an agent sees of the promises on its host.
type Part struct {
	Part  string
	Hash  string
	Facts map[string]string
	Units map[string]string // of the host: id of each unit to the hash of its part
}

// Check refuses a part that is not of the form, and makes its values such that they can be stored and shown.
func (p *Part) Check() error {
	if !stateHash.MatchString(p.Hash) || len(p.Facts) == 0 || len(p.Facts) > maxFacts || len(p.Units) > maxParts {
		return ErrForm
	}
	if _, err := uuid.Parse(p.Part); p.Part != HostPart && (err != nil || len(p.Part) != 36 || len(p.Units) > 0) {
		return ErrForm
	}
	facts := make(map[string]string, len(p.Facts))
	for name, value := range p.Facts {
		if !factName.MatchString(name) {
			return ErrForm
		}
		facts[name] = printable(value, maxValue)
	}
	p.Facts = facts
	for unit, hash := range p.Units {
		if _, err := uuid.Parse(unit); err != nil || len(unit) != 36 || !stateHash.MatchString(hash) {
			return ErrForm
		}
	}
	return nil
}

// KnownState tells whether the hash of a heartbeat looks like one; "" does.
func KnownState(hash string) bool { return hash == "" || stateHash.MatchString(hash) }
