package app_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/testkit/site"
)

// fakeAgent speaks the protocol as it likes.
type fakeAgent struct {
	t             *testing.T
	url           string
	key           ed25519.PrivateKey
	machine, boot string
	id            string
	credential    string
	seq           int64
}

func newFakeAgent(t *testing.T, url string) *fakeAgent {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &fakeAgent{t: t, url: url, key: key, machine: strings.ReplaceAll(uuid.NewString(), "-", ""), boot: uuid.NewString()}
}

// post sends a body as it is, and returns the status and the code of a problem.
func (f *fakeAgent) post(path string, body []byte, credential string, out any) (status int, code string) {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url+api.AgentPrefix+path, bytes.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	if credential != "" {
		request.Header.Set("Authorization", "Bearer "+credential)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(response.Body); err != nil {
		f.t.Fatal(err)
	}
	if response.StatusCode == http.StatusOK {
		if out != nil {
			if err := json.Unmarshal(answer.Bytes(), out); err != nil {
				f.t.Fatal(err)
			}
		}
		return response.StatusCode, ""
	}
	var problem api.Problem
	if err := json.Unmarshal(answer.Bytes(), &problem); err != nil {
		f.t.Fatalf("%s answers %d with %q", path, response.StatusCode, answer.String())
	}
	return response.StatusCode, problem.Code
}

func (f *fakeAgent) ask(path string, in any, credential string, out any) (status int, code string) {
	f.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		f.t.Fatal(err)
	}
	return f.post(path, body, credential, out)
}

func (f *fakeAgent) enrol(token string) (status int, code string) {
	f.t.Helper()
	var made api.AgentCredential
	status, code = f.ask("/enrol", api.AgentEnrol{
		Token: token, PublicKey: f.key.Public().(ed25519.PublicKey), MachineID: f.machine, BootID: f.boot, Version: "1.0",
		Signature: ed25519.Sign(f.key, api.AgentProofText("enrol", token, f.machine, f.boot)),
	}, "", &made)
	f.id, f.credential, f.seq = made.Agent, made.Credential, 0
	return status, code
}

func (f *fakeAgent) renew(challenge string) (status int, code string) {
	f.t.Helper()
	if challenge == "" {
		challenge = f.challenge()
	}
	var made api.AgentCredential
	status, code = f.ask("/renew", api.AgentRenew{
		Agent: f.id, Challenge: challenge, MachineID: f.machine, BootID: f.boot, Version: "1.0",
		Signature: ed25519.Sign(f.key, api.AgentProofText(f.id, challenge, f.machine, f.boot)),
	}, "", &made)
	if status == http.StatusOK {
		f.credential, f.seq = made.Credential, 0
	}
	return status, code
}

func (f *fakeAgent) challenge() string {
	f.t.Helper()
	var made api.AgentChallenge
	if status, code := f.ask("/challenge", api.AgentAsk{Agent: f.id}, "", &made); status != http.StatusOK {
		f.t.Fatalf("challenge: %d %s", status, code)
	}
	return made.Challenge
}

func (f *fakeAgent) beat(change func(*api.AgentHeartbeat)) (status int, code string) {
	f.t.Helper()
	f.seq++
	in := api.AgentHeartbeat{Agent: f.id, Seq: f.seq, Time: time.Now().UnixMilli(), BootID: f.boot, Version: "1.0", Report: &api.AgentReport{}}
	if change != nil {
		change(&in)
	}
	return f.ask("/heartbeat", in, f.credential, nil)
}

