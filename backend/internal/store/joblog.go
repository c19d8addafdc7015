package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"kloigos/backend/internal/kernel/db"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"
)

// LogEntry is one thing that a job told.
type LogEntry struct {
	Sequence   int64     `json:"sequence"` // from 1, without gaps, over all attempts
	Attempt    int       `json:"attempt"`
	Step       string    `json:"step"`
	Time       time.Time `json:"time"`
	Kind       string    `json:"kind"`
	Play       string    `json:"play,omitempty"`
	Role       string    `json:"role,omitempty"`
	Task       string    `json:"task,omitempty"`
	Action     string    `json:"action,omitempty"`
	Item       string    `json:"item,omitempty"`
	Host       string    `json:"host,omitempty"`
	Changed    bool      `json:"changed,omitempty"`
	Message    string    `json:"message,omitempty"`
	Output     string    `json:"output,omitempty"`
	Diff       string    `json:"diff,omitempty"`
	DurationMS int64     `json:"duration_ms,omitempty"`
}

// maxLogChunk bounds what one chunk may decode to, in bytes; what is written
// here is far below it.
const maxLogChunk = 64 << 20

var (
	logEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	logDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxLogChunk), zstd.WithDecoderConcurrency(2))
)

const sqlLastSequence = `
SELECT l.last_seq
  FROM job_log l
 WHERE l.job_id = $1
 ORDER BY l.first_seq DESC
 LIMIT 1`

// LastSequence is the sequence of the newest entry in a job's log, 0 if there
// is none.
func (r Reads) LastSequence(ctx context.Context, id uuid.UUID) (int64, error) {
	var last int64
	err := r.q.QueryRow(ctx, sqlLastSequence, id).Scan(&last)
	if db.IsNoRows(err) {
		return 0, nil
	}
	return last, err
}

const sqlAppendLog = `
INSERT INTO job_log (job_id, first_seq, last_seq, attempt, entries, outline)
SELECT j.id, $2, $3, j.attempt, $5, $6
  FROM jobs j
 WHERE j.id = $1 AND j.attempt = $4 AND j.state IN ('running', 'cancelling')
   FOR UPDATE`

// The job's row is locked, or a takeover could find the end of the log while
// the chunk of the attempt before it is being written, and use its numbers.

// AppendLog adds a chunk of entries, numbered in order, of a running attempt.
// ErrLost if the attempt is no longer the running one, or another wrote on.
func (tx *Tx) AppendLog(ctx context.Context, id uuid.UUID, attempt int, entries []LogEntry) error {
	if len(entries) == 0 {
		return nil
	}
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return fmt.Errorf("encode log: %w", err)
		}
	}
	outline, err := outlineOf(entries).packed()
	if err != nil {
		return err
	}
	err = tx.One(ctx, ErrLost, sqlAppendLog, id, entries[0].Sequence, entries[len(entries)-1].Sequence, attempt,
		logEncoder.EncodeAll(lines.Bytes(), nil), outline)
	if _, dup := db.UniqueViolation(err); dup {
		return ErrLost
	}
	return err
}

type logChunk struct {
	FirstSeq int64  `db:"first_seq"`
	Entries  []byte `db:"entries"`
}

// The first condition lets the newest chunk that may hold entries after $2 be
// found from the primary key.
const sqlLogChunks = `
SELECT l.first_seq, l.entries
  FROM job_log l
 WHERE l.job_id = $1 AND l.last_seq > $2
   AND l.first_seq >= COALESCE((SELECT max(f.first_seq) FROM job_log f WHERE f.job_id = $1 AND f.first_seq <= $2 + 1), 0)
 ORDER BY l.first_seq
 LIMIT $3`

// What one look at a log holds in memory: chunks as they are stored, and bytes
// of the entries in them.
const (
	maxLogChunks  = 20
	maxLogPage    = 4 << 20
	bytesOfAChunk = 8 << 10 // a guess, so that a small part asks for few chunks
)

// JobLog returns entries after a sequence, in order: at least one if there is
// one, at most limit, and of more than one no more than 4 MiB.
func (r Reads) JobLog(ctx context.Context, id uuid.UUID, after int64, limit int) ([]LogEntry, error) {
	return r.JobLogPart(ctx, id, after, limit, maxLogPage)
}

// JobLogPart is JobLog for who has room for so many bytes only.
func (r Reads) JobLogPart(ctx context.Context, id uuid.UUID, after int64, limit, size int) ([]LogEntry, error) {
	chunks, err := db.Collect[logChunk](ctx, r.q, sqlLogChunks, id, after, min(2+size/bytesOfAChunk, maxLogChunks))
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	entries := []LogEntry{}
	for _, c := range chunks {
		lines, err := logDecoder.DecodeAll(c.Entries, nil)
		if err != nil {
			return nil, fmt.Errorf("decode log: %w", err)
		}
		sequence := c.FirstSeq - 1 // of the line before; a chunk has no gaps
		for line := range bytes.Lines(lines) {
			if sequence++; sequence <= after {
				continue
			}
			if size -= len(line); len(entries) == limit || len(entries) > 0 && size < 0 {
				return entries, nil
			}
			var e LogEntry
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, fmt.Errorf("decode log entry: %w", err)
			}
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// EachLogEntry calls look with the entries after a sequence, in order, until
// there are no more or it returns false. However long the log is, only a part
// of it is in memory.
func (r Reads) EachLogEntry(ctx context.Context, id uuid.UUID, after int64, look func(LogEntry) bool) error {
	for {
		chunks, err := db.Collect[logChunk](ctx, r.q, sqlLogChunks, id, after, maxLogChunks)
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if len(chunks) == 0 {
			return nil
		}
		for _, c := range chunks {
			if after, err = c.each(after, look); err != nil {
				return err
			}
			if after == stopped {
				return nil
			}
		}
	}
}

// stopped is the sequence after which nothing more is looked at.
const stopped = -1

// each calls look with the chunk's entries after a sequence, and returns the
// last one's.
func (c logChunk) each(after int64, look func(LogEntry) bool) (int64, error) {
	lines, err := logDecoder.DecodeAll(c.Entries, nil)
	if err != nil {
		return 0, fmt.Errorf("decode log: %w", err)
	}
	sequence := c.FirstSeq - 1
	for line := range bytes.Lines(lines) {
		if sequence++; sequence <= after {
			continue
		}
		var e LogEntry
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, fmt.Errorf("decode log entry: %w", err)
		}
		if !look(e) {
			return stopped, nil
		}
	}
	return sequence, nil
}
