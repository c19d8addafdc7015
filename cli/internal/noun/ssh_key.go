package noun

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

type organizations = shape.Noun[api.Scope, api.OrganizationFilter]

// sshKeyText is the SSH key of an organization, as a person reads it.
type sshKeyText struct{ api.SSHKey }

var sshKeyHostColumns = []show.Column[api.SSHKeyHost]{
	{Header: "HOST", Value: func(h api.SSHKeyHost) string { return h.Name }},
	{Header: "WORKSPACE", Value: func(h api.SSHKeyHost) string { return h.Workspace }},
	{Header: "STATE", Value: func(h api.SSHKeyHost) string { return h.State }},
	{Header: "JOB", Value: func(h api.SSHKeyHost) string { return h.JobID }},
	{Header: "MESSAGE", Value: func(h api.SSHKeyHost) string { return h.Message }},
}

// PrintText prints the key, and below it the hosts that are not done.
func (k sshKeyText) PrintText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\n\nVersion %d is %s: %s.\n%d of %d hosts are done, %d are left behind.\n", show.Line(k.AuthorizedKey), k.Version, k.State, show.Line(k.StateMeans), k.Done, k.Hosts, k.Left)
	if err != nil || len(k.Waiting) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return show.Table(w, sshKeyHostColumns, k.Waiting, true)
}

func organizationOf(cmd *cobra.Command, a *shape.App, n organizations, name string) (*client.Client, api.Scope, error) {
	c, err := a.Client()
	if err != nil {
		return nil, api.Scope{}, err
	}
	found, err := n.Resolve(cmd.Context(), c, name)
	return c, found, err
}

func showSSHKey(a *shape.App, n organizations) *cobra.Command {
	return shape.Calls(&cobra.Command{
		Use: "ssh-key ORGANIZATION", Short: "Show the SSH key that reaches the hosts of an organization", Args: shape.Exactly("ORGANIZATION"), ValidArgsFunction: n.Complete(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, found, err := organizationOf(cmd, a, n, args[0])
			if err != nil {
				return err
			}
			key, err := c.GetSSHKey(cmd.Context(), found.ID)
			if err != nil {
				return err
			}
			return a.Print(sshKeyText{key})
		},
	}, "get-ssh-key")
}

// keyLook is how often the replacement of a key is looked at.
const keyLook = time.Second

func replaceSSHKey(a *shape.App, n organizations) *cobra.Command {
	var yes, wait bool
	cmd := &cobra.Command{
		Use: "replace-ssh-key ORGANIZATION", Short: "Replace the SSH key of an organization on all of its hosts", Args: shape.Exactly("ORGANIZATION"), ValidArgsFunction: n.Complete(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			c, found, err := organizationOf(cmd, a, n, args[0])
			if err != nil {
				return err
			}
			if err := a.Ask(ctx, yes, "Replace the SSH key of "+found.Path+" on all of its hosts?"); err != nil {
				return err
			}
			key, err := c.ReplaceSSHKey(ctx, found.ID)
			for err == nil && wait && key.State != "in_use" {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(keyLook):
					key, err = c.GetSSHKey(ctx, found.ID)
				}
			}
			if err != nil {
				return err
			}
			return a.Print(sshKeyText{key})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until every host has the new key alone")
	return shape.Calls(cmd, "replace-ssh-key")
}

func leaveSSHKeyHosts(a *shape.App, n organizations) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "leave-ssh-key-hosts ORGANIZATION HOST...", Short: "Have the replacement of an SSH key go on without some hosts", ValidArgsFunction: n.Complete(a),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return shape.Usage("give an organization and at least one host")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, found, err := organizationOf(cmd, a, n, args[0])
			if err != nil {
				return err
			}
			question := fmt.Sprintf("Leave %d hosts behind? Kloigos can't log in there until somebody puts the new key on them by hand.", len(args)-1)
			if err := a.Ask(cmd.Context(), yes, question); err != nil {
				return err
			}
			key, err := c.LeaveSSHKeyHosts(cmd.Context(), found.ID, api.LeaveHosts{Hosts: args[1:]})
			if err != nil {
				return err
			}
			return a.Print(sshKeyText{key})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return shape.Calls(cmd, "leave-ssh-key-hosts")
}
