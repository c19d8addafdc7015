package agenthttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/fault"
)

// protocol is what agents ask.
type protocol struct {
	parts    Parts
	receiver *receiver
	refused  refusals
}

func (h *HTTP) registerProtocol(s *httpapi.Server) {
	p := &protocol{parts: h.parts, receiver: h.receiver}
	s.Machine("agent-enrol", api.AgentPrefix+"/enrol", p.enrol)
	s.Machine("agent-challenge", api.AgentPrefix+"/challenge", p.challenge)
	s.Machine("agent-renew", api.AgentPrefix+"/renew", p.renew)
	s.Machine("agent-program", api.AgentPrefix+"/program", p.program)
	s.Machine("agent-state", api.AgentPrefix+"/state", p.state)
	s.Machine("agent-heartbeat", api.AgentPrefix+"/heartbeat", p.heartbeat)
	s.Machine("agent-build", api.AgentPrefix+"/build", p.build)
}

// decode reads one JSON object and nothing behind it, with no field that is not known.
func decode(body []byte, into any) error { return decodeUpTo(api.AgentMaxBody, body, into) }

func decodeUpTo(most int, body []byte, into any) error {
	if len(body) > most {
		return httpapi.Refuse(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("An agent sends %d bytes at most.", most))
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return httpapi.Refuse(http.StatusBadRequest, "bad_request", "The body can't be read.")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return httpapi.Refuse(http.StatusBadRequest, "bad_request", "The body can't be read.")
	}
	return nil
}

// answered makes a refusal a problem, and counts it.
func (p *protocol) answered(who string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, agent.ErrQuarantined):
		p.refused.note(who, time.Now())
		return httpapi.Refuse(http.StatusForbidden, "agent_quarantined", "The agent is quarantined until an operator releases it.")
	case errors.Is(err, agent.ErrRefused), errors.Is(err, fault.ErrNotFound):
		p.refused.note(who, time.Now())
		return httpapi.Refuse(http.StatusUnauthorized, "agent_refused", "The agent is refused.")
	case errors.Is(err, errFlood):
		return httpapi.TooMany()
	case errors.Is(err, errReplay):
		return httpapi.Refuse(http.StatusConflict, "agent_replay", "A newer heartbeat came before this one.")
	case errors.Is(err, errOtherBuild):
		p.refused.note(who, time.Now())
		return httpapi.Refuse(http.StatusForbidden, "agent_build", "The agent was not told to run this build.")
	case errors.Is(err, errNotReady):
		return httpapi.Refuse(http.StatusServiceUnavailable, "unavailable", "Ask again.")
	}
	return err
}

// free refuses somebody who was refused too often lately.
func (p *protocol) free(who string) error {
	if p.refused.exhausted(who, time.Now()) {
		return httpapi.TooMany()
	}
	return nil
}

func (p *protocol) enrol(ctx context.Context, in httpapi.MachineRequest) (any, error) {
	who := in.Client + " enrol"
	if err := p.free(who); err != nil {
		return nil, err
	}
	var body api.AgentEnrol
	if err := decode(in.Body, &body); err != nil {
		return nil, err
	}
	made, err := agent.Enrol(ctx, p.parts.Engine, agent.Enrolment{
		Hello: agent.Hello{MachineID: body.MachineID, BootID: body.BootID, Version: body.Version},
		Token: body.Token, PublicKey: body.PublicKey, Signature: body.Signature,
		Proof: api.AgentProofText("enrol", body.Token, body.MachineID, body.BootID),
	}, in.Client)
	return credential(made), p.answered(who, err)
}

// program sends a part of the program of an agent to the play that installs it. The play has no credential yet, and asks for
// the program that this backend has in its directory, by its checksum. build is for an agent that updates itself.
func (p *protocol) program(_ context.Context, in httpapi.MachineRequest) (any, error) {
	who := in.Client + " program"
	if err := p.free(who); err != nil {
		return nil, err
	}
	var body api.AgentProgram
	if err := decode(in.Body, &body); err != nil {
		return nil, err
	}
	part, err := p.parts.Programs.Part(body.SHA256, body.Offset, api.AgentProgramPart)
	if errors.Is(err, fault.ErrNotFound) {
		p.refused.note(who, time.Now())
		return nil, httpapi.Refuse(http.StatusNotFound, "not_found", "This backend has no such program.")
	}
	return part, err
}

