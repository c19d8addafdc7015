package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/config"
	"kloigos/cli/internal/shape"
)

type login struct {
	app           *shape.App
	account       string
	tokenFile     string
	tokenStdin    bool
	passwordStdin bool
}

func loginCommand(a *shape.App) *cobra.Command {
	l := &login{app: a}
	cmd := &cobra.Command{
		Use: "login [URL]", Short: "Log in to a server and keep the token in a context",
		Long: "Log in to a server and keep the token in a context.\n\n" +
			"Asks for account and password, or takes a token out of a file or the input. Neither is ever\n" +
			"an argument: other users of the machine can read arguments.",
		Example: "  kloigos login https://kloigos.example\n  kloigos login https://kloigos.example --context prod --token-file ~/token",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return shape.Usage("too many arguments: %s [URL]", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return l.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&l.account, "account", "", "name of the account (default: ask)")
	f.StringVar(&l.tokenFile, "token-file", "", "file with an API token, instead of account and password")
	f.BoolVar(&l.tokenStdin, "token-stdin", false, "read an API token from the input, instead of account and password")
	f.BoolVar(&l.passwordStdin, "password-stdin", false, "read the password from the input, and the code of a second factor from its next line")
	cmd.MarkFlagsMutuallyExclusive("token-file", "token-stdin", "password-stdin")
	return shape.Calls(cmd, "create-session", "confirm-session", "whoami")
}

func (l *login) run(ctx context.Context, args []string) error {
	a := l.app
	c := config.Context{Name: a.Context, Server: first(a.URL, a.Getenv("KLOIGOS_URL"))}
	if a.CAFile != "" {
		var err error
		if c.CAFile, err = filepath.Abs(a.CAFile); err != nil { // other commands run elsewhere
			return fmt.Errorf("find the authorities: %w", err)
		}
	}
	if len(args) == 1 {
		c.Server = args[0]
	}
	f, path, err := a.Config()
	if err != nil {
		return err
	}
	known := f.Find(first(a.Context, f.Current))
	if c.Server == "" { // log in again
		if known == nil {
			return shape.Usage("URL is missing: kloigos login https://kloigos.example")
		}
		c.Name, c.Server, c.CAFile = known.Name, known.Server, first(c.CAFile, known.CAFile)
		l.account = first(l.account, known.Account)
	}
	c.Server = strings.TrimRight(c.Server, "/")
	if c.Name == "" {
		u, err := url.Parse(c.Server)
		if err != nil || u.Host == "" {
			return shape.Usage("%q is not the URL of a server, such as https://kloigos.example", c.Server)
		}
		c.Name = u.Host
	}
	if err := l.obtain(ctx, &c); err != nil {
		return err
	}
	err = config.Update(path, func(f *config.File) error {
		f.Set(c)
		f.Current = c.Name
		return nil
	})
	if err != nil {
		return err
	}
	a.Say("Logged in to %s as %s until %s; context %s", c.Server, c.Account, c.ExpiresAt.UTC().Format("2006-01-02 15:04 MST"), c.Name)
	return nil
}

// obtain gets a token that the server takes.
func (l *login) obtain(ctx context.Context, c *config.Context) error {
	conn, err := shape.Connect(*c)
	if err != nil {
		return err
	}
	if l.tokenFile != "" || l.tokenStdin {
		if c.Token, err = l.readToken(ctx); err != nil {
			return err
		}
		who, err := conn.WithToken(c.Token).Whoami(ctx)
		if err != nil {
			return err
		}
		c.Account, c.ExpiresAt = who.Account, who.ExpiresAt
		return nil
	}
	account, password, err := l.ask(ctx)
	if err != nil {
		return err
	}
	s, err := conn.CreateSession(ctx, api.Login{Account: account, Password: password})
	if err == nil && s.Pending != "" {
		s, err = l.confirm(ctx, conn, s.Pending)
	}
	if err != nil {
		return err
	}
	c.Account, c.Token, c.TokenID, c.ExpiresAt = s.Account, s.Token, s.ID, s.ExpiresAt
	return nil
}

func (l *login) readToken(ctx context.Context) (string, error) {
	var token string
	if l.tokenFile != "" {
		raw, err := os.ReadFile(l.tokenFile)
		if err != nil {
			return "", shape.Usage("read the token: %w", err)
		}
		token = strings.TrimSpace(string(raw))
	} else {
		var err error
		if token, err = l.app.ReadLine(ctx); err != nil {
			return "", err
		}
		token = strings.TrimSpace(token)
	}
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", shape.Usage("the token is empty, or is no token")
	}
	return token, nil
}

