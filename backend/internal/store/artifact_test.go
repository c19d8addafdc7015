package store

import (
	"bytes"
	"testing"

	"github.com/google/uuid"
)

// TestArtifactsAreBounded: the latest are kept, as far as they fit.
func TestArtifactsAreBounded(t *testing.T) {
	t.Parallel()
	var kept artifacts
	ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	for i, id := range ids {
		kept.put(id, bytes.Repeat([]byte{byte(i)}, artifactsKept/2))
		kept.put(id, []byte("again")) // a version never changes
	}
	if kept.get(ids[0]) != nil || kept.bytes != artifactsKept {
		t.Errorf("the first of three halves is still there; %d bytes are counted", kept.bytes)
	}
	for i, id := range ids[1:] {
		if got := kept.get(id); len(got) != artifactsKept/2 || got[0] != byte(i+1) {
			t.Errorf("the %d. has %d bytes", i+2, len(got))
		}
	}
	kept.put(ids[0], make([]byte, artifactsKept+1))
	if kept.get(ids[0]) != nil || len(kept.latest) != 2 {
		t.Error("one that fits nowhere drove out what was kept")
	}
}
