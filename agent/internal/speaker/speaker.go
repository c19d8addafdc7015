package speaker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"kloigos/backend/api"
)

const (
	firstPause   = time.Second
	longestPause = 40 * time.Second // less than the silence that makes a host unreachable: a released agent is back in time
	readWithin   = 7 * time.Second
	mostRead     = 1 << 20
	mostAnswer   = 16 << 10
	mostPart     = 512 << 10 // of a build
)

// speaker is one agent at work.
type speaker struct {
	Config
	log        *slog.Logger
	client     *http.Client
	self       identity
	credential string
	renewAt    time.Time
	seq        int64
	told       map[string]string // hash of each part that the backend has
	tellAll    time.Time         // when all of them are sent again
	toldFailed bool
	updater    updater
}

// refusal is an answer that is no success.
type refusal struct {
	status int
	code   string
}

func (r *refusal) Error() string { return fmt.Sprintf("the backend answered %d %s", r.status, r.code) }

// Run sends heartbeats until ctx is done.
func Run(ctx context.Context, config Config, log *slog.Logger) error {
	client, err := newClient(config)
	if err != nil {
		return err
	}
	s := &speaker{Config: config, log: log, client: client, updater: newUpdater(config)}
	for failures := 0; ctx.Err() == nil; {
		err := s.once(ctx)
		pause := jitter(s.Interval)
		switch {
		case errors.Is(err, errSwitch):
			log.Info("another version is to run, so this one ends", "version", s.Update.Choose())
			return nil
		case err == nil:
			if failures > 0 {
				log.Info("heartbeats are accepted again")
			}
			failures = 0
		case ctx.Err() != nil:
		default:
			pause = s.after(err, failures)
			if failures++; failures == 1 || failures%60 == 0 {
				log.Warn("heartbeat failed", "error", err, "failures", failures, "again_in", pause.Round(time.Millisecond))
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// jitter spreads agents that began together.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}

// after says how long to wait after a failure. A backend that is away is asked again soon, since a minute of silence counts; one
// that refuses is asked less and less.
func (s *speaker) after(err error, failures int) time.Duration {
	var refused *refusal
	if errors.As(err, &refused) && refused.status < http.StatusInternalServerError || errors.Is(err, errNoIdentity) {
		return jitter(min(longestPause, firstPause<<min(failures, 6)))
	}
	return jitter(min(s.Interval, firstPause<<min(failures, 4)))
}

// once does what is due: enrol, renew, and one heartbeat.
func (s *speaker) once(ctx context.Context) error {
	if token := loadToken(s.State); token != "" {
		if err := s.enrol(ctx, token); err != nil {
			return fmt.Errorf("enrol: %w", err)
		}
	}
	if s.self.Agent == "" {
		self, err := loadIdentity(s.State)
		if err != nil {
			return err
		}
		s.self = self
	}
	if s.credential == "" || time.Now().After(s.renewAt) {
		if err := s.renew(ctx); err != nil && (s.credential == "" || isRefused(err)) {
			return fmt.Errorf("renew the credential: %w", err)
		}
	}
	return s.heartbeat(ctx)
}

func isRefused(err error) bool {
	var refused *refusal
	return errors.As(err, &refused) && (refused.status == http.StatusUnauthorized || refused.status == http.StatusForbidden)
}

func (s *speaker) enrol(ctx context.Context, token string) error {
	self := identity{Seed: newSeed()}
	machine, boot, err := s.machine()
	if err != nil {
		return err
	}
	var made api.AgentCredential
	err = s.ask(ctx, "/enrol", api.AgentEnrol{
		Token: token, PublicKey: self.public(), Signature: self.sign(api.AgentProofText("enrol", token, machine, boot)),
		MachineID: machine, BootID: boot, Version: s.Version,
	}, &made)
	if isRefused(err) {
		s.log.Warn("the token is refused; it is put aside", "file", tokenFile+".refused")
		return errors.Join(err, os.Rename(filepath.Join(s.State, tokenFile), filepath.Join(s.State, tokenFile+".refused")))
	}
	if err != nil {
		return err
	}
	self.Agent = made.Agent
	if err := self.save(s.State); err != nil {
		return err
	}
	s.self = self
	s.take(made)
	s.log.Info("enrolled", "agent", made.Agent)
	return os.Remove(filepath.Join(s.State, tokenFile))
}

func (s *speaker) renew(ctx context.Context) error {
	var challenge api.AgentChallenge
	if err := s.ask(ctx, "/challenge", api.AgentAsk{Agent: s.self.Agent}, &challenge); err != nil {
		return err
	}
	machine, boot, err := s.machine()
	if err != nil {
		return err
	}
	var made api.AgentCredential
	err = s.ask(ctx, "/renew", api.AgentRenew{
		Agent: s.self.Agent, Challenge: challenge.Challenge, MachineID: machine, BootID: boot, Version: s.Version,
		Signature: s.self.sign(api.AgentProofText(s.self.Agent, challenge.Challenge, machine, boot)),
	}, &made)
	if err != nil {
		return err
	}
	s.take(made)
	return nil
}

// take uses a credential, and remembers to renew it at two thirds of its life.
func (s *speaker) take(made api.AgentCredential) {
	s.credential, s.seq = made.Credential, 0
	life := min(24*time.Hour, max(time.Minute, time.Duration(made.ExpiresIn)*time.Second))
	s.renewAt = time.Now().Add(jitter(life * 2 / 3))
}

func (s *speaker) heartbeat(ctx context.Context) error {
	s.seq++
	beat := api.AgentHeartbeat{Agent: s.self.Agent, Seq: s.seq, BootID: s.boot(), Version: s.Version, Time: time.Now().UnixMilli(), Update: s.updater.said}
	reading := s.read(ctx)
	if reading != nil {
		beat.Report = &reading.AgentReport
		if n := len(reading.Parts); n > 0 {
			beat.State = reading.Parts[n-1].Hash
		}
	}
	var accepted api.AgentAccepted
	err := s.ask(ctx, "/heartbeat", beat, &accepted)
	var refused *refusal
	if errors.As(err, &refused) && (refused.status == http.StatusUnauthorized || refused.status == http.StatusConflict) {
		s.credential = "" // another one at the next try
	}
	if err == nil && reading != nil {
		s.tell(ctx, reading.Parts)
	}
	if err != nil {
		return err
	}
	return s.follow(ctx, accepted.RunVersion)
}

const (
	// partsAtOnce is how many parts follow one heartbeat: the next one must not be late.
	partsAtOnce = 20
	// tellAllEvery is after what time everything is sent again, whatever the backend has.
	tellAllEvery = 10 * time.Minute
)

// tell sends what changed on the host, the host's own part last. What could not be sent follows the next heartbeat.
func (s *speaker) tell(ctx context.Context, parts []api.AgentPart) {
	if now := time.Now(); s.told == nil || now.After(s.tellAll) {
		s.told, s.tellAll = map[string]string{}, now.Add(tellAllEvery)
	}
	sent := 0
	for _, part := range parts {
		if s.told[part.Part] == part.Hash {
			continue
		}
		if sent++; sent > partsAtOnce {
			return
		}
		var accepted api.AgentAccepted
		if err := s.ask(ctx, "/state", api.AgentState{Agent: s.self.Agent, AgentPart: part}, &accepted); err != nil {
			if !s.toldFailed {
				s.log.Warn("the state of the host was not taken", "part", part.Part, "error", err)
			}
			s.toldFailed = true
			return
		}
		s.told[part.Part], s.toldFailed = part.Hash, false
	}
}

var machineID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// machine is who this host is, and its present start, by its own files. A host without a machine-id is told so here: the backend
// would refuse it as it refuses any stranger, and the token would be spent.
func (s *speaker) machine() (machine, boot string, err error) {
	if machine = s.file("etc/machine-id"); !machineID.MatchString(machine) {
		return "", "", errors.New("this host has no machine-id of 32 hexadecimal digits in /etc/machine-id; systemd-machine-id-setup makes one")
	}
	return machine, s.boot(), nil
}

func (s *speaker) boot() string { return s.file("proc/sys/kernel/random/boot_id") }

func (s *speaker) file(name string) string {
	content, _ := os.ReadFile(filepath.Join(s.Root, name))
	return strings.TrimSpace(string(content))
}

// read asks the reader how the host is; nil if it does not answer.
func (s *speaker) read(ctx context.Context) *api.AgentReading {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", s.Socket)
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	content, err := io.ReadAll(io.LimitReader(conn, mostRead))
	if err != nil {
		return nil
	}
	var report api.AgentReading
	if err := json.Unmarshal(content, &report); err != nil {
		return nil
	}
	return &report
}

// ask sends one request. A connection that the other side closed meanwhile fails at once, and is tried a second time on a new one.
func (s *speaker) ask(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return s.askAs(ctx, s.credential, path, body, out)
}

func (s *speaker) askAs(ctx context.Context, credential, path string, body []byte, out any) error {
	err := s.send(ctx, credential, path, body, out)
	var refused *refusal
	if err != nil && !errors.As(err, &refused) && ctx.Err() == nil && !isTimeout(err) {
		s.client.CloseIdleConnections()
		err = s.send(ctx, credential, path, body, out)
	}
	return err
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

func (s *speaker) send(ctx context.Context, credential, path string, body []byte, out any) error {
	limit := askWithin
	if path == buildPath {
		limit = partWithin
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(s.URL, "/")+api.AgentPrefix+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	most := int64(mostAnswer)
	switch path {
	case buildPath:
		most = mostPart
		fallthrough
	case "/heartbeat", "/state":
		request.Header.Set("Authorization", "Bearer "+credential)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		var problem struct {
			Code string `json:"code"`
		}
		_ = json.Unmarshal(answer, &problem)
		return &refusal{response.StatusCode, problem.Code}
	}
	return json.Unmarshal(answer, out)
}
