package app

import (
	"time"

	"github.com/spf13/cobra"

	"kloigos/cli/internal/config"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

// shown is a context without its token.
type shown struct {
	Name      string    `json:"name"`
	Current   bool      `json:"current"`
	URL       string    `json:"url"`
	Account   string    `json:"account,omitempty"`
	LoggedIn  bool      `json:"logged_in"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Workspace string    `json:"workspace,omitempty"`
}

func contextCommand(a *shape.App) *cobra.Command {
	cmd := shape.Group("context", "The servers that you are logged in to")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Aliases: []string{"ls"}, Short: "List contexts", Args: shape.Exactly(),
			RunE: func(*cobra.Command, []string) error { return listContexts(a) },
		},
		onContext(a, "use", "Make a context the current one", func(f *config.File, name string) { f.Current = name }),
		workspaceOfContext(a),
		onContext(a, "remove", "Forget a context and its token; kloigos logout ends the session", func(f *config.File, name string) { f.Delete(name) }),
	)
	return cmd
}

func listContexts(a *shape.App) error {
	f, _, err := a.Config()
	if err != nil {
		return err
	}
	contexts := []shown{}
	for _, c := range f.Contexts {
		contexts = append(contexts, shown{c.Name, c.Name == f.Current, c.Server, c.Account, c.Token != "", c.ExpiresAt, c.Workspace})
	}
	return shape.PrintList(a, "contexts", []show.Column[shown]{
		{Header: "CURRENT", Value: func(c shown) string { return show.YesNo(c.Current) }},
		{Header: "NAME", Value: func(c shown) string { return c.Name }},
		{Header: "URL", Value: func(c shown) string { return c.URL }},
		{Header: "ACCOUNT", Value: func(c shown) string { return c.Account }},
		{Header: "LOGGED IN", Value: func(c shown) string { return show.YesNo(c.LoggedIn) }},
	}, contexts, true)
}

func onContext(a *shape.App, name, help string, change func(*config.File, string)) *cobra.Command {
	return &cobra.Command{
		Use: name + " CONTEXT", Short: help, Args: shape.Exactly("CONTEXT"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.ContextNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			_, path, err := a.Config()
			if err != nil {
				return err
			}
			return config.Update(path, func(f *config.File) error {
				if f.Find(args[0]) == nil {
					return shape.Fail(shape.CodeNotFound, "there is no context %q; kloigos context list shows all", args[0])
				}
				change(f, args[0])
				return nil
			})
		},
	}
}

// workspaceOfContext sets what the commands of a context are about. The server is asked first, so that a wrong name is
// told here.
func workspaceOfContext(a *shape.App) *cobra.Command {
	return shape.Calls(&cobra.Command{
		Use: "workspace WORKSPACE", Short: "Set the workspace that commands are about; - leaves it to the server", Args: shape.Exactly("WORKSPACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, path, err := a.Config()
			if err != nil {
				return err
			}
			name := first(a.Context, f.Current)
			workspace := args[0]
			if workspace == "-" {
				workspace = ""
			} else {
				c, err := a.Client()
				if err != nil {
					return err
				}
				found, err := c.GetWorkspace(cmd.Context(), workspace)
				if err != nil {
					return err
				}
				workspace = found.Path
			}
			return config.Update(path, func(f *config.File) error {
				c := f.Find(name)
				if c == nil {
					return shape.Fail(shape.CodeNotFound, "there is no context %q; kloigos context list shows all", name)
				}
				c.Workspace = workspace
				return nil
			})
		},
	}, "get-workspace")
}
