package noun

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
)

// scopeCalls are the requests that delete scopes of one kind.
type scopeCalls struct {
	get     func(*client.Client, context.Context, string) (api.Scope, error)
	remove  func(*client.Client, context.Context, string, ...client.Option) error
	plan    func(*client.Client, context.Context, string, ...client.Option) (api.Plan, error)
	cascade func(*client.Client, context.Context, string, api.Cascade, ...client.Option) (api.Scope, string, error)
}

// deleteScope deletes a scope: an empty one, or with --cascade all that is in it.
func deleteScope[F any](article string, calls scopeCalls) func(*shape.App, shape.Noun[api.Scope, F]) *cobra.Command {
	return func(a *shape.App, n shape.Noun[api.Scope, F]) *cobra.Command {
		d := scopeDeletion{app: a, noun: n.Name, calls: calls}
		cmd := &cobra.Command{
			Use: "delete " + strings.ToUpper(n.Name), Aliases: []string{"remove"}, ValidArgsFunction: n.Complete(a),
			Short: "Delete " + article + " " + n.Name + ": an empty one, or with --cascade all that is in it",
			Args:  shape.Exactly(strings.ToUpper(n.Name)),
			RunE: func(cmd *cobra.Command, args []string) error {
				c, err := a.Client()
				if err != nil {
					return err
				}
				s, err := n.Resolve(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				return d.run(cmd.Context(), c, s)
			},
		}
		f := cmd.Flags()
		f.BoolVar(&d.cascade, "cascade", false, "delete what is in it too, after a plan of that is shown")
		f.BoolVar(&d.asPlan, "plan", false, "with --cascade: change nothing, make a plan and show what would go")
		f.StringVar(&d.planID, "plan-id", "", "with --cascade: delete what this plan showed, such as one that others approved")
		f.BoolVar(&d.wait, "wait", false, "with --cascade: wait until all of it is deleted")
		f.BoolVar(&d.yes, "yes", false, "do not ask")
		cmd.MarkFlagsMutuallyExclusive("plan", "plan-id")
		return shape.Calls(cmd, "delete-"+n.Name, "cascade-"+n.Name)
	}
}

type scopeDeletion struct {
	app                        *shape.App
	noun                       string
	calls                      scopeCalls
	cascade, asPlan, yes, wait bool
	planID                     string
}

func (d *scopeDeletion) run(ctx context.Context, c *client.Client, s api.Scope) error {
	if !d.cascade {
		if d.asPlan || d.planID != "" || d.wait {
			return shape.Usage("--plan, --plan-id and --wait go with --cascade")
		}
		if err := d.app.Ask(ctx, d.yes, "Delete "+s.Path+"?"); err != nil {
			return err
		}
		return d.calls.remove(c, ctx, s.ID, client.IfMatch(s.Version))
	}
	p := api.Plan{ID: d.planID}
	if d.planID == "" {
		var err error
		var problem *api.Problem
		p, err = d.calls.plan(c, ctx, s.ID)
		if errors.As(err, &problem) && problem.Code == "no_workspace" && !d.asPlan {
			return d.empty(ctx, c, s)
		}
		if err != nil {
			return err
		}
		if err := d.show(p); err != nil || d.asPlan {
			return err
		}
		if p.Counts != nil && p.Counts.Stops > 0 {
			return shape.Fail(shape.CodeConflict, "nothing was deleted: the plan names what stops it")
		}
	}
	if err := d.app.Ask(ctx, d.yes, "Delete "+s.Path+" with all that is in it?"); err != nil {
		return err
	}
	after, job, err := d.calls.cascade(c, ctx, s.ID, api.Cascade{Confirm: s.Name}, client.AsPlanned(p.ID))
	if err != nil {
		return err
	}
	if d.wait {
		return d.await(ctx, c, s)
	}
	in := ""
	if after.Deletion != nil {
		in = " --workspace " + after.Deletion.Workspace
	}
	d.app.Say("Job %s deletes it. Follow it with: kloigos job follow %s%s", job, job, in)
	return nil
}

// empty deletes a scope without workspaces, with the scopes in it: there is no plan of that.
func (d *scopeDeletion) empty(ctx context.Context, c *client.Client, s api.Scope) error {
	if err := d.app.Ask(ctx, d.yes, "Delete "+s.Path+" with the scopes in it? No workspace is in it."); err != nil {
		return err
	}
	if _, _, err := d.calls.cascade(c, ctx, s.ID, api.Cascade{Confirm: s.Name}); err != nil {
		return err
	}
	d.app.Say("%s is deleted.", s.Path)
	return nil
}

func (d *scopeDeletion) show(p api.Plan) error {
	if d.app.Output != "table" {
		if d.asPlan {
			return d.app.Print(p)
		}
		return nil
	}
	if err := d.app.PrintChanges(p); err != nil {
		return err
	}
	if d.asPlan && p.Counts != nil && p.Counts.Stops == 0 {
		d.app.Say("Apply it with: kloigos %s delete %s --cascade --plan-id %s", d.noun, p.ScopePath, p.ID)
	}
	return nil
}

// deletionLook is how often a deletion is looked at.
const deletionLook = 300 * time.Millisecond

// await waits until the scope is gone: the job that deletes it goes with it.
func (d *scopeDeletion) await(ctx context.Context, c *client.Client, s api.Scope) error {
	for {
		now, err := d.calls.get(c, ctx, s.ID)
		var p *api.Problem
		switch {
		case errors.As(err, &p) && p.Code == "not_found":
			d.app.Say("%s is deleted.", s.Path)
			return nil
		case err != nil:
			return err
		case now.State != "deleting" || now.Deletion == nil:
			return shape.Fail(shape.CodeConflict, "the deletion was cancelled; %s is %s", s.Path, now.State)
		case now.Deletion.State == "failed":
			return shape.Fail(shape.CodeConflict, "the deletion failed; look at it with: kloigos job get %s --workspace %s", now.Deletion.JobID, now.Deletion.Workspace)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(deletionLook):
		}
	}
}