// TestAHostileAgentLiesOnlyAboutItsOwnHost: oversize, floods, replays, other ids, proofs that are not its own.
func TestAHostileAgentLiesOnlyAboutItsOwnHost(t *testing.T) {
	t.Parallel()
	cfg, password := preparedWith(t, map[string]string{"KLOIGOS_ALLOW_LOOPBACK_HOSTS": "true"})
	c, url := serve(t, cfg, scripted.New(), password)
	registered(t, c, "h")
	registered(t, c, "other")
	token := func(host string) string {
		made, err := c.CreateAgentToken(t.Context(), api.CreateAgentToken{Host: host, Minutes: 5})
		if err != nil {
			t.Fatal(err)
		}
		return made.Token
	}
	want := func(what string, status int, code string, wantStatus int, wantCode string) {
		t.Helper()
		if status != wantStatus || code != wantCode {
			t.Errorf("%s: %d %q, want %d %q", what, status, code, wantStatus, wantCode)
		}
	}
	victim, hostile := newFakeAgent(t, url), newFakeAgent(t, url)
	status, code := victim.enrol(token("other"))
	want("enrol", status, code, 200, "")
	used := token("h")
	status, code = hostile.enrol(used)
	want("enrol", status, code, 200, "")
	status, code = newFakeAgent(t, url).enrol(used)
	want("a token for the second time", status, code, 401, "agent_refused")
	status, code = newFakeAgent(t, url).enrol("kle_" + strings.Repeat("A", 43))
	want("a token of nobody", status, code, 401, "agent_refused")

	status, code = hostile.beat(nil)
	want("a heartbeat", status, code, 200, "")
	status, code = hostile.beat(func(h *api.AgentHeartbeat) { h.Seq-- })
	want("a replay", status, code, 409, "agent_replay")
	status, code = hostile.beat(func(h *api.AgentHeartbeat) { h.Agent = victim.id })
	want("another id", status, code, 403, "agent_other")
	status, code = hostile.beat(func(h *api.AgentHeartbeat) { h.BootID = "x" })
	want("a bad boot id", status, code, 422, "invalid")
	status, code = hostile.post("/heartbeat", []byte(`{"agent":"`+hostile.id+`","more":1}`), hostile.credential, nil)
	want("an unknown field", status, code, 400, "bad_request")
	status, code = hostile.post("/heartbeat", bytes.Repeat([]byte(" "), api.AgentMaxBody+1), hostile.credential, nil)
	want("a large body", status, code, 413, "too_large")
	status, _ = hostile.post("/heartbeat", bytes.Repeat([]byte(" "), 1<<20), hostile.credential, nil)
	if status != 413 {
		t.Errorf("a very large body: %d", status)
	}
	status, code = hostile.beat(func(h *api.AgentHeartbeat) {
		h.Time = -1 << 63
		h.Report = &api.AgentReport{
			Load: [3]float64{-1, 1e308, 3}, MemoryTotal: -5, CPUs: -1, Pressure: api.AgentPressure{IOFull: 1e9}, FailedUnits: []string{"\x1b[31m<b>\u202e", strings.Repeat("x", 500)},
			Disks: []api.AgentDisk{{Path: "/\n", Total: -1, Free: 1 << 62}},
		}
	})
	want("figures from nowhere", status, code, 200, "")
	site.Eventually(t, "they are bounded", func() bool {
		a, ok := agentOf(t, c, "h", "enrolled")
		if !ok || a.Report == nil || len(a.Report.FailedUnits) != 2 {
			return false
		}
		r := a.Report
		if r.Load[0] != 0 || r.Load[1] > 1e6 || r.MemoryTotal != 0 || r.Pressure.IOFull != 100 || len(r.FailedUnits[1]) > api.AgentMaxName || strings.ContainsAny(r.FailedUnits[0]+r.Disks[0].Path, "\x1b\n\u202e") {
			t.Errorf("%+v", r)
		}
		return true
	})

	stolen := &fakeAgent{t: t, url: url, key: hostile.key, machine: victim.machine, boot: victim.boot, id: victim.id}
	status, code = stolen.renew("")
	want("another agent's renewal", status, code, 401, "agent_refused")
	challenge := victim.challenge()
	before := victim.credential
	status, code = victim.renew(challenge)
	want("a renewal", status, code, 200, "")
	status, code = victim.renew(challenge)
	want("the same challenge again", status, code, 401, "agent_refused")
	if other := hostile.challenge(); true {
		status, code = victim.renew(other)
		want("the challenge of another", status, code, 401, "agent_refused")
	}
	credential := victim.credential
	victim.credential = before
	status, code = victim.beat(nil)
	want("the credential before", status, code, 401, "agent_refused")
	victim.credential = credential
	flooded := false
	for range 30 {
		if status, _ := hostile.beat(nil); status == http.StatusTooManyRequests {
			flooded = true
		}
	}
	if !flooded {
		t.Error("thirty heartbeats at once were taken")
	}
	for range 50 {
		hostile.credential = "kla_" + strings.Repeat("A", 64)
		if status, _ := hostile.beat(nil); status == http.StatusOK {
			t.Fatal("a credential of nobody is taken")
		}
	}
	status, code = victim.beat(nil)
	want("the victim's heartbeat after all that", status, code, 200, "")
	site.Eventually(t, "it counts", func() bool {
		a, ok := agentOf(t, c, "other", "enrolled")
		return ok && a.Liveness == "on_time" && a.AgentVersion == "1.0"
	})
}

