package httpapi

import (
	"context"
	"sync"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

func (s *Server) registerQueue() {
	register(s, "get-queue", s.getQueue)
	register(s, "pause-queue", s.pauseQueue)
	register(s, "resume-queue", s.resumeQueue)
}

// backlogFor is how old the counts of the queue may be: pages that show it ask
// every few seconds, and a long queue is not counted anew for each of them.
const backlogFor = 2 * time.Second

// backlog is the queue as it was counted last.
type backlog struct {
	mu   sync.Mutex
	at   time.Time
	rows []store.Backlog
}

func (b *backlog) read(ctx context.Context, db *store.DB) ([]store.Backlog, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.at.IsZero() && time.Since(b.at) < backlogFor {
		return b.rows, nil
	}
	rows, err := db.Backlog(ctx)
	if err == nil {
		b.rows, b.at = rows, time.Now()
	}
	return rows, err
}

// getQueue tells of a pause as it is now, and of the jobs as they were a moment
// ago.
func (s *Server) getQueue(ctx context.Context, _ *struct{}) (*object[api.Queue], error) {
	backlog, err := s.backlog.read(ctx, s.db)
	if err != nil {
		return nil, err
	}
	pause, err := s.db.QueuePause(ctx)
	if err != nil {
		return nil, err
	}
	var q api.Queue
	for _, b := range backlog {
		switch b.State {
		case "queued":
			q.Queued += b.Jobs
			q.OldestQueuedSeconds = max(q.OldestQueuedSeconds, b.OldestSeconds)
		case "delayed":
			q.Delayed += b.Jobs
		case string(domain.JobRunning):
			q.Running += b.Jobs
		case string(domain.JobCancelling):
			q.Cancelling += b.Jobs
		}
	}
	if pause != nil {
		q.Paused, q.PausedAt, q.PausedBy, q.Reason = true, &pause.At, pause.By, pause.Reason
	}
	return &object[api.Queue]{Body: q}, nil
}

func (s *Server) pauseQueue(ctx context.Context, in *struct{ Body api.PauseQueue }) (*object[api.Queue], error) {
	err := s.onceNothing(ctx, func(ctx context.Context) error { return s.intents.PauseQueue(ctx, actor(ctx), in.Body.Reason) })
	if err != nil {
		return nil, err
	}
	return s.getQueue(ctx, nil)
}

func (s *Server) resumeQueue(ctx context.Context, _ *struct{}) (*object[api.Queue], error) {
	err := s.onceNothing(ctx, func(ctx context.Context) error { return s.intents.ResumeQueue(ctx, actor(ctx)) })
	if err != nil {
		return nil, err
	}
	return s.getQueue(ctx, nil)
}
