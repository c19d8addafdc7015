package noun

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

type jobs = shape.Noun[api.Job, api.JobFilter]

var job = jobs{
	Name: "job", Plural: "jobs", Help: "Work that is done on hosts",
	Columns: []show.Column[api.Job]{
		{Header: "ID", Value: func(j api.Job) string { return j.ID }},
		{Header: "JOB", Value: api.Job.Title},
		{Header: "STATE", Value: func(j api.Job) string { return j.State }},
		{Header: "REQUESTED BY", Value: func(j api.Job) string { return j.RequestedBy }},
		{Header: "AGE", Value: func(j api.Job) string { return show.Ago(j.CreatedAt) }},
	},
	ID:         func(j api.Job) string { return j.ID },
	List:       shape.List("list-jobs", (*client.Client).AllJobs),
	Get:        shape.Get("get-job", (*client.Client).GetJob),
	Detail:     printJob,
	Operations: func(j api.Job) []api.Operation { return j.Operations },
	Actions: []shape.Action{
		shape.StartWith("retry", "retry-job", (*client.Client).RetryJob),
		shape.Start("cancel", "cancel-job", (*client.Client).CancelJob),
		shape.Start("give-up", "give-up-job", (*client.Client).GiveUpJob),
	},
	Extra: []func(*shape.App, jobs) *cobra.Command{followJob, jobLog, jobOutline},
}

// printJob prints what a job waits for, why it failed, and its steps.
func printJob(a *shape.App, j api.Job) error {
	if j.WaitsFor != "" {
		fmt.Fprintf(a.Out, "waits: %s\n", show.Text(j.WaitsFor))
	}
	if e := j.Error; e != nil {
		for _, line := range []struct{ name, value string }{{"task", e.Task}, {"host", e.Host}, {"error", e.Message}, {"next", e.NextStep}} {
			if line.value != "" {
				text := strings.ReplaceAll(show.Text(strings.TrimSpace(line.value)), "\n", "\n  ")
				fmt.Fprintf(a.Out, "%s: %s\n", line.name, text)
			}
		}
	}
	if len(j.Steps) == 0 {
		return nil
	}
	fmt.Fprintln(a.Out)
	return show.Table(a.Out, []show.Column[api.JobStep]{
		{Header: "STEP", Value: func(s api.JobStep) string { return s.Name }},
		{Header: "STATE", Value: func(s api.JobStep) string { return s.State }},
		{Header: "STARTED", Value: func(s api.JobStep) string { return show.AgoOf(s.StartedAt) }},
	}, j.Steps, true)
}

// findJob finds a job by its id, or the newest one of the host, unit or
// allocation of this name.
func findJob(ctx context.Context, c *client.Client, name string) (api.Job, error) {
	if _, err := uuid.Parse(name); err == nil {
		return c.GetJob(ctx, name)
	}
	filters := []api.JobFilter{{Host: name}, {Unit: name}}
	live := api.AllocationFilter{LoginUser: name}
	for a, err := range c.AllAllocations(ctx, live) {
		if err != nil {
			return api.Job{}, err
		}
		filters = append(filters, api.JobFilter{Allocation: a.ID})
	}
	var newest api.Job
	for _, f := range filters {
		f.Limit = 1
		page, err := c.ListJobs(ctx, f)
		if shape.HasStatus(err, http.StatusNotFound) || shape.HasStatus(err, http.StatusUnprocessableEntity) {
			continue // no host or unit has this name
		}
		if err != nil {
			return api.Job{}, err
		}
		if len(page.Items) > 0 && page.Items[0].CreatedAt.After(newest.CreatedAt) {
			newest = page.Items[0]
		}
	}
	if newest.ID == "" {
		return newest, shape.Fail(shape.CodeNotFound, "no host, unit or allocation %q has a job", name)
	}
	return newest, nil
}

