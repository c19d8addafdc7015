package noun

import (
	"context"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
)

var queue = shape.Noun[api.Queue, struct{}]{
	Name: "queue", Help: "The queue of jobs of the whole installation",
	Single: shape.Single("get-queue", (*client.Client).GetQueue),
	Actions: []shape.Action{
		shape.DoWith("pause", "pause-queue", pauseQueue).Takes("reason"),
		shape.Do("resume", "resume-queue", resumeQueue),
	},
}

func pauseQueue(c *client.Client, ctx context.Context, _ string, b api.PauseQueue, o ...client.Option) (api.Queue, error) {
	return c.PauseQueue(ctx, b, o...)
}

func resumeQueue(c *client.Client, ctx context.Context, _ string, o ...client.Option) (api.Queue, error) {
	return c.ResumeQueue(ctx, o...)
}
