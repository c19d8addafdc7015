package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// sealPurpose is what the codes of seals are made for.
const sealPurpose = "audit seal"

// record is an event as it is sealed: every column that tells something.
type record struct {
	ID           uuid.UUID       `db:"id"`
	At           time.Time       `db:"at"`
	Workspace    uuid.UUID       `db:"workspace_id"`
	Project      *uuid.UUID      `db:"project_id"`
	Organization uuid.UUID       `db:"organization_id"`
	ActorKind    string          `db:"actor_kind"`
	ActorID      *uuid.UUID      `db:"actor_id"`
	ActorName    string          `db:"actor_name"`
	Client       string          `db:"client"`
	RequestID    string          `db:"request_id"`
	Action       string          `db:"action"`
	ObjectKind   string          `db:"object_kind"`
	ObjectID     *uuid.UUID      `db:"object_id"`
	ObjectName   string          `db:"object_name"`
	JobID        *uuid.UUID      `db:"job_id"`
	Before       json.RawMessage `db:"state_before"`
	After        json.RawMessage `db:"state_after"`
}

// hash is the same for an event whichever database holds it: documents are written
// anew with sorted keys, times in UTC to the microsecond.
func (r record) hash() ([]byte, error) {
	before, err := canonical(r.Before)
	if err != nil {
		return nil, err
	}
	after, err := canonical(r.After)
	if err != nil {
		return nil, err
	}
	r.Before, r.After, r.At = before, after, r.At.UTC().Truncate(time.Microsecond)
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write event %s: %w", r.ID, err)
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}

func canonical(document json.RawMessage) (json.RawMessage, error) {
	if len(document) == 0 {
		return nil, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read a document of an event: %w", err)
	}
	return json.Marshal(v)
}

// hashesOf is the hashes of events, one after the other.
func hashesOf(events []record) ([]byte, error) {
	all := make([]byte, 0, len(events)*sha256.Size)
	for _, e := range events {
		h, err := e.hash()
		if err != nil {
			return nil, err
		}
		all = append(all, h...)
	}
	return all, nil
}

// chainOf is the chain value of a seal.
func chainOf(before []byte, organization uuid.UUID, number int64, hashes []byte) []byte {
	h := sha256.New()
	_, _ = h.Write(before) // a hash never fails
	_, _ = h.Write(organization[:])
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(number)))
	content := sha256.Sum256(hashes)
	_, _ = h.Write(content[:])
	return h.Sum(nil)
}

// compare says how the events of a seal differ from what was sealed.
func (s Seal) compare(events []record) (faults []string, err error) {
	if s.ExpiredAt != nil {
		return nil, nil
	}
	sealed := map[string]bool{}
	for at := 0; at+sha256.Size <= len(s.Hashes); at += sha256.Size {
		sealed[string(s.Hashes[at:at+sha256.Size])] = true
	}
	for _, e := range events {
		h, err := e.hash()
		if err != nil {
			return nil, err
		}
		if !sealed[string(h)] {
			faults = append(faults, fmt.Sprintf("event %s (%s of %s at %s) is not as it was sealed", e.ID, e.Action, e.ObjectName, e.At.UTC().Format(time.RFC3339)))
		}
	}
	if missing := int(s.Events) - len(events); missing > 0 {
		faults = append(faults, fmt.Sprintf("%d of the %d events between %s and %s are missing", missing, s.Events, s.FirstAt.UTC().Format(time.RFC3339), s.LastAt.UTC().Format(time.RFC3339)))
	}
	return faults, nil
}
