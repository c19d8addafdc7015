package httpapi

import (
	"context"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
)

func (s *Server) registerQueue() {
	register(s, "get-queue", s.getQueue)
	register(s, "pause-queue", s.pauseQueue)
	register(s, "resume-queue", s.resumeQueue)
}

func (s *Server) getQueue(ctx context.Context, _ *struct{}) (*object[api.Queue], error) {
	backlog, err := s.db.Backlog(ctx)
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