// TestTwoMachinesWithOneKey: a boot id that comes back, and a machine-id that changes.
func TestTwoMachinesWithOneKey(t *testing.T) {
	t.Parallel()
	cfg, password := preparedWith(t, map[string]string{"KLOIGOS_ALLOW_LOOPBACK_HOSTS": "true"})
	c, url := serve(t, cfg, scripted.New(), password)
	enrolled := func(host string) *fakeAgent {
		registered(t, c, host)
		made, err := c.CreateAgentToken(t.Context(), api.CreateAgentToken{Host: host, Minutes: 5})
		if err != nil {
			t.Fatal(err)
		}
		f := newFakeAgent(t, url)
		if status, code := f.enrol(made.Token); status != http.StatusOK {
			t.Fatalf("%d %s", status, code)
		}
		return f
	}
	inTurn := enrolled("in-turn")
	first := inTurn.boot
	for _, step := range []struct {
		boot, code string
	}{{first, ""}, {uuid.NewString(), ""}, {uuid.NewString(), ""}} { // reboots of one machine
		inTurn.boot = step.boot
		if _, code := inTurn.renew(""); code != step.code {
			t.Fatalf("%q, want %q", code, step.code)
		}
	}
	last := inTurn.boot
	inTurn.boot = uuid.NewString()
	if _, code := inTurn.renew(""); code != "" {
		t.Fatal(code)
	}
	inTurn.boot = last
	if _, code := inTurn.renew(""); code != "agent_quarantined" {
		t.Errorf("a boot id came back: %q", code)
	}
	other := enrolled("other-machine")
	other.machine = strings.Repeat("b", 32)
	if _, code := other.renew(""); code != "agent_quarantined" {
		t.Errorf("another machine-id: %q", code)
	}
	same := enrolled("same-machine")
	registered(t, c, "second")
	made, err := c.CreateAgentToken(t.Context(), api.CreateAgentToken{Host: "second", Minutes: 5})
	if err != nil {
		t.Fatal(err)
	}
	second := newFakeAgent(t, url)
	second.machine = same.machine
	if _, code := second.enrol(made.Token); code != "agent_quarantined" {
		t.Errorf("one machine-id for two hosts: %q", code)
	}
	page, err := c.ListAgents(t.Context(), api.AgentFilter{State: "quarantined"})
	if err != nil || len(page.Items) != 4 {
		t.Errorf("%d agents are quarantined, %v", len(page.Items), err)
	}
	site.Eventually(t, "a condition says so", func() bool {
		found, err := c.ListConditions(t.Context(), api.ConditionFilter{Noun: "agent"})
		n := 0
		for _, each := range found {
			if each.Type == "trusted" && each.Status == "false" {
				n++
			}
		}
		return err == nil && n == 4
	})
}
