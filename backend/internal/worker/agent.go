package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/store"
)

// Agents is how the agents of hosts come and go. The zero value installs none.
type Agents struct {
	// Offer is what an agent for an architecture is installed from; why says why there is none.
	Offer func(architecture string) (offer inputs.HostAgent, why string)
	// Token makes a token that enrols the agent of a host; "" where an agent speaks for the host already.
	Token func(ctx context.Context, host uuid.UUID) (string, error)
	// Gone notes that nothing of Kloigos is on a host any more: its agent is refused from then on.
	Gone func(ctx context.Context, tx *store.Tx, host uuid.UUID) error
}

func (a Agents) offer(h store.Host) (inputs.HostAgent, string) {
	if a.Offer == nil || h.Facts == nil {
		return inputs.HostAgent{}, "KLOIGOS_AGENT_URL is not set"
	}
	return a.Offer(h.Facts.Architecture)
}

func (a Agents) gone(ctx context.Context, tx *store.Tx, host uuid.UUID) error {
	if a.Gone == nil {
		return nil
	}
	return a.Gone(ctx, tx, host)
}

// noAgentIn says why a version of the playbook installs no agent; "" if it does.
func noAgentIn(content []byte) (string, error) {
	files, err := bundle.Files(content, bundle.DefaultLimits)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(files, func(f bundle.File) bool { return f.Path == inputs.Agent }) {
		return "", nil
	}
	return "this version of the playbook does not install agents", nil
}

// installAgent brings the agent to a host, and says so in a sentence for the job's outcome. A host works without one, so whatever is
// missing on our side is told and stops nothing.
func installAgent(ctx context.Context, r *run) (string, error) {
	offer, why := r.w.cfg.Agents.offer(r.host.Host)
	if why == "" {
		var err error
		if why, err = noAgentIn(r.content); err != nil {
			return "", err
		}
	}
	if why != "" {
		r.log.Note("No agent is installed: %s.", why)
		return "", nil
	}
	token, err := r.w.cfg.Agents.Token(ctx, r.host.ID)
	if err != nil {
		return "", fmt.Errorf("make a token for the agent: %w", err)
	}
	if offer.Token = token; token != "" {
		r.secrets = append(r.secrets, token)
	}
	if err := r.play(ctx, inputs.OfAgent(offer), true); err != nil {
		return "", err
	}
	var result struct {
		Enrolled bool `json:"enrolled"`
	}
	switch _ = json.Unmarshal(r.result, &result); {
	case token == "":
		return " Its agent is installed.", nil
	case result.Enrolled:
		return " Its agent is installed and enrolled.", nil
	}
	return fmt.Sprintf(" Its agent is installed and has not reached %s yet.", offer.URL), nil
}

// checkAgent adds to a plan what the play of the agent would change. It gets no token: a check enrols nothing.
func checkAgent(ctx context.Context, r *run, result *domain.PlanResult) error {
	offer, why := r.w.cfg.Agents.offer(r.host.Host)
	if why != "" {
		return nil
	}
	if why, err := noAgentIn(r.content); err != nil || why != "" {
		return err
	}
	_, err := r.ansible(ctx, inputs.OfAgent(offer), true, true, collect(result, inputs.Agent))
	return err
}
