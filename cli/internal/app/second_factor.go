package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

// secondFactorCommand is about the codes that one's own logins ask for. Neither password nor code is ever an argument.
func secondFactorCommand(a *shape.App) *cobra.Command {
	cmd := shape.Group("second-factor", "Codes of an authenticator app that your logins ask for")
	get := &cobra.Command{
		Use: "get", Short: "Show whether your logins ask for a code", Args: shape.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			found, err := c.GetSecondFactor(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(found)
		},
	}
	cmd.AddCommand(
		shape.Calls(get, "get-second-factor"),
		shape.Calls(proving(a, "enrol", "Begin a second factor and show its secret", "Password: ", func(ctx context.Context, c *client.Client, answer string) error {
			made, err := c.EnrolSecondFactor(ctx, api.ProvePassword{Password: answer})
			if err != nil {
				return err
			}
			a.Say("Give the secret to an authenticator app. It is shown once. Then run: kloigos second-factor confirm")
			return a.Print(made)
		}), "enrol-second-factor"),
		shape.Calls(proving(a, "confirm", "Confirm your second factor with a code", codeQuestion, func(ctx context.Context, c *client.Client, answer string) error {
			made, err := c.ConfirmSecondFactor(ctx, api.ConfirmSecondFactor{Code: answer})
			return printRecovery(a, made, err)
		}), "confirm-second-factor"),
		shape.Calls(proving(a, "recovery-codes", "Replace your recovery codes", "Password: ", func(ctx context.Context, c *client.Client, answer string) error {
			made, err := c.RenewRecoveryCodes(ctx, api.ProvePassword{Password: answer})
			return printRecovery(a, made, err)
		}), "renew-recovery-codes"),
		shape.Calls(proving(a, "remove", "Remove your second factor", "Password: ", func(ctx context.Context, c *client.Client, answer string) error {
			if err := c.RemoveSecondFactor(ctx, api.ProvePassword{Password: answer}); err != nil {
				return err
			}
			a.Say("The second factor is removed. Your logins ask for no code.")
			return nil
		}), "remove-second-factor"),
	)
	return cmd
}

const codeQuestion = "Code of your authenticator app: "

func printRecovery(a *shape.App, made api.RecoveryCodes, err error) error {
	if err != nil {
		return err
	}
	a.Say("Keep these recovery codes in a safe place. They are shown once; each works once.")
	return a.Print(made)
}

// proving is a command that asks for a password or a code first.
func proving(a *shape.App, use, short, question string, do func(ctx context.Context, c *client.Client, answer string) error) *cobra.Command {
	var stdin bool
	cmd := &cobra.Command{
		Use: use, Short: short, Args: shape.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			answer, err := askHidden(cmd.Context(), a, stdin, question)
			if err != nil {
				return err
			}
			return do(cmd.Context(), c, answer)
		},
	}
	cmd.Flags().BoolVar(&stdin, "stdin", false, "read the answer from the input, instead of a terminal")
	return cmd
}

func askHidden(ctx context.Context, a *shape.App, stdin bool, question string) (string, error) {
	if stdin {
		return a.ReadLine(ctx)
	}
	in, ok := a.In.(*os.File)
	if !ok || !shape.Terminal(in) {
		return "", shape.Usage("there is no terminal to ask at: give --stdin")
	}
	fmt.Fprint(a.Err, question)
	answer, err := readHidden(ctx, in)
	fmt.Fprintln(a.Err)
	return answer, err
}

// codeTries is how often a terminal is asked for a code.
const codeTries = 3

// confirm ends a login that waits for a code. With --password-stdin the code is the next line of the input.
func (l *login) confirm(ctx context.Context, conn *client.Client, pending string) (s api.Session, err error) {
	for range codeTries {
		if !l.passwordStdin {
			fmt.Fprint(l.app.Err, "Code of your authenticator app, or a recovery code: ")
		}
		code, err := l.app.ReadLine(ctx)
		if err != nil {
			return s, err
		}
		s, err = conn.ConfirmSession(ctx, api.ConfirmSession{Pending: pending, Code: strings.TrimSpace(code)})
		var p *api.Problem
		if l.passwordStdin || !errors.As(err, &p) || p.Code != "bad_code" {
			return s, err
		}
		fmt.Fprintln(l.app.Err, p.Detail)
	}
	return s, shape.Fail(shape.CodeUnauthorized, "no code was right; log in again")
}

// accountEventsCommand shows what happened to one's own account.
func accountEventsCommand(a *shape.App) *cobra.Command {
	return shape.Calls(&cobra.Command{
		Use: "account-events", Short: "List what happened to your account last", Args: shape.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			page, err := c.ListAccountEvents(cmd.Context())
			if err != nil {
				return err
			}
			return shape.PrintList(a, "events", []show.Column[api.Event]{
				{Header: "AT", Value: func(e api.Event) string { return show.Ago(e.At) }},
				{Header: "ACTION", Value: func(e api.Event) string { return e.Action }},
				{Header: "BY", Value: func(e api.Event) string { return e.Actor }},
				{Header: "FROM", Value: func(e api.Event) string { return e.Client }},
			}, page.Items, true)
		},
	}, "list-account-events")
}
