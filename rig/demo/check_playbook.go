package demo

import (
	"context"
	"fmt"
	"strings"

	"kloigos/backend/api"
)

// uploadedProbe runs a playbook that did not come with the release: a version of host_probe with another name for its
// task, uploaded on top of the default one, which becomes the default again in the end.
func (c *checker) uploadedProbe(ctx context.Context) (err error) {
	const name, task = "host_probe", "Read what the host is, from outside"
	was, made, err := c.upload(ctx, name, "roles/host_probe/tasks/main.yml", func(text string) string {
		return strings.Replace(text, "name: Read what the host is", "name: "+task, 1)
	})
	if err != nil {
		return err
	}
	if _, err := c.i.Client.SetDefaultPlaybook(ctx, name, made); err != nil {
		return fmt.Errorf("make it the default: %w", err)
	}
	_, job, err := c.i.Client.ProbeHost(ctx, c.i.Host.ID)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	if err := c.i.follow(ctx, job); err != nil {
		return err
	}
	log, err := c.i.Client.GetJobLog(ctx, job, 0, 500)
	if err != nil {
		return fmt.Errorf("read the job's log: %w", err)
	}
	ran := false
	for _, entry := range log.Items {
		ran = ran || entry.Task == task && entry.Kind == "ok"
	}
	if !ran {
		return fmt.Errorf("the task of version %d did not run", made)
	}
	back, err := c.i.Client.SetDefaultPlaybook(ctx, name, was)
	if err != nil {
		return fmt.Errorf("roll back: %w", err)
	}
	if back.DefaultVersion != was {
		return fmt.Errorf("version %d is the default after the roll back", back.DefaultVersion)
	}
	return nil
}

// upload makes a version of a playbook in which one file differs from the default version.
func (c *checker) upload(ctx context.Context, name, file string, change func(string) string) (was, made int, err error) {
	playbook, err := c.i.Client.GetPlaybook(ctx, name)
	if err != nil {
		return 0, 0, fmt.Errorf("read the playbook: %w", err)
	}
	now, err := c.i.Client.GetPlaybookFile(ctx, name, playbook.DefaultVersion, file)
	if err != nil {
		return 0, 0, fmt.Errorf("read a file: %w", err)
	}
	text := change(now.Content)
	if text == now.Content {
		return 0, 0, fmt.Errorf("%s is not what it was when this check was written", file)
	}
	v, err := c.i.Client.UploadPlaybook(ctx, name, api.UploadPlaybook{Base: playbook.DefaultVersion, Files: map[string]*string{file: &text}, Note: "of a check"})
	if err != nil {
		return 0, 0, fmt.Errorf("upload a version: %w", err)
	}
	return playbook.DefaultVersion, v.Version, nil
}
