package shape

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/show"
)

// running is one command of an action with the flags it was given.
type running[T, F any] struct {
	Noun[T, F]
	Action
	app  *App
	cmd  *cobra.Command
	body *fields

	file              string
	files             map[string]*string
	wait, yes, asPlan bool
	playbookVersion   int
	ifVersion         int64
	key               string
}

func (n Noun[T, F]) actionCommand(a *App, action Action) *cobra.Command {
	r := &running[T, F]{Noun: n, Action: action, app: a, files: map[string]*string{}}
	cmd := &cobra.Command{Use: action.Name, Aliases: action.Aliases, Short: action.summary(), RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) }}
	r.cmd = cmd
	cmd.Annotations = routes(action.Route)
	switch {
	case action.New && action.name != "":
		r.nameArgument()
	case action.New || n.Single.get != nil:
		cmd.Args = Exactly()
	default:
		cmd.Use += " " + n.argument()
		cmd.Args = Exactly(n.argument())
		cmd.ValidArgsFunction = n.complete(a)
	}
	r.flags()
	return cmd
}

// nameArgument is the argument of a command without an object: the field that
// it fills, once or, for a list, any number of times.
func (r *running[T, F]) nameArgument() {
	name := strings.ToUpper(strings.ReplaceAll(r.Action.name, "_", "-"))
	list := false
	if v, err := fieldOf(reflect.New(r.Action.body).Interface(), "json", r.Action.name); err == nil {
		list = v.Kind() == reflect.Slice
	}
	r.cmd.Use += " [" + name + "]"
	if list {
		r.cmd.Use += "..."
	}
	r.cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 && !list {
			return Usage("too many arguments: %s [%s]", cmd.CommandPath(), name)
		}
		return nil
	}
	if e := r.app.entryNamed(strings.TrimSuffix(r.Action.name, "s")); e != nil {
		r.cmd.ValidArgsFunction = func(cmd *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) {
			return e.Names(cmd.Context(), r.app, begin), cobra.ShellCompDirectiveNoFileComp
		}
	}
}

func (r *running[T, F]) flags() {
	f := r.cmd.Flags()
	if r.Action.body != nil {
		r.body = r.app.addFields(r.cmd, r.Action.body, "json")
		f.StringVarP(&r.file, "file", "f", "", "file with the whole request in YAML or JSON, - for the input; flags go before it")
		for _, name := range r.Action.files {
			flag := strings.ReplaceAll(name, "_", "-") + "-file"
			r.files[name] = f.String(flag, "", "file to read "+strings.ReplaceAll(name, "_", " ")+" from, - for the input")
		}
		if len(r.body.left) > 0 {
			r.cmd.Long = r.cmd.Short + ".\n\nThese fields go into a file (-f): " + strings.Join(r.body.left, ", ") + "."
		}
	}
	route, _ := api.RouteOf(r.Route)
	if route.Long || r.kind == aChange {
		f.BoolVar(&r.wait, "wait", false, "wait for the job; the exit code tells its outcome")
	}
	if r.question != "" || r.confirm != "" {
		f.BoolVarP(&r.yes, "yes", "y", false, "do not ask")
	}
	if r.plan != nil {
		f.BoolVar(&r.asPlan, "plan", false, "change nothing: make a plan and show what would change")
	}
	if r.plan != nil && !r.listed {
		f.IntVar(&r.playbookVersion, "playbook-version", 0, "with --plan: use this version of the playbook instead of the default one")
	}
	if !r.New && r.Version != nil {
		f.Int64Var(&r.ifVersion, "if-version", 0, "do it only if the object still has this version")
	}
	if route.Method == http.MethodPost {
		f.StringVar(&r.key, "idempotency-key", "", "name of this request: the same name sent again does nothing twice (default: a new one)")
	}
}

func (r *running[T, F]) run(ctx context.Context, args []string) error {
	c, err := r.app.Client()
	if err != nil {
		return err
	}
	body, err := r.request(args)
	if err != nil {
		return err
	}
	var item T
	id, label := "", r.Noun.Name
	if !r.New && r.Single.get == nil {
		if item, err = r.Resolve(ctx, c, args[0]); err != nil {
			return err
		}
		id, label = r.ID(item), r.Noun.Name+" "+r.label(item)
	}
	opts := r.options(item)
	if r.asPlan {
		if r.confirm != "" { // a plan changes nothing
			if err := setText(body, "json", r.confirm, r.label(item)); err != nil {
				return err
			}
		}
		return r.makePlan(ctx, c, id, body, opts)
	}
	if r.question != "" || r.confirm != "" {
		if err := r.agree(ctx, item, label, body); err != nil {
			return err
		}
	}
	answer, job, err := r.do(ctx, c, id, body, opts)
	if err != nil {
		return r.explain(err, label)
	}
	return r.finish(ctx, c, label, answer, job)
}

