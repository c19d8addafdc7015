package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/faults/host"
)

// tellsOften is the file that the stand-in of Ansible looks for beside itself.
const tellsOften = "tells-often"

// repeatedEvents has plays tell each of their events 2 to 10 times, and in no
// order: the last word before the first. What comes of a job is read off what
// they tell, and must be the same; and each line that came is in the log, once.
func repeatedEvents(ctx context.Context, w *World) error {
	file := filepath.Join(w.dir, "path", tellsOften)
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }()
	for n := range w.times(1) {
		h, err := w.addHost(300 + n)
		if err != nil {
			return err
		}
		h.Behave(host.Manners{Lines: 20})
		if err := w.whole(ctx, h); err != nil { // facts, units and wipes are read off events
			return err
		}
	}
	h := w.hosts[0]
	h.Behave(host.Manners{Failing: 1})
	a, job, err := w.create(ctx, h.Name)
	if err != nil {
		return err
	}
	j, err := w.over(ctx, job)
	if err != nil {
		return err
	}
	if j.State != "failed" || j.Error == nil || j.Error.Code != "task_failed" || j.Error.Message != "the stand-in fails now and then" {
		return fmt.Errorf("a job whose play tells often that a task failed is %s: %+v", j.State, j.Error)
	}
	h.Behave(host.Manners{})
	if job, err = w.remove(ctx, a); err == nil {
		err = w.succeeds(ctx, job)
	}
	if err != nil {
		return err
	}
	return w.toldOften(ctx)
}

// toldOften holds that the logs have what came twice and more, without a gap.
func (w *World) toldOften(ctx context.Context) error {
	most := 0
	for j, err := range w.alive().api(w.token).AllJobs(ctx, api.JobFilter{State: "ended"}) {
		if err != nil {
			return fmt.Errorf("list jobs: %w", err)
		}
		page, err := retried(ctx, w, func(c *client.Client) (api.JobLog, error) { return c.GetJobLog(ctx, j.ID, 0, 1000) })
		if err != nil {
			return err
		}
		told := map[string]int{}
		for n, e := range page.Items {
			if e.Sequence != int64(n)+1 {
				return fmt.Errorf("job %s: entry %d is number %d of its log", j.ID, e.Sequence, n+1)
			}
			if e.Item != "" {
				line := fmt.Sprint(e.Attempt, e.Step, e.Play, e.Task, e.Item)
				told[line]++
				most = max(most, told[line])
			}
		}
		for line, n := range told {
			if n > 10 {
				return fmt.Errorf("job %s has %q %d times in its log, and its play told it 10 times at most", j.ID, line, n)
			}
		}
	}
	if most < 5 {
		return errors.New("no event came often, so nothing is proven")
	}
	return nil
}
