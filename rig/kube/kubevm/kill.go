package kubevm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"kloigos/backend/api"
)

// The longest time that a step runs before its backend is killed: a step that plays lasts, and others can be over in a second.
const (
	killAfter     = 20 * time.Second
	killSoonAfter = 500 * time.Millisecond
)

// killer kills the backend that runs a job, once in each of its steps.
type killer struct {
	*rig
	kind  string
	plays []string        // steps that have a play
	seen  map[string]bool // steps that ran, and whether a backend was killed in them
}

// killing carries out an action whose job is of a kind. With Options.Kill, the backend of the job is killed in each step meanwhile. Every
// step that has a play has to have met it, or the test proves nothing; other steps can end before it comes to that.
func (r *rig) killing(ctx context.Context, kind string, withPlays []string, action func(context.Context) error) error {
	if !r.options.Kill {
		return action(ctx)
	}
	k := killer{r, kind, withPlays, map[string]bool{}}
	watch, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- k.watch(watch) }()
	err := action(ctx)
	cancel()
	if err = errors.Join(err, <-ended); err != nil {
		return err
	}
	maps.DeleteFunc(k.seen, func(_ string, killed bool) bool { return !killed })
	killed := slices.Sorted(maps.Keys(k.seen))
	r.Stages().Note("a backend was killed in %s", strings.Join(killed, ", "))
	for _, step := range withPlays {
		if !slices.Contains(killed, step) {
			err = errors.Join(err, fmt.Errorf("no backend was killed in the step %s of %s", step, kind))
		}
	}
	return err
}

// watch looks which step runs until ctx ends.
func (k killer) watch(ctx context.Context) error {
	for ctx.Err() == nil {
		job, step, err := k.running(ctx)
		if err == nil && step != "" && !k.seen[step] {
			k.seen[step], err = k.kill(ctx, job, step)
		}
		// A backend that was just killed may be the one that was asked: the proxy takes a moment to notice.
		if err != nil && ctx.Err() == nil {
			k.Stages().Note("no look at the job: %v", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}

// running is the job that a backend runs, and its step; "" if none does.
func (k killer) running(ctx context.Context) (job, step string, err error) {
	page, err := k.Client.WithWorkspace(workspace).ListJobs(ctx, api.JobFilter{State: "active", Kind: k.kind})
	if err != nil {
		return "", "", err
	}
	for _, j := range page.Items {
		for _, s := range j.Steps {
			if j.State == "running" && s.State == "running" {
				return j.ID, s.Name, nil
			}
		}
	}
	return "", "", nil
}

// kill kills the backend of a job some time later, if it is still in that step then.
func (k killer) kill(ctx context.Context, job, step string) (killed bool, err error) {
	wait := rand.N(killSoonAfter)
	if slices.Contains(k.plays, step) {
		wait = rand.N(killAfter)
	}
	select {
	case <-ctx.Done():
		return false, nil
	case <-time.After(wait):
	}
	now, err := k.Client.WithWorkspace(workspace).GetJob(ctx, job)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(now.Steps, func(s api.JobStep) bool { return s.Name == step && s.State == "running" })
	if now.State != "running" || at < 0 {
		return false, nil
	}
	k.Stages().Note("kill -9 of %s, %s after the step %s was seen", now.Worker, wait.Round(time.Second), step)
	return true, k.KillBackend(now.Worker)
}
