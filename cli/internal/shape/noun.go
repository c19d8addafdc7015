package shape

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/show"
)

const (
	defaultLimit    = 50
	completionTime  = 3 * time.Second
	completionNames = 500
)

// Noun is a noun of the API: T is its type, F the filter of its list. Whatever
// is nil has no command.
type Noun[T, F any] struct {
	Name    string // as in "kloigos host"
	Plural  string
	Aliases []string
	Help    string // what it is, in a line
	Columns []show.Column[T]

	// ID is what the API's routes take, Label what people call the object; nil
	// if its id is all there is.
	ID      func(T) string
	Label   func(T) string
	Version func(T) int64 // ETag; nil if it has none

	List Lister[T, F]
	// Parent names the filter, by its query parameter, that list takes as its
	// argument: a list of versions needs its playbook.
	Parent string
	// Get takes an id. If ByName, it takes names too. Without it, an object is
	// looked for in the list.
	Get    Getter[T]
	ByName bool
	// Find narrows the list in which a name is looked for.
	Find func(name string) F
	// Detail prints more than the fields of one object.
	Detail func(*App, T) error
	// Single is set instead of List and Get where there is just one.
	Single Singleton[T]
	// Operations are those that the state allows and those that it prevents.
	Operations func(T) []api.Operation

	// Events is where the audit events that name its objects are listed; Nowhere if none do.
	Events EventsIn

	Actions []Action
	Nested  []Entry // nouns whose commands are below this one's
	// Extra are commands of another shape.
	Extra      []func(*App, Noun[T, F]) *cobra.Command
	PlanObject func(Plan) string // id of the object that a plan is about
}

// Lister lists objects of all pages by a route.
type Lister[T, F any] struct {
	route string
	all   func(*client.Client, context.Context, F) iter.Seq2[T, error]
}

// List makes a Lister.
func List[T, F any](route string, all func(*client.Client, context.Context, F) iter.Seq2[T, error]) Lister[T, F] {
	return Lister[T, F]{route, all}
}

// Getter reads one object by a route.
type Getter[T any] struct {
	route string
	get   func(*client.Client, context.Context, string) (T, error)
}

// Get makes a Getter.
func Get[T any](route string, get func(*client.Client, context.Context, string) (T, error)) Getter[T] {
	return Getter[T]{route, get}
}

// Singleton reads the only object by a route.
type Singleton[T any] struct {
	route string
	get   func(*client.Client, context.Context) (T, error)
}

// Single makes a Singleton.
func Single[T any](route string, get func(*client.Client, context.Context) (T, error)) Singleton[T] {
	return Singleton[T]{route, get}
}

// routeKey is the annotation of a command that names the routes it calls.
const routeKey = "routes"

func routes(ids ...string) map[string]string {
	return map[string]string{routeKey: strings.Join(ids, " ")}
}

// Calls notes which routes a command of its own shape calls.
func Calls(cmd *cobra.Command, ids ...string) *cobra.Command {
	cmd.Annotations = routes(ids...)
	return cmd
}

// RoutesOf are the routes that a command calls.
func RoutesOf(cmd *cobra.Command) []string { return strings.Fields(cmd.Annotations[routeKey]) }

// CommandName implements Entry.
func (n Noun[T, F]) CommandName() string { return n.Name }

// AllActions implements Entry.
func (n Noun[T, F]) AllActions() []Action { return n.Actions }

// OfPlan implements Entry.
func (n Noun[T, F]) OfPlan(p Plan) string {
	if n.PlanObject == nil {
		return p.ObjectID
	}
	return n.PlanObject(p)
}

// Command implements Entry.
func (n Noun[T, F]) Command(a *App) *cobra.Command {
	cmd := Group(n.Name, n.Help)
	cmd.Aliases = n.Aliases
	if n.Plural != "" && n.Plural != n.Name {
		cmd.Aliases = append([]string{n.Plural}, n.Aliases...)
	}
	if n.List.all != nil {
		cmd.AddCommand(n.listCommand(a))
	}
	if n.Get.get != nil || n.Single.get != nil || n.Label != nil {
		cmd.AddCommand(n.getCommand(a))
	}
	if n.Operations != nil {
		cmd.AddCommand(n.operationsCommand(a))
	}
	if n.Events != Nowhere {
		cmd.AddCommand(n.eventsCommand(a))
	}
	for _, action := range n.Actions {
		cmd.AddCommand(n.actionCommand(a, action))
	}
	for _, extra := range n.Extra {
		cmd.AddCommand(extra(a, n))
	}
	for _, nested := range n.Nested {
		cmd.AddCommand(nested.Command(a))
	}
	return cmd
}

