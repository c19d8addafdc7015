package app

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/cli/internal/shape"
)

// passwordCommand changes one's own password, or sets one with a link. Neither password nor link is ever an argument.
func passwordCommand(a *shape.App) *cobra.Command {
	cmd := shape.Group("password", "Your password")
	var changeStdin, setStdin bool
	change := &cobra.Command{
		Use: "change", Short: "Change your password; your other sessions end", Args: shape.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			old, fresh, err := askTwo(cmd.Context(), a, changeStdin, "Old password: ")
			if err != nil {
				return err
			}
			if err := c.ChangePassword(cmd.Context(), api.ChangePassword{OldPassword: old, Password: fresh}); err != nil {
				return err
			}
			a.Say("The password is changed. Your other sessions have ended.")
			return nil
		},
	}
	change.Flags().BoolVar(&changeStdin, "stdin", false, "read the old and the new password from the input, a line each")
	set := &cobra.Command{
		Use: "set", Short: "Set a password with a link that you were given", Args: shape.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := a.Target()
			if err != nil {
				return err
			}
			c, err := shape.Connect(t)
			if err != nil {
				return err
			}
			link, fresh, err := askTwo(cmd.Context(), a, setStdin, linkQuestion)
			if err != nil {
				return err
			}
			done, err := c.SetPassword(cmd.Context(), api.SetPassword{Link: link, Password: fresh})
			if err != nil {
				return err
			}
			a.Say("The password of %s is set.", done.Account)
			return nil
		},
	}
	set.Flags().BoolVar(&setStdin, "stdin", false, "read the link and the password from the input, a line each")
	cmd.AddCommand(shape.Calls(change, "change-password"), shape.Calls(set, "set-password"))
	return cmd
}

// askTwo reads what proves who asks, and the new password, which a terminal asks for twice.
func askTwo(ctx context.Context, a *shape.App, stdin bool, proof string) (first, fresh string, err error) {
	if stdin {
		if first, err = a.ReadLine(ctx); err != nil {
			return "", "", err
		}
		fresh, err = a.ReadLine(ctx)
		return first, fresh, err
	}
	in, ok := a.In.(*os.File)
	if !ok || !shape.Terminal(in) {
		return "", "", shape.Usage("there is no terminal to ask at: give --stdin")
	}
	var answers []string
	for _, question := range []string{proof, "New password: ", "New password, again: "} {
		fmt.Fprint(a.Err, question)
		answer, err := readHidden(ctx, in)
		fmt.Fprintln(a.Err)
		if err != nil {
			return "", "", err
		}
		answers = append(answers, answer)
	}
	if answers[1] != answers[2] {
		return "", "", shape.Usage("the two passwords differ")
	}
	return answers[0], answers[1], nil
}
