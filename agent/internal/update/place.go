// Package update owns the agent's update of itself: which of the versions on the host runs, the trial of a new one, the way back,
// and the installation of a build by root. It is the only thing that the agent ever changes on a host.
//
// Two folders take part. The service's user writes the state folder: what it fetched, and what it remembers. Root alone writes the
// folder of versions, from which programs are started, and only builds whose signature root itself has checked get there. Nothing
// here needs systemd but one thing: that a process which ended is started again.
package update

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kloigos/agent/release"
)

// Place is where versions lie, and what is known of this process.
type Place struct {
	State    string // folder of the service's user
	Versions string // folder that only root writes
	Keys     string // file with the release keys that this host knows
	Base     string // version that was installed with the host's package; it is never changed here
	Pin      string // the only version that may run beside Base; "" for any
	Trial    time.Duration
}

// Load reads the settings. base is the version of this build.
func Load(env func(string) string, base string) (Place, error) {
	p := Place{
		State: env("KLOIGOS_AGENT_STATE"), Versions: env("KLOIGOS_AGENT_VERSIONS"), Keys: env("KLOIGOS_AGENT_RELEASE_KEYS"),
		Pin: env("KLOIGOS_AGENT_PIN"), Base: base, Trial: 3 * time.Minute,
	}
	for _, one := range []struct {
		into  *string
		value string
	}{{&p.State, "/var/lib/kloigos-agent"}, {&p.Versions, "/var/lib/kloigos-agent-versions"}, {&p.Keys, "/etc/kloigos-agent/release-keys"}} {
		if *one.into == "" {
			*one.into = one.value
		}
	}
	if text := env("KLOIGOS_AGENT_TRIAL"); text != "" {
		trial, err := time.ParseDuration(text)
		if err != nil || trial < time.Second || trial > time.Hour {
			return p, errors.New("KLOIGOS_AGENT_TRIAL must be from 1s to 1h")
		}
		p.Trial = trial
	}
	if p.Pin != "" && p.Pin != base && !release.ValidVersion(p.Pin) {
		return p, errors.New("KLOIGOS_AGENT_PIN must be a version, such as v1.4.0")
	}
	return p, nil
}

// Names of files.
const (
	currentLink  = "current"
	previousLink = "previous"
	answerFile   = "answer.json"
	binaryFile   = "kloigos-agent"
	manifestFile = "manifest.json"
	signedFile   = "manifest.json.minisig"
	incomingDir  = "incoming"
	requestFile  = "request.json"
	provenFile   = "proven"
	failedFile   = "failed.json"
	trialFile    = "trial.json"
)

// Request is what the service's user asks root for.
type Request struct {
	Version string `json:"version"`
	ID      string `json:"id"`
}

// Answer is what root made of it.
type Answer struct {
	Request
	Error string `json:"error,omitempty"`
}

func (p Place) binary(version string) string { return filepath.Join(p.Versions, version, binaryFile) }

// linked is the version that a link in the folder of versions leads to; "" for none.
func (p Place) linked(name string) string {
	target, err := os.Readlink(filepath.Join(p.Versions, name))
	if err != nil || !release.ValidVersion(target) {
		return ""
	}
	info, err := os.Lstat(p.binary(target))
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return target
}

// Installed tells whether a version can be run without fetching it.
func (p Place) Installed(version string) bool {
	return version == p.Base || version != "" && (version == p.linked(currentLink) || version == p.linked(previousLink))
}

// Choose is the version that should run: the current one, unless it failed; then the one before, if it has proven itself; then
// the one that came with the package. not are versions that failed in this process.
func (p Place) Choose(not ...string) string {
	failed := p.failed()
	good := func(v string) bool {
		for _, n := range not {
			if v == n {
				return false
			}
		}
		_, bad := failed[v]
		return v != "" && !bad && release.Compare(v, p.Base) > 0 && (p.Pin == "" || v == p.Pin)
	}
	if v := p.linked(currentLink); good(v) {
		return v
	}
	if v := p.linked(previousLink); good(v) && p.Proven() == v {
		return v
	}
	return p.Base
}

// ChooseProven is the version that root's own process runs: one of the two that root has installed, once it has proven itself.
func (p Place) ChooseProven() string {
	v := p.Choose()
	if v != p.Base && v != p.Proven() {
		if v = p.linked(previousLink); v != p.Proven() || release.Compare(v, p.Base) <= 0 {
			return p.Base
		}
	}
	return v
}

// Proven is the last version whose heartbeat was accepted.
func (p Place) Proven() string {
	content, err := release.Limited(filepath.Join(p.State, provenFile), 100)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// Prove notes that a version has proven itself.
func (p Place) Prove(version string) error {
	if p.Proven() == version {
		return nil
	}
	_ = os.Remove(filepath.Join(p.State, trialFile))
	return writeFile(filepath.Join(p.State, provenFile), []byte(version+"\n"), 0o644)
}

// Failure is a version that did not prove itself.
type Failure struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	Times  int       `json:"times"`
	// Sure is false until the version before it has reached a backend: while none can be reached, silence proves nothing.
	Sure bool `json:"sure"`
}

func (p Place) failed() map[string]Failure {
	all := map[string]Failure{}
	content, err := release.Limited(filepath.Join(p.State, failedFile), 64<<10)
	if err != nil || json.Unmarshal(content, &all) != nil {
		return map[string]Failure{}
	}
	return all
}

// mostFailures is how many versions are remembered.
const mostFailures = 20

func (p Place) remember(all map[string]Failure) error {
	for len(all) > mostFailures {
		oldest := ""
		for v, f := range all {
			if oldest == "" || f.At.Before(all[oldest].At) {
				oldest = v
			}
		}
		delete(all, oldest)
	}
	content, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(p.State, failedFile), content, 0o600)
}

// Fail remembers a version as one that is not run again. unsure: it may have been the network.
func (p Place) Fail(version, reason string, unsure bool) error {
	all := p.failed()
	f := all[version]
	all[version] = Failure{Reason: reason, At: time.Now().UTC().Truncate(time.Second), Times: f.Times + 1, Sure: !unsure}
	return p.remember(all)
}

// mostUnsure is how often a version may fail while no backend can be reached.
const mostUnsure = 3

// Confirm settles failures of which it was not sure whose fault they were, once a heartbeat was accepted: quick if it was soon
// after the start. A backend that can be reached at once could have been reached by the version that failed.
func (p Place) Confirm(quick bool) {
	all, changed := p.failed(), false
	for v, f := range all {
		if f.Sure {
			continue
		}
		changed = true
		if f.Sure = quick || f.Times >= mostUnsure; f.Sure {
			all[v] = f
			continue
		}
		delete(all, v)
	}
	if changed {
		_ = p.remember(all)
	}
}

// Failed says why a version is not run; "" if it may be.
func (p Place) Failed(version string) string { return p.failed()[version].Reason }

// Answered is what root made of a request for a version; "" for nothing, or for no fault.
func (p Place) Answered(id string) (Answer, bool) {
	var a Answer
	content, err := release.Limited(filepath.Join(p.Versions, answerFile), 4<<10)
	if err != nil || json.Unmarshal(content, &a) != nil {
		return a, false
	}
	return a, a.ID == id
}

// writeFile writes a file so that a crash leaves the old one or the new one.
func writeFile(path string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path + ".new")
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(path+".new", path)
}