func (l *login) ask(ctx context.Context) (account, password string, err error) {
	a := l.app
	account = l.account
	if account == "" {
		if l.passwordStdin || !shape.Terminal(a.In) {
			return "", "", shape.Usage("there is no terminal to ask at: give --account and --password-stdin, or --token-file")
		}
		fmt.Fprint(a.Err, "Account: ")
		if account, err = a.ReadLine(ctx); err != nil {
			return "", "", err
		}
		account = strings.TrimSpace(account)
	}
	if l.passwordStdin {
		password, err = a.ReadLine(ctx)
		return account, password, err
	}
	in, ok := a.In.(*os.File)
	if !ok || !shape.Terminal(in) {
		return "", "", shape.Usage("there is no terminal to ask at: give --password-stdin or --token-file")
	}
	fmt.Fprintf(a.Err, "Password of %s: ", account)
	password, err = readHidden(ctx, in)
	fmt.Fprintln(a.Err)
	return account, password, err
}

// readHidden reads a line without showing it. An interrupt brings the terminal
// back to what it was.
func readHidden(ctx context.Context, in *os.File) (string, error) {
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("hide the password: %w", err)
	}
	type line struct {
		text []byte
		err  error
	}
	got := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		got <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(fd, before))
	case l := <-got:
		return string(l.text), l.err
	}
}

func logoutCommand(a *shape.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "logout", Short: "End the session of the context and forget its token", Args: shape.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, path, err := a.Config()
			if err != nil {
				return err
			}
			c := f.Find(first(a.Context, f.Current))
			if c == nil || c.Token == "" {
				return shape.Fail(shape.CodeUnauthorized, "not logged in")
			}
			// A token that login did not make may be used elsewhere: it is only forgotten here.
			if c.TokenID != "" {
				conn, err := shape.Connect(*c)
				if err != nil {
					return err
				}
				if err := conn.DeleteSession(cmd.Context()); err != nil && !shape.HasStatus(err, http.StatusUnauthorized) {
					if !errors.Is(err, client.ErrUnreachable) {
						return err
					}
					a.Say("The server can't be reached: the session ends by itself at %s", c.ExpiresAt.UTC().Format("2006-01-02 15:04 MST"))
				}
			}
			name := c.Name
			err = config.Update(path, func(f *config.File) error {
				if c := f.Find(name); c != nil {
					c.Token, c.TokenID = "", ""
				}
				return nil
			})
			if err == nil {
				a.Say("Logged out of %s", name)
			}
			return err
		},
	}
	return shape.Calls(cmd, "delete-session")
}

func whoamiCommand(a *shape.App) *cobra.Command {
	return shape.Calls(&cobra.Command{
		Use: "whoami", Short: "Show the account that the token is of", Args: shape.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			who, err := c.Whoami(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(who)
		},
	}, "whoami")
}

// accessCommand asks whether one may do something, and why.
func accessCommand(a *shape.App) *cobra.Command {
	return shape.Calls(&cobra.Command{
		Use: "access PERMISSION [OBJECT]", Short: "Ask whether you may do something, and why",
		Example: "  kloigos access project.workspace.host:create default/default/default",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return shape.Usage("use: %s PERMISSION [OBJECT]", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			q := api.AccessQuery{Permission: args[0]}
			if len(args) == 2 {
				q.Object = args[1]
			}
			answer, err := c.GetAccess(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.Print(answer)
		},
	}, "get-access")
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
