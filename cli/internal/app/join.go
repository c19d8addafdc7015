package app

import (
	"context"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
)

// joinCommand accepts an invitation. The link is never an argument.
func joinCommand(a *shape.App) *cobra.Command {
	cmd := shape.Group("join", "Accept an invitation with its link")
	var stdin bool
	account := &cobra.Command{
		Use: "new NAME", Short: "Make an account with the role of an invitation", Args: shape.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.Target()
			if err != nil {
				return err
			}
			c, err := shape.Connect(t)
			if err != nil {
				return err
			}
			link, password, err := askTwo(cmd.Context(), a, stdin, linkQuestion)
			if err != nil {
				return err
			}
			done, err := c.JoinByInvitation(cmd.Context(), api.JoinByInvitation{Link: link, Name: args[0], Password: password})
			if err != nil {
				return err
			}
			a.Say("You are %s of %s. Log in as %s.", done.Role, done.Scope, done.Account)
			return nil
		},
	}
	account.Flags().BoolVar(&stdin, "stdin", false, "read the link and the password from the input, a line each")
	cmd.AddCommand(
		shape.Calls(account, "join-by-invitation"),
		shape.Calls(proving(a, "show", "Show what the link of an invitation gives", linkQuestion, func(ctx context.Context, c *client.Client, answer string) error {
			offered, err := c.ShowOfferedRole(ctx, api.InvitationLink{Link: answer})
			if err != nil {
				return err
			}
			return a.Print(offered)
		}), "show-offered-role"),
		shape.Calls(proving(a, "accept", "Accept an invitation with your account", linkQuestion, func(ctx context.Context, c *client.Client, answer string) error {
			given, err := c.AcceptInvitation(ctx, api.InvitationLink{Link: answer})
			if err != nil {
				return err
			}
			a.Say("You are %s of %s.", given.Role, given.Scope)
			return nil
		}), "accept-invitation"),
	)
	return cmd
}

const linkQuestion = "Link: "
