package agenthttp

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/agent"
)

// TestAnAgentIsNotForgottenBeforeItsFirstHeartbeat: a batch may be written between the look at its credential and its heartbeat.
func TestAnAgentIsNotForgottenBeforeItsFirstHeartbeat(t *testing.T) {
	t.Parallel()
	r := newReceiver(Parts{})
	id, now := uuid.New(), time.Now()
	r.agents[id] = newKnown(agent.Known{Agent: id, ValidMS: time.Hour.Milliseconds()}, [32]byte{1}, now)
	r.settle(nil, nil, nil, now)
	b := beat{seq: 1, boot: "b"}
	b.Version = "v1"
	if _, err := r.take(id, [32]byte{1}, b, now); err != nil {
		t.Errorf("its first heartbeat: %v", err)
	}
	r.settle(nil, nil, nil, now.Add(2*agent.CredentialTime))
	if len(r.agents) != 0 {
		t.Error("an agent that is gone for long is kept")
	}
}
