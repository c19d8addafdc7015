package showcase

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/google/uuid"
)

// agent gives some hosts an agent that does not speak any more. One that speaks would need somebody who does.
func (w *world) agent(h *host, n int, incarnation uuid.UUID, made time.Time) {
	var state, message string
	switch n {
	case 3, 4:
		state, message = "quarantined", "The host enrolled another key, and this one is still used: two machines have the same disk."
	case 5:
		state, message = "revoked", "Revoked by "+people[1]+"."
	default:
		return
	}
	key := sha256.Sum256([]byte(h.name))
	w.agents.add(w.id(), w.workspace, h.id, incarnation, key[:], hex.EncodeToString(key[:16]), state, message, made, w.ago(26*time.Hour))
}