func credential(c agent.Credential) api.AgentCredential {
	return api.AgentCredential{Agent: c.Agent.String(), Credential: c.Secret, ExpiresIn: int64(agent.CredentialTime.Seconds())}
}

func (p *protocol) challenge(_ context.Context, in httpapi.MachineRequest) (any, error) {
	var body api.AgentAsk
	if err := decode(in.Body, &body); err != nil {
		return nil, err
	}
	id, err := uuid.Parse(body.Agent)
	if err != nil {
		return nil, p.answered(in.Client, agent.ErrRefused)
	}
	return api.AgentChallenge{Challenge: agent.NewChallenge(p.parts.Keys, id, time.Now())}, nil // it tells nobody whether there is such an agent
}

func (p *protocol) renew(ctx context.Context, in httpapi.MachineRequest) (any, error) {
	var body api.AgentRenew
	if err := decode(in.Body, &body); err != nil {
		return nil, err
	}
	id, err := uuid.Parse(body.Agent)
	if err != nil {
		return nil, p.answered(in.Client, agent.ErrRefused)
	}
	who := in.Client + " " + id.String()
	if err := p.free(who); err != nil {
		return nil, err
	}
	made, err := agent.Renew(ctx, p.parts.Engine, p.parts.Keys, agent.Renewal{
		Hello: agent.Hello{MachineID: body.MachineID, BootID: body.BootID, Version: body.Version},
		Agent: id, Challenge: body.Challenge, Signature: body.Signature,
		Proof: api.AgentProofText(id.String(), body.Challenge, body.MachineID, body.BootID),
	}, in.Client)
	return credential(made), p.answered(who, err)
}

// admitted is who asks with a credential that is good now.
func (p *protocol) admitted(ctx context.Context, in httpapi.MachineRequest) (who string, id uuid.UUID, hash [32]byte, err error) {
	scheme, text, _ := strings.Cut(in.Authorization, " ")
	id, hash, ok := agent.ParseCredential(text)
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return "", id, hash, p.answered(in.Client, agent.ErrRefused)
	}
	who = in.Client + " " + id.String()
	if err := p.free(who); err != nil {
		return who, id, hash, err
	}
	return who, id, hash, p.answered(who, p.receiver.admit(ctx, id, hash))
}

// own decodes a body and refuses one that speaks for another agent.
func (p *protocol) own(who string, id uuid.UUID, most int, in httpapi.MachineRequest, body any, named *string) error {
	if err := decodeUpTo(most, in.Body, body); err != nil {
		p.refused.note(who, time.Now())
		return err
	}
	if *named != id.String() {
		p.refused.note(who, time.Now())
		return httpapi.Refuse(http.StatusForbidden, "agent_other", "An agent speaks for itself only.")
	}
	return nil
}

func (p *protocol) heartbeat(ctx context.Context, in httpapi.MachineRequest) (any, error) {
	who, id, hash, err := p.admitted(ctx, in)
	if err != nil {
		return nil, err
	}
	var body api.AgentHeartbeat
	if err := p.own(who, id, api.AgentMaxBody, in, &body, &body.Agent); err != nil {
		return nil, err
	}
	now := time.Now()
	b, err := read(body, now)
	var run string
	if err == nil {
		run, err = p.receiver.take(id, hash, b, now)
	}
	if err != nil {
		return nil, p.answered(who, err)
	}
	return api.AgentAccepted{Accepted: true, DesiredVersion: p.parts.Desired, RunVersion: run}, nil
}

