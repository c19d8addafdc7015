package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"kloigos/backend/api"
)

// ListJobs returns one page of jobs, newest first.
func (c *Client) ListJobs(ctx context.Context, f api.JobFilter) (api.Page[api.Job], error) {
	return list[api.Job](ctx, c, "/jobs", f)
}

// AllJobs yields the jobs of all pages.
func (c *Client) AllJobs(ctx context.Context, f api.JobFilter) iter.Seq2[api.Job, error] {
	return all(func(cursor string) (api.Page[api.Job], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListJobs(ctx, f)
	})
}

// GetJob shows a job.
func (c *Client) GetJob(ctx context.Context, id string) (api.Job, error) {
	return get[api.Job](ctx, c, pathOf("jobs", id), nil)
}

// GetJobLog reads the part of its log that follows a sequence; 0 is the
// beginning, and a limit of 0 the API's own.
func (c *Client) GetJobLog(ctx context.Context, id string, after int64, limit int) (api.JobLog, error) {
	q := url.Values{}
	if after > 0 {
		q.Set("after", strconv.FormatInt(after, 10))
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return get[api.JobLog](ctx, c, pathOf("jobs", id, "log"), q)
}

// FindInJobLog reads the part of its log that a filter lets through. An answer
// may be empty before the end: go on after its Last until it is the Newest.
func (c *Client) FindInJobLog(ctx context.Context, id string, f api.LogFilter) (api.JobLog, error) {
	return get[api.JobLog](ctx, c, pathOf("jobs", id, "log"), queryOf(f))
}

// GetJobOutline shows its log in short.
func (c *Client) GetJobOutline(ctx context.Context, id string) (api.LogOutline, error) {
	return get[api.LogOutline](ctx, c, pathOf("jobs", id, "log", "outline"), nil)
}

// RetryJob tries a failed job again, from the step that failed.
func (c *Client) RetryJob(ctx context.Context, id string, body api.RetryJob, opts ...Option) (j api.Job, jobID string, err error) {
	return long[api.Job](ctx, c, http.MethodPost, pathOf("jobs", id, "retry"), body, opts)
}

// CancelJob stops a job.
func (c *Client) CancelJob(ctx context.Context, id string, opts ...Option) (j api.Job, jobID string, err error) {
	return long[api.Job](ctx, c, http.MethodPost, pathOf("jobs", id, "cancel"), nil, opts)
}

// GiveUpJob cleans up after a failed job; jobID is the job that cleans.
func (c *Client) GiveUpJob(ctx context.Context, id string, opts ...Option) (j api.Job, jobID string, err error) {
	return long[api.Job](ctx, c, http.MethodPost, pathOf("jobs", id, "give-up"), nil, opts)
}