// request is the body, out of the file, the flags and the argument.
func (r *running[T, F]) request(args []string) (any, error) {
	if r.Action.body == nil {
		return nil, nil
	}
	body := reflect.New(r.Action.body).Interface()
	if r.file != "" {
		if err := r.app.readBody(r.file, body); err != nil {
			return nil, err
		}
	}
	r.body.apply(body)
	for name, path := range r.files {
		if *path == "" {
			continue
		}
		raw, err := r.app.readFile(*path)
		if err != nil {
			return nil, err
		}
		if err := fill(body, name, raw); err != nil {
			return nil, err
		}
	}
	if r.New && r.Action.name != "" {
		if err := setText(body, "json", r.Action.name, args...); err != nil {
			return nil, err
		}
	}
	if missing := r.body.missing(body, r.confirm); len(missing) > 0 {
		return nil, Usage("%s: missing: %s", r.cmd.CommandPath(), strings.Join(missing, ", "))
	}
	if r.kind == aChange && reflect.ValueOf(body).Elem().IsZero() {
		return nil, Usage("nothing to change: give a flag or -f FILE")
	}
	return body, nil
}

// fill puts the content of a file into a field: the lines into a list, all of it
// into a text.
func fill(body any, name string, raw []byte) error {
	v, err := fieldOf(body, "json", name)
	if err != nil {
		return err
	}
	if v.Kind() == reflect.Slice {
		return setText(body, "json", name, lines(raw)...)
	}
	return setText(body, "json", name, strings.TrimSpace(string(raw)))
}

func (r *running[T, F]) options(item T) []client.Option {
	var opts []client.Option
	switch {
	case r.ifVersion != 0:
		opts = append(opts, client.IfMatch(r.ifVersion))
	case (r.kind == aChange || r.kind == aDelete) && r.Version != nil:
		opts = append(opts, client.IfMatch(r.Version(item)))
	}
	if r.key != "" {
		opts = append(opts, client.IdempotencyKey(r.key))
	}
	if r.playbookVersion != 0 {
		opts = append(opts, client.PlaybookVersion(r.playbookVersion))
	}
	return opts
}

// agree has a person agree to what can't be undone.
func (r *running[T, F]) agree(ctx context.Context, item T, label string, body any) error {
	if r.confirm == "" {
		return r.app.Ask(ctx, r.yes, fmt.Sprintf(r.question, label))
	}
	name := r.label(item)
	given, err := fieldOf(body, "json", r.confirm)
	switch {
	case err != nil:
		return err
	case given.String() != "": // the API compares it
		return nil
	case r.yes:
		return setText(body, "json", r.confirm, name)
	case !Terminal(r.app.In):
		return Usage("%s can't be undone: give --%s %s, or --yes", r.cmd.CommandPath(), r.confirm, name)
	}
	fmt.Fprintf(r.app.Err, "%s. This can't be undone. Type %s to confirm: ", show.Line(r.summary()), show.Line(name))
	typed, err := r.app.ReadLine(ctx)
	if err != nil {
		return err
	}
	return setText(body, "json", r.confirm, strings.TrimSpace(typed))
}

// explain adds what the API can't know: whether a change whose answer was lost
// was made.
func (r *running[T, F]) explain(err error, label string) error {
	if errors.Is(err, client.ErrUnreachable) && (r.kind == aChange) {
		return fmt.Errorf("it is not known whether %s was changed; look at it before you repeat the command: %w", label, err)
	}
	return err
}

// finish shows the answer: at once, or when the job has ended.
func (r *running[T, F]) finish(ctx context.Context, c *client.Client, label string, answer any, job string) error {
	if job == "" {
		if r.kind == aDelete {
			r.app.Say("Deleted %s.", label)
			return nil
		}
		return r.print(answer)
	}
	if !r.wait {
		r.app.Say("Job %s: %s. Follow it with: kloigos job follow %s", job, r.summary(), job)
		return r.print(answer)
	}
	r.app.Say("Job %s", job)
	j, failed := r.app.Wait(ctx, c, job, strings.HasPrefix(r.Route, "cancel-"))
	if ctx.Err() != nil {
		return failed
	}
	if item, ok := answer.(T); ok {
		fresh, err := r.Resolve(ctx, c, r.ID(item))
		if HasStatus(err, http.StatusNotFound) { // what is shown would be as it was before the job
			r.app.Say("%s is gone.", label)
			return failed
		}
		if err != nil {
			return errors.Join(failed, err)
		}
		answer = fresh
	} else if _, ok := answer.(api.Job); ok {
		answer = j
	}
	if err := r.print(answer); err != nil {
		return err
	}
	return failed
}