// build sends a part of the signed build that the agent was told to run: from the database, with the agent's credential, and
// no other build than that of its delivery.
func (p *protocol) build(ctx context.Context, in httpapi.MachineRequest) (any, error) {
	who, id, hash, err := p.admitted(ctx, in)
	if err != nil {
		return nil, err
	}
	var body api.AgentBuildAsk
	if err := p.own(who, id, api.AgentMaxBody, in, &body, &body.Agent); err != nil {
		return nil, err
	}
	if err := p.receiver.mayFetch(id, hash, body.Version, time.Now()); err != nil {
		return nil, p.answered(who, err)
	}
	part, err := agent.BuildPartOf(ctx, p.parts.DB.Reader, body.Version, body.Arch, body.Part)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, httpapi.Refuse(http.StatusNotFound, "agent_no_build", "There is no such part of a build for this architecture.")
	}
	if err != nil {
		return nil, err
	}
	out := api.AgentBuildPart{Data: part.Content, Parts: int(part.Parts)}
	if body.Part == 0 {
		out.Manifest, out.Signature = part.Manifest, part.Signature
	}
	return out, nil
}

// state takes a part of what an agent sees of the promises on its host. It is the agent's word about its own host, and judged
// elsewhere.
func (p *protocol) state(ctx context.Context, in httpapi.MachineRequest) (any, error) {
	who, id, hash, err := p.admitted(ctx, in)
	if err != nil {
		return nil, err
	}
	var body api.AgentState
	if err := p.own(who, id, api.AgentMaxState, in, &body, &body.Agent); err != nil {
		return nil, err
	}
	part := agent.Part(body.AgentPart)
	if err := part.Check(); err != nil {
		p.refused.note(who, time.Now())
		return nil, httpapi.Refuse(http.StatusUnprocessableEntity, "invalid", "The state has bad fields.")
	}
	if err := p.receiver.mayTell(id, hash, time.Now()); err != nil {
		return nil, p.answered(who, err)
	}
	host, err := agent.HostOf(ctx, p.parts.DB.Reader, id)
	if err == nil {
		err = agent.PutState(ctx, p.parts.DB, id, host, part, p.parts.DriftPolicy)
	}
	if err != nil {
		return nil, p.answered(who, err)
	}
	return api.AgentAccepted{Accepted: true}, nil
}

// maxSkew bounds a clock that is far off: a year, in milliseconds.
const maxSkew = int64(365 * 24 * time.Hour / time.Millisecond)

// read cleans a heartbeat.
func read(in api.AgentHeartbeat, now time.Time) (beat, error) {
	if in.Seq < 1 || !agent.KnownForm(in.BootID, in.Version) || !agent.KnownState(in.State) {
		return beat{}, httpapi.Refuse(http.StatusUnprocessableEntity, "invalid", "The heartbeat has bad fields.")
	}
	b := beat{seq: in.Seq, boot: in.BootID, state: in.State}
	b.Version = in.Version
	if u := in.Update; u != nil {
		b.trouble = agent.TroubleOf(u.Version, u.State, u.Reason)
	}
	ours := now.UnixMilli()
	b.SkewMS = max(-maxSkew, min(maxSkew, max(-ours, min(in.Time, 2*ours))-ours))
	if in.Report == nil {
		return b, nil
	}
	r := in.Report
	b.Report = &agent.Report{
		UptimeSeconds: r.UptimeSeconds, CPUs: r.CPUs, Load: r.Load, CPUSome: r.Pressure.CPUSome, MemorySome: r.Pressure.MemorySome,
		MemoryFull: r.Pressure.MemoryFull, IOSome: r.Pressure.IOSome, IOFull: r.Pressure.IOFull, MemoryTotal: r.MemoryTotal,
		MemoryAvailable: r.MemoryAvailable, FailedUnits: r.FailedUnits, RebootRequired: r.RebootRequired,
	}
	for _, d := range r.Disks[:min(len(r.Disks), api.AgentMaxDisks)] {
		b.Report.Disks = append(b.Report.Disks, agent.Disk(d))
	}
	b.Report.Clean()
	return b, nil
}
