package httpapi

import (
	"context"
	"time"

	"kloigos/backend/internal/intent"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/recent"
	"kloigos/backend/internal/store"
)

// queueHandlers answers the routes about the queue.
type queueHandlers struct{ *Server }

func (s queueHandlers) register() {
	register(s.Server, "get-queue", s.getQueue)
	register(s.Server, "pause-queue", s.pauseQueue)
	register(s.Server, "resume-queue", s.resumeQueue)
}

// backlogFor is how old the counts of the queue may be: pages that show it ask
// every few seconds, and a long queue is not counted anew for each of them.
const backlogFor = 2 * time.Second

func newBacklog(db *store.DB) *recent.Reads[struct{}, []store.Backlog] {
	return &recent.Reads[struct{}, []store.Backlog]{For: backlogFor, Within: countWithin, Read: func(ctx context.Context, _ struct{}) ([]store.Backlog, error) {
		return db.Backlog(ctx)
	}}
}

// getQueue tells of a pause as it is now, and of the jobs as they were a moment
// ago.
func (s queueHandlers) getQueue(ctx context.Context, _ *struct{}) (*object[api.Queue], error) {
	backlog, err := s.backlog.Get(ctx, struct{}{})
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

func (s queueHandlers) pauseQueue(ctx context.Context, in *struct{ Body api.PauseQueue }) (*object[api.Queue], error) {
	err := s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error {
		return s.intents.PauseQueue(ctx, call, in.Body.Reason)
	})
	if err != nil {
		return nil, err
	}
	return s.getQueue(ctx, nil)
}

func (s queueHandlers) resumeQueue(ctx context.Context, _ *struct{}) (*object[api.Queue], error) {
	err := s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error { return s.intents.ResumeQueue(ctx, call) })
	if err != nil {
		return nil, err
	}
	return s.getQueue(ctx, nil)
}
