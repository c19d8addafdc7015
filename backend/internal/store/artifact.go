package store

import (
	"slices"
	"sync"

	"github.com/google/uuid"
)

// artifacts keeps the artifacts of versions that ran lately, at most
// artifactsKept bytes of them: a version never changes.
type artifacts struct {
	mu     sync.Mutex
	latest []artifact // the one that was put last at the end
	bytes  int
}

type artifact struct {
	version uuid.UUID
	content []byte
}

const artifactsKept = 1 << 20

func (a *artifacts) get(version uuid.UUID) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := a.find(version); i >= 0 {
		return a.latest[i].content
	}
	return nil
}

func (a *artifacts) find(version uuid.UUID) int {
	return slices.IndexFunc(a.latest, func(x artifact) bool { return x.version == version })
}

func (a *artifacts) put(version uuid.UUID, content []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(content) == 0 || len(content) > artifactsKept || a.find(version) >= 0 {
		return
	}
	a.latest, a.bytes = append(a.latest, artifact{version, content}), a.bytes+len(content)
	for a.bytes > artifactsKept {
		a.bytes -= len(a.latest[0].content)
		a.latest = slices.Delete(a.latest, 0, 1)
	}
}