// Group is a command that only has others below it.
func Group(name, help string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: help,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return Usage("%s has no command %q; see: %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// Exactly wants as many arguments as the names say, for an error that names what
// is missing.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return Usage("%s is missing: %s %s", names[len(args)], cmd.CommandPath(), strings.Join(names, " "))
		case len(args) > len(names):
			return Usage("too many arguments: %s %s", cmd.CommandPath(), strings.Join(names, " "))
		}
		return nil
	}
}

func (n Noun[T, F]) argument() string { return strings.ToUpper(strings.ReplaceAll(n.Name, "-", "_")) }

func (n Noun[T, F]) listCommand(a *App) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List " + strings.ReplaceAll(n.Plural, "-", " "), Args: Exactly(), Annotations: routes(n.List.route)}
	if n.Parent != "" {
		cmd.Use += " " + strings.ToUpper(n.Parent)
		cmd.Args = Exactly(strings.ToUpper(n.Parent))
		if e := a.entryNamed(n.Parent); e != nil {
			cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
				if len(args) > 0 {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				return e.Names(cmd.Context(), a, begin), cobra.ShellCompDirectiveNoFileComp
			}
		}
	}
	filters := a.addFields(cmd, reflect.TypeFor[F](), "query", "limit", "cursor", n.Parent)
	pages := addPaging(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := a.Client()
		if err != nil {
			return err
		}
		var f F
		filters.apply(&f)
		if n.Parent != "" {
			if err := setText(&f, "query", n.Parent, args[0]); err != nil {
				return err
			}
		}
		items, err := listed(a, pages, &f, func() iter.Seq2[T, error] { return n.List.all(c, cmd.Context(), f) })
		if err != nil {
			return err
		}
		return n.printList(a, items, pages.headers())
	}
	return cmd
}

// paging is the flags that say how much of a list is shown.
type paging struct {
	limit          int
	all, noHeaders bool
}

func addPaging(cmd *cobra.Command) *paging {
	p := &paging{}
	cmd.Flags().IntVar(&p.limit, "limit", defaultLimit, "show at most this many")
	cmd.Flags().BoolVar(&p.all, "all", false, "show all, of all pages")
	cmd.Flags().BoolVar(&p.noHeaders, "no-headers", false, "leave the header line of the table out")
	cmd.MarkFlagsMutuallyExclusive("limit", "all")
	return p
}

func (p *paging) headers() bool { return !p.noHeaders }

// listed reads as much of a list as is wanted, and says so if there is more.
// filter is a pointer to what list reads its page's size from.
func listed[T any](a *App, p *paging, filter any, list func() iter.Seq2[T, error]) ([]T, error) {
	limit := p.limit
	if p.all {
		limit = 0
	} else if limit < 1 {
		return nil, Usage("--limit must be 1 or more; --all shows all")
	}
	setLimit(filter, limit)
	items, more, err := collect(list(), limit)
	if more {
		a.Say("Only the first %d are shown; --all shows all.", limit)
	}
	return items, err
}

// collect takes objects until the limit, 0 for all, and tells whether there are
// more.
func collect[T any](all iter.Seq2[T, error], limit int) (items []T, more bool, err error) {
	items = []T{} // an empty list is [] in JSON
	for item, err := range all {
		if err != nil {
			return nil, false, err
		}
		if limit > 0 && len(items) == limit {
			return items, true, nil
		}
		items = append(items, item)
	}
	return items, false, nil
}

// setLimit asks for no larger pages than are needed: one object more tells
// whether there are more.
func setLimit(filter any, limit int) {
	v := reflect.ValueOf(filter).Elem()
	if q, ok := v.Interface().(api.PageQuery); ok {
		if limit > 0 && limit < 500 {
			q.Limit = limit + 1
		}
		v.Set(reflect.ValueOf(q))
		return
	}
	if q := v.FieldByName("PageQuery"); q.IsValid() && limit > 0 && limit < 500 {
		q.FieldByName("Limit").SetInt(int64(limit + 1))
	}
}

func (n Noun[T, F]) printList(a *App, items []T, headers bool) error {
	return PrintList(a, strings.ReplaceAll(n.Plural, "-", " "), n.Columns, items, headers)
}