func (r *running[T, F]) print(answer any) error {
	switch item := answer.(type) {
	case nil:
		return nil
	case T:
		if r.app.Output != "table" || len(r.Columns) == 0 || r.full {
			return r.printOne(r.app, item)
		}
		return show.Table(r.app.Out, r.Columns, []T{item}, true)
	case []T:
		return r.printList(r.app, item, true)
	}
	if _, prints := answer.(Printer); r.full && !prints && r.app.Output == "table" && !show.Flat(answer) {
		return show.YAML(r.app.Out, answer)
	}
	return r.app.Print(answer)
}

// makePlan makes a plan of the action, waits for its check and shows it.
func (r *running[T, F]) makePlan(ctx context.Context, c *client.Client, id string, body any, opts []client.Option) error {
	p, job, err := r.plan(ctx, c, id, body, opts)
	if err != nil {
		return err
	}
	var failed error
	if job != "" { // it checks the plan
		if _, failed = r.app.Wait(ctx, c, job, false); ctx.Err() != nil {
			return failed
		}
	}
	if p, err = c.GetPlan(ctx, p.ID); err != nil {
		return errors.Join(failed, err)
	}
	if err := r.app.PrintPlan(p); err != nil {
		return err
	}
	if failed == nil && slices.ContainsFunc(p.Operations, func(o api.Operation) bool { return o.Allowed }) {
		r.app.Say("Apply it with: kloigos plan apply %s", p.ID)
	}
	return failed
}

// PrintPlan prints a plan with its changes.
func (a *App) PrintPlan(p Plan) error {
	if err := a.Print(p); err != nil || a.Output != "table" {
		return err
	}
	return a.PrintChanges(p)
}

// PrintChanges prints what a plan would change, a line each.
func (a *App) PrintChanges(p Plan) error {
	if p.Counts == nil {
		return nil
	}
	fmt.Fprintf(a.Out, "\n%d to create, %d to change, %d to remove, %d that follow, %d that stop it\n",
		p.Counts.Create, p.Counts.Change, p.Counts.Remove, p.Counts.Follows, p.Counts.Stops)
	if len(p.Changes) == 0 {
		return nil
	}
	columns := []show.Column[api.PlanChange]{
		{Header: "ACTION", Value: func(c api.PlanChange) string { return c.Action }},
		{Header: "KIND", Value: func(c api.PlanChange) string { return c.Kind }},
		{Header: "NAME", Value: func(c api.PlanChange) string { return c.Name }},
		{Header: "NOTE", Value: func(c api.PlanChange) string { return c.Note }},
	}
	if p.ObjectKind != "" && p.ScopeID == "" {
		columns = slices.Concat([]show.Column[api.PlanChange]{{Header: "STEP", Value: func(c api.PlanChange) string { return c.Task }}}, columns[:3],
			[]show.Column[api.PlanChange]{
				{Header: "BEFORE", Value: func(c api.PlanChange) string { return c.Before }}, {Header: "AFTER", Value: func(c api.PlanChange) string { return c.After }},
			}, columns[3:])
	}
	err := show.Table(a.Out, columns, p.Changes, true)
	if p.LeftOut > 0 {
		fmt.Fprintf(a.Out, "%d more are not kept\n", p.LeftOut)
	}
	return err
}

// Applying carries out plans.
type Applying struct {
	App  *App
	wait bool
}

// Flags adds the flags of the command.
func (r *Applying) Flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.wait, "wait", false, "wait for the job; the exit code tells its outcome")
}

// Apply does what a plan of the action showed: with the plan's own request.
func (r *Applying) Apply(ctx context.Context, c *client.Client, p Plan, action Action, id string) error {
	if action.New {
		id = ""
	}
	_, job, err := action.apply(ctx, c, id, p.Request, []client.Option{client.AsPlanned(p.ID)})
	if err != nil {
		return err
	}
	if !r.wait {
		r.App.Say("Job %s: %s. Follow it with: kloigos job follow %s", job, action.summary(), job)
	} else if _, err := r.App.Wait(ctx, c, job, false); err != nil {
		return err
	}
	if p, err = c.GetPlan(ctx, p.ID); err != nil {
		return err
	}
	return r.App.Print(p)
}