// ofJob is a command about a job that is named by its id or by its object.
func ofJob(a *shape.App, name, help string, run func(context.Context, *client.Client, api.Job) error, routes ...string) *cobra.Command {
	return shape.Calls(&cobra.Command{
		Use: name + " JOB", Short: help, Long: help + ".\n\nJOB is an id, or the name of a host, unit or allocation: its newest job is meant.",
		Args: shape.Exactly("JOB"), ValidArgsFunction: host.Complete(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			j, err := findJob(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return run(cmd.Context(), c, j)
		},
	}, routes...)
}

func followJob(a *shape.App, _ jobs) *cobra.Command {
	return ofJob(a, "follow", "Follow the log of a job until it ends; the exit code tells its outcome", func(ctx context.Context, c *client.Client, j api.Job) error {
		for e, err := range c.StreamJobLog(ctx, j.ID, 0) {
			switch {
			case err != nil:
				return err
			case e.Log != nil:
				if err := printEntry(a, *e.Log); err != nil {
					return err
				}
			}
		}
		j, err := c.GetJob(ctx, j.ID)
		if err != nil {
			return err
		}
		return a.Outcome(j, false)
	}, "stream-job-log")
}

func jobLog(a *shape.App, _ jobs) *cobra.Command {
	var kinds, search string
	cmd := ofJob(a, "log", "Print the log of a job as it is now", func(ctx context.Context, c *client.Client, j api.Job) error {
		entries := []api.LogEntry{}
		for after := int64(0); ; {
			part, err := c.FindInJobLog(ctx, j.ID, api.LogFilter{After: after, Limit: 2000, Kinds: kinds, Search: search})
			if err != nil {
				return err
			}
			for _, e := range part.Items {
				if a.Output != "table" {
					entries = append(entries, e)
				} else if err := printEntry(a, e); err != nil {
					return err
				}
			}
			if part.Last >= part.Newest || part.Last <= after {
				break
			}
			after = part.Last
		}
		if a.Output == "table" {
			return nil
		}
		return a.Print(map[string]any{"items": entries})
	}, "get-job-log")
	cmd.Flags().StringVar(&kinds, "kinds", "", "only entries of these kinds, such as failed,unreachable")
	cmd.Flags().StringVar(&search, "search", "", "only entries that hold this text")
	return cmd
}

func printEntry(a *shape.App, e api.LogEntry) error {
	if a.Output == "json" {
		return show.JSONLine(a.Out, e)
	}
	line := e.Time.UTC().Format("15:04:05") + " " + e.Kind
	for _, part := range []string{e.Host, e.Task, e.Item, e.Message} {
		if part != "" {
			line += "  " + part
		}
	}
	if _, err := fmt.Fprintln(a.Out, show.Line(line)); err != nil {
		return err
	}
	for _, text := range []string{e.Output, e.Diff} {
		for l := range strings.Lines(text) {
			if _, err := fmt.Fprintln(a.Out, "    "+show.Line(strings.TrimRight(l, "\r\n"))); err != nil {
				return err
			}
		}
	}
	return nil
}

func jobOutline(a *shape.App, _ jobs) *cobra.Command {
	return ofJob(a, "outline", "Show the tasks of a job and their result on each host", func(ctx context.Context, c *client.Client, j api.Job) error {
		o, err := c.GetJobOutline(ctx, j.ID)
		if err != nil {
			return err
		}
		if a.Output != "table" {
			return a.Print(o)
		}
		return shape.PrintList(a, "tasks", []show.Column[api.LogTask]{
			{Header: "STEP", Value: func(t api.LogTask) string { return t.Step }},
			{Header: "TASK", Value: func(t api.LogTask) string { return t.Task }},
			{Header: "RESULTS", Value: func(t api.LogTask) string {
				var parts []string
				for _, r := range t.Results {
					parts = append(parts, r.Host+" "+r.Kind)
				}
				return strings.Join(parts, ", ")
			}},
		}, o.Tasks, true)
	}, "get-job-outline")
}
