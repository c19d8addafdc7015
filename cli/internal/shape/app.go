// Package shape turns nouns into commands: a noun is a value, and what is the
// same for all of them (list, get, create, change, delete, actions, waiting,
// plans, completion, output) is written here, once. It knows no noun.
package shape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"kloigos/backend/api/client"
	"kloigos/cli/internal/config"
	"kloigos/cli/internal/show"
)

// App is one run of the program.
type App struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	Nouns  []Entry

	// The flags of all commands.
	URL, Context, CAFile, Output, Workspace string
}

// Entry is a noun, whatever its type.
type Entry interface {
	// CommandName is the name of its command.
	CommandName() string
	// Command makes the commands of the noun.
	Command(*App) *cobra.Command
	// Names are those of its objects that begin so; none if the server does not
	// answer at once.
	Names(ctx context.Context, a *App, begin string) []string
	// AllActions are its actions, create, change and delete included.
	AllActions() []Action
	// OfPlan returns the id of the object that a plan is about.
	OfPlan(Plan) string
}

// Flags adds the flags of all commands.
func (a *App) Flags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&a.URL, "url", "", "URL of the server (KLOIGOS_URL; default: that of the context)")
	f.StringVar(&a.Context, "context", "", "name of the context (default: the current one)")
	f.StringVar(&a.CAFile, "ca-file", "", "file with the authorities that sign the server's certificate, in PEM")
	f.StringVarP(&a.Workspace, "workspace", "w", "", "workspace that the command is about: an id, or organization/project/workspace (KLOIGOS_WORKSPACE)")
	f.StringVarP(&a.Output, "output", "o", "table", "format: table, json, jsonl, yaml or csv; jsonl has one object a line, csv is for lists")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "jsonl", "yaml", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.ContextNames(), cobra.ShellCompDirectiveNoFileComp
	})
}

// CheckFlags refuses bad values of them.
func (a *App) CheckFlags() error {
	switch a.Output {
	case "table", "json", "jsonl", "yaml", "csv":
		return nil
	}
	return Usage("there is no format %q; use table, json, jsonl, yaml or csv", a.Output)
}

// ContextNames are the names of all contexts.
func (a *App) ContextNames() []string {
	f, _, err := a.Config()
	if err != nil {
		return nil
	}
	var names []string
	for _, c := range f.Contexts {
		names = append(names, c.Name)
	}
	return names
}

// Config loads the configuration.
func (a *App) Config() (f config.File, path string, err error) {
	if path, err = config.Path(a.Getenv); err != nil {
		return f, "", err
	}
	f, err = config.Load(path)
	return f, path, err
}

// Target is what a command talks to, and as whom.
func (a *App) Target() (config.Context, error) {
	f, _, err := a.Config()
	if err != nil {
		return config.Context{}, err
	}
	name := a.Context
	if name == "" {
		name = f.Current
	}
	var c config.Context
	if found := f.Find(name); found != nil {
		c = *found
	} else if a.Context != "" {
		return c, Usage("there is no context %q; kloigos context list shows all", a.Context)
	}
	if server := first(a.URL, a.Getenv("KLOIGOS_URL")); server != "" && strings.TrimRight(server, "/") != strings.TrimRight(c.Server, "/") {
		// The token and the authorities of a context are for its server only.
		c = config.Context{Server: server}
	}
	if token := a.Getenv("KLOIGOS_TOKEN"); token != "" {
		c.Token, c.TokenID = token, ""
	}
	c.CAFile = first(a.CAFile, c.CAFile)
	c.Workspace = first(a.Workspace, a.Getenv("KLOIGOS_WORKSPACE"), c.Workspace)
	if c.Server == "" {
		return c, Usage("no server is set; run kloigos login URL, or set KLOIGOS_URL and KLOIGOS_TOKEN")
	}
	return c, nil
}

// Client connects to the target. There must be a token.
func (a *App) Client() (*client.Client, error) {
	t, err := a.Target()
	if err != nil {
		return nil, err
	}
	if t.Token == "" {
		return nil, Fail(CodeUnauthorized, "no token for %s; log in with: kloigos login", t.Server)
	}
	return Connect(t)
}

// Connect makes a client, with or without a token. Passwords and tokens leave
// this machine encrypted only.
func Connect(t config.Context) (*client.Client, error) {
	u, err := url.Parse(t.Server)
	if err != nil || u.Host == "" {
		return nil, Usage("%q is not the URL of a server, such as https://kloigos.example", t.Server)
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, Usage("%s is not encrypted: anyone on the way could read the token. Use https", t.Server)
	}
	cfg := client.Config{BaseURL: t.Server, Token: t.Token, UserAgent: "kloigos"}
	if t.CAFile != "" {
		if cfg.CA, err = os.ReadFile(t.CAFile); err != nil {
			return nil, Usage("read the authorities: %w", err)
		}
	}
	c, err := client.New(cfg)
	if err != nil {
		return nil, &Failure{CodeUsage, err}
	}
	return c.WithWorkspace(t.Workspace), nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// Terminal tells whether a stream is one.
func Terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Say tells a person something; it is no output of the command.
func (a *App) Say(format string, args ...any) {
	fmt.Fprintln(a.Err, show.Line(fmt.Sprintf(format, args...)))
}

// Printer is an answer that prints itself for a person, without control
// characters.
type Printer interface{ PrintText(io.Writer) error }

// Print prints one object that has no columns.
func (a *App) Print(v any) error {
	switch a.Output {
	case "json":
		return show.JSON(a.Out, v)
	case "jsonl":
		return show.JSONLine(a.Out, v)
	case "yaml":
		return show.YAML(a.Out, v)
	}
	if p, ok := v.(Printer); ok {
		return p.PrintText(a.Out)
	}
	return show.Detail(a.Out, v)
}

// Ask asks a person to agree to something that can't be undone. Without a
// terminal there is nobody to ask, so --yes is needed.
func (a *App) Ask(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	if !Terminal(a.In) {
		return Usage("%s Give --yes to confirm this without a terminal", show.Line(question))
	}
	fmt.Fprint(a.Err, show.Line(question)+" [y/N] ")
	answer, err := readLine(ctx, a.In)
	if err != nil {
		return err
	}
	answer = strings.TrimSpace(answer)
	if !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		return Fail(CodeError, "nothing was done")
	}
	return nil
}

// readLine reads one line and gives up when the context ends, as an interrupt
// does.
func readLine(ctx context.Context, r io.Reader) (string, error) {
	type line struct {
		text string
		err  error
	}
	got := make(chan line, 1)
	go func() {
		var b strings.Builder
		one := make([]byte, 1) // not a byte more: the rest is not ours
		for {
			n, err := r.Read(one)
			if n == 1 && one[0] == '\n' || err != nil {
				if b.Len() > 0 || n == 1 {
					err = nil
				}
				if errors.Is(err, io.EOF) {
					err = Fail(CodeError, "the input ended before it was complete")
				}
				got <- line{strings.TrimSuffix(b.String(), "\r"), err}
				return
			}
			if n == 1 {
				b.WriteByte(one[0])
			}
		}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case l := <-got:
		return l.text, l.err
	}
}

// ReadLine reads one line of the input, as it is: spaces may belong to a password.
func (a *App) ReadLine(ctx context.Context) (string, error) { return readLine(ctx, a.In) }