// PrintList prints objects of one kind; plural names them.
func PrintList[T any](a *App, plural string, columns []show.Column[T], items []T, headers bool) error {
	type page struct {
		Items []T `json:"items"`
	}
	switch a.Output {
	case "json":
		return show.JSON(a.Out, page{items})
	case "yaml":
		return show.YAML(a.Out, page{items})
	case "jsonl":
		for _, item := range items {
			if err := show.JSONLine(a.Out, item); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return show.CSV(a.Out, columns, items)
	}
	if len(items) == 0 {
		a.Say("No %s.", plural)
		return nil
	}
	return show.Table(a.Out, columns, items, headers)
}

func (n Noun[T, F]) getCommand(a *App) *cobra.Command {
	if n.Single.get != nil {
		return &cobra.Command{
			Use: "get", Aliases: []string{"show"}, Short: "Show the " + n.Name, Args: Exactly(), Annotations: routes(n.Single.route),
			RunE: func(cmd *cobra.Command, _ []string) error {
				c, err := a.Client()
				if err != nil {
					return err
				}
				item, err := n.Single.get(c, cmd.Context())
				if err != nil {
					return err
				}
				return n.printOne(a, item)
			},
		}
	}
	return &cobra.Command{
		Use: "get " + n.argument(), Aliases: []string{"show"}, Short: "Show one " + strings.ReplaceAll(n.Name, "-", " "),
		Args: Exactly(n.argument()), ValidArgsFunction: n.complete(a), Annotations: routes(n.Get.route),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			item, err := n.Resolve(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return n.printOne(a, item)
		},
	}
}

func (n Noun[T, F]) printOne(a *App, item T) error {
	if err := a.Print(item); err != nil || a.Output != "table" || n.Detail == nil {
		return err
	}
	return n.Detail(a, item)
}

// Resolve finds the object that a person means: by its id, or by its name.
func (n Noun[T, F]) Resolve(ctx context.Context, c *client.Client, name string) (T, error) {
	var none T
	if name == "" {
		return none, Usage("the name of the %s is empty", n.Name)
	}
	_, notID := uuid.Parse(name)
	if n.Get.get != nil && (n.ByName || notID == nil || n.Label == nil) {
		return n.Get.get(c, ctx, name)
	}
	var f F
	if n.Find != nil && notID != nil {
		f = n.Find(name)
	}
	var found []T
	for item, err := range n.List.all(c, ctx, f) {
		if err != nil {
			return none, err
		}
		if n.ID(item) == name {
			return item, nil
		}
		if n.label(item) == name {
			found = append(found, item)
		}
	}
	switch len(found) {
	case 0:
		return none, Fail(CodeNotFound, "there is no %s %q", n.Name, name)
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, item := range found {
		ids = append(ids, n.ID(item))
	}
	return none, Fail(CodeConflict, "%d %s are called %q; use an id: %s", len(found), n.Plural, name, strings.Join(ids, ", "))
}

// label is what people call an object.
func (n Noun[T, F]) label(item T) string {
	if n.Label == nil {
		return n.ID(item)
	}
	return n.Label(item)
}

func (n Noun[T, F]) operationsCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "actions " + n.argument(), Short: "Show what can be done with one " + n.Name + " now, and what prevents the rest",
		Args: Exactly(n.argument()), ValidArgsFunction: n.complete(a), Annotations: routes(n.Get.route),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			item, err := n.Resolve(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return PrintList(a, "actions", operationColumns, n.Operations(item), true)
		},
	}
}

var operationColumns = []show.Column[api.Operation]{
	{Header: "ACTION", Value: func(o api.Operation) string { return o.Name }},
	{Header: "ALLOWED", Value: func(o api.Operation) string { return show.YesNo(o.Allowed) }},
	{Header: "PREVENTED BY", Value: func(o api.Operation) string { return o.Prevents }},
}

// complete offers names of objects to a shell.
func (n Noun[T, F]) complete(a *App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || n.List.all == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return n.Names(cmd.Context(), a, begin), cobra.ShellCompDirectiveNoFileComp
	}
}

// Names implements Entry.
func (n Noun[T, F]) Names(ctx context.Context, a *App, begin string) []string {
	c, err := a.Client()
	if err != nil || n.List.all == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	var names []string
	var f F
	for item, err := range n.List.all(c, ctx, f) {
		if err != nil || len(names) == completionNames {
			break
		}
		if name := n.label(item); strings.HasPrefix(name, begin) && show.Line(name) == name {
			names = append(names, name)
		}
	}
	return names
}

// Complete is the completion of the noun's names, for commands of another shape.
func (n Noun[T, F]) Complete(a *App) cobra.CompletionFunc { return n.complete(a) }

// HasStatus tells whether an error is an answer of the API with this status.
func HasStatus(err error, status int) bool {
	var p *api.Problem
	return errors.As(err, &p) && p.Status == status
}
