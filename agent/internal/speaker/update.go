package speaker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kloigos/agent/internal/update"
	"kloigos/backend/api"
)

// errSwitch ends the process, so that another version takes its place.
var errSwitch = errors.New("another version is to run")

const (
	// askedWithin is how long root may take to answer before it is asked again.
	askedWithin = time.Minute
	// fetchPause is from one download that failed to the next.
	fetchPause = time.Minute
	// quickWithin is how soon after its start a version that runs reaches a backend, if the network is there.
	quickWithin = time.Minute
	mostReason  = 300
	buildPath   = "/build"
)

// updater is what the agent does about the version that it was told to run.
type updater struct {
	started time.Time
	proved  bool
	said    *api.AgentUpdate // goes with heartbeats
	asked   update.Request
	askedAt time.Time
	fetched chan error // of the download under way; nil for none
	again   time.Time  // no download begins before
}

func newUpdater(config Config) updater {
	if version, reason := update.ToldFailed(); version != "" && config.Update.Failed(version) == "" {
		_ = config.Update.Fail(version, reason, false) // the process before had no room to write it
	}
	return updater{started: time.Now()}
}

// follow is called with each heartbeat that was accepted, and with the version that the backend wants.
func (s *speaker) follow(ctx context.Context, want string) error {
	u, place := &s.updater, s.Update
	if place.State == "" { // a test without a place for versions
		return nil
	}
	if !u.proved {
		if err := place.Prove(s.Version); err != nil {
			s.log.Warn("that this version works can't be written down", "error", err)
		} else {
			u.proved = true
		}
		place.Confirm(time.Since(u.started) < quickWithin)
	}
	u.said = nil
	if want == "" || want == s.Version {
		return nil
	}
	told, toldWhy := update.ToldFailed()
	switch failed := place.Failed(want); {
	case place.Pin != "" && want != place.Pin:
		u.say(want, "pinned", "The host is pinned to "+place.Pin+".")
	case failed != "":
		u.say(want, "failed", failed)
	case told == want:
		u.say(want, "failed", toldWhy)
	case u.asked.ID != "" && u.asked.Version == want:
		return s.answered(want)
	case u.fetched != nil:
		s.look(want)
	case place.Installed(want):
		s.askRoot(want)
	case time.Now().After(u.again):
		s.fetch(ctx, want)
	}
	return nil
}

func (u *updater) say(version, state, reason string) {
	u.said = &api.AgentUpdate{Version: version, State: state, Reason: reason[:min(len(reason), mostReason)]}
}

// answered looks for what root made of the request.
func (s *speaker) answered(want string) error {
	u := &s.updater
	answer, ok := s.Update.Answered(u.asked.ID)
	switch {
	case ok && answer.Error != "":
		s.log.Error("the version is refused", "version", want, "error", answer.Error)
		s.failed(want, answer.Error)
		u.asked = update.Request{}
	case ok:
		u.asked = update.Request{}
		s.Update.Fetched()
		if s.Update.Choose() != s.Version {
			return errSwitch
		}
	case time.Since(u.askedAt) > askedWithin:
		u.asked = update.Request{}
	}
	return nil
}

func (s *speaker) failed(version, reason string) {
	if err := s.Update.Fail(version, reason, false); err != nil {
		s.log.Error("the failure can't be written down", "error", err)
	}
	s.updater.say(version, "failed", reason)
}

func (s *speaker) askRoot(want string) {
	id, err := s.Update.Ask(want)
	if err != nil {
		s.log.Error("root can't be asked for the version", "version", want, "error", err)
		s.updater.again = time.Now().Add(fetchPause)
		return
	}
	s.updater.asked, s.updater.askedAt = update.Request{Version: want, ID: id}, time.Now()
}

// look asks whether the download has ended.
func (s *speaker) look(want string) {
	u := &s.updater
	var err error
	select {
	case err = <-u.fetched:
		u.fetched = nil
	default:
		return
	}
	var refused *update.RefusedError
	switch {
	case err == nil:
		s.askRoot(want)
	case errors.As(err, &refused):
		s.log.Error("the build is refused", "version", want, "error", err)
		s.failed(want, err.Error())
	default:
		s.log.Warn("the build can't be fetched", "version", want, "error", err, "again_in", fetchPause)
		u.again = time.Now().Add(fetchPause)
	}
}

// fetch begins a download. Heartbeats go on meanwhile.
func (s *speaker) fetch(ctx context.Context, want string) {
	done := make(chan error, 1)
	s.updater.fetched = done
	credential, agent, running, place := s.credential, s.self.Agent, s.Version, s.Update
	s.log.Info("a build is fetched", "version", want)
	go func() {
		done <- place.Fetch(ctx, want, running, func(ctx context.Context, version, arch string, part int) (update.Part, error) {
			body, err := json.Marshal(api.AgentBuildAsk{Agent: agent, Version: version, Arch: arch, Part: part})
			if err != nil {
				return update.Part{}, err
			}
			var got api.AgentBuildPart
			if err := s.askAs(ctx, credential, buildPath, body, &got); err != nil {
				return update.Part{}, fmt.Errorf("fetch part %d: %w", part, err)
			}
			return update.Part{Manifest: got.Manifest, Signature: got.Signature, Data: got.Data, Parts: got.Parts}, nil
		})
	}()
}
