// Package app is the program kloigos: the tree of commands out of the nouns, and
// the commands that are about no noun, such as login. It decides how an error is
// shown and which exit code it leads to.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"kloigos/cli/internal/noun"
	"kloigos/cli/internal/shape"
)

// Main runs the program with the arguments of the process and returns its exit
// code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
}

// Run runs one command and returns the exit code.
func Run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer, getenv func(string) string) int {
	cmd := New(&shape.App{In: in, Out: out, Err: errs, Getenv: getenv})
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	if err == nil || errors.Is(err, syscall.EPIPE) { // whoever read the output has enough of it
		return shape.CodeOK
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	fmt.Fprintln(errs, "kloigos: "+shape.Message(err))
	return shape.CodeOf(err)
}

// New makes the tree of commands.
func New(a *shape.App) *cobra.Command {
	a.Nouns = noun.All()
	root := shape.Group("kloigos", "The command line of Kloigos")
	root.Long = "The command line of Kloigos. Begin with: kloigos login URL\n\n" +
		"Exit codes: 0 done, 1 error, 2 wrong use or invalid request, 3 not found, 4 conflict,\n" +
		"5 not logged in or not allowed, 6 the job failed, 7 the server can't be reached."
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return shape.Usage("%w; see: %s --help", err, cmd.CommandPath())
	})
	a.Flags(root)
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.CheckFlags() }
	for _, n := range a.Nouns {
		root.AddCommand(n.Command(a))
	}
	root.AddCommand(loginCommand(a), logoutCommand(a), whoamiCommand(a), passwordCommand(a), joinCommand(a), secondFactorCommand(a), accountEventsCommand(a), accessCommand(a), statementCommand(a), kubeCommand(a), contextCommand(a), &cobra.Command{
		Use: "version", Short: "Show the version of this program", Args: shape.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Out, buildVersion())
			return err
		},
	})
	return root
}

// buildVersion is the commit that the program was built from, as the backend
// shows its own.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return info.Main.Version
}
