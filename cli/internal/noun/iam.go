package noun

import (
	"strconv"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var scopeColumns = []show.Column[api.Scope]{
	{Header: "PATH", Value: func(s api.Scope) string { return s.Path }},
	{Header: "STATE", Value: scopeState},
	{Header: "CREATED", Value: func(s api.Scope) string { return show.Ago(s.CreatedAt) }},
	{Header: "ID", Value: func(s api.Scope) string { return s.ID }},
}

// scopeState is the state as it works: a scope in a suspended one is suspended.
func scopeState(s api.Scope) string {
	if s.SuspendedBy != "" {
		return "suspended by its " + s.SuspendedBy
	}
	return s.State
}

func scopeID(s api.Scope) string                  { return s.ID }
func scopePath(s api.Scope) string                { return s.Path }
func scopeVersion(s api.Scope) int64              { return s.Version }
func scopeOperations(s api.Scope) []api.Operation { return s.Operations }

var organization = shape.Noun[api.Scope, api.OrganizationFilter]{
	Name: "organization", Plural: "organizations", Help: "Organizations: teams that do not see each other's things",
	Columns: scopeColumns, ID: scopeID, Label: scopePath, Version: scopeVersion, ByName: true, Events: shape.InOrganization, Operations: scopeOperations,
	List: shape.List("list-organizations", (*client.Client).AllOrganizations),
	Get:  shape.Get("get-organization", (*client.Client).GetOrganization),
	Actions: []shape.Action{
		shape.Create("create-organization", "name", (*client.Client).CreateOrganization),
		shape.Change("change-organization", (*client.Client).ChangeOrganization),
		shape.Do("suspend", "suspend-organization", (*client.Client).SuspendOrganization).Asks("Suspend %s? Nothing in it can be changed then."),
		shape.Do("resume", "resume-organization", (*client.Client).ResumeOrganization),
		shape.Do("require-second-factor", "require-second-factor", (*client.Client).RequireSecondFactor).
			Asks("Ask for a second factor in %s? Sessions and tokens of people without one reach nothing in it then."),
		shape.Do("waive-second-factor", "waive-second-factor", (*client.Client).WaiveSecondFactor).Asks("Let people without a second factor into %s?"),
	},
	Extra: []func(*shape.App, shape.Noun[api.Scope, api.OrganizationFilter]) *cobra.Command{deleteScope[api.OrganizationFilter]("an", scopeCalls{
		(*client.Client).GetOrganization, (*client.Client).DeleteOrganization, (*client.Client).PlanOrganizationCascade, (*client.Client).CascadeOrganization,
	}), showSSHKey, replaceSSHKey, leaveSSHKeyHosts},
}

var project = shape.Noun[api.Scope, api.ProjectFilter]{
	Name: "project", Plural: "projects", Help: "Projects of an organization; each holds workspaces",
	Columns: scopeColumns, ID: scopeID, Label: scopePath, Version: scopeVersion, ByName: true, Events: shape.InOrganization, Operations: scopeOperations,
	List: shape.List("list-projects", (*client.Client).AllProjects),
	Get:  shape.Get("get-project", (*client.Client).GetProject),
	Actions: []shape.Action{
		shape.Create("create-project", "name", (*client.Client).CreateProject),
		shape.Change("change-project", (*client.Client).ChangeProject),
		shape.Do("suspend", "suspend-project", (*client.Client).SuspendProject).Asks("Suspend %s? Nothing in it can be changed then."),
		shape.Do("resume", "resume-project", (*client.Client).ResumeProject),
	},
	Extra: []func(*shape.App, shape.Noun[api.Scope, api.ProjectFilter]) *cobra.Command{deleteScope[api.ProjectFilter]("a", scopeCalls{
		(*client.Client).GetProject, (*client.Client).DeleteProject, (*client.Client).PlanProjectCascade, (*client.Client).CascadeProject,
	})},
}

var workspace = shape.Noun[api.Scope, api.WorkspaceFilter]{
	Name: "workspace", Plural: "workspaces", Help: "Workspaces of a project; each holds hosts, units and allocations",
	Columns: scopeColumns, ID: scopeID, Label: scopePath, Version: scopeVersion, ByName: true, Events: shape.InOrganization, Operations: scopeOperations,
	List: shape.List("list-workspaces", (*client.Client).AllWorkspaces),
	Get:  shape.Get("get-workspace", (*client.Client).GetWorkspace),
	Actions: []shape.Action{
		shape.Create("create-workspace", "name", (*client.Client).CreateWorkspace),
		shape.Change("change-workspace", (*client.Client).ChangeWorkspace),
		shape.DoWith("move", "move-workspace", (*client.Client).MoveWorkspace),
		shape.Do("suspend", "suspend-workspace", (*client.Client).SuspendWorkspace).Asks("Suspend %s? Nothing in it can be changed then."),
		shape.Do("resume", "resume-workspace", (*client.Client).ResumeWorkspace),
	},
	Extra: []func(*shape.App, shape.Noun[api.Scope, api.WorkspaceFilter]) *cobra.Command{deleteScope[api.WorkspaceFilter]("a", scopeCalls{
		(*client.Client).GetWorkspace, (*client.Client).DeleteWorkspace, (*client.Client).PlanWorkspaceCascade, (*client.Client).CascadeWorkspace,
	})},
}

var grant = shape.Noun[api.Grant, api.GrantFilter]{
	Name: "grant", Plural: "grants", Help: "Who has which role where; a role reaches everything below its scope",
	Columns: []show.Column[api.Grant]{
		{Header: "ID", Value: func(g api.Grant) string { return g.ID }},
		{Header: "ACCOUNT", Value: func(g api.Grant) string { return g.Account }},
		{Header: "ROLE", Value: func(g api.Grant) string { return g.Role }},
		{Header: "SCOPE", Value: func(g api.Grant) string { return g.Scope }},
		{Header: "INHERITED", Value: func(g api.Grant) string { return show.YesNo(g.Inherited) }},
		{Header: "SOURCE", Value: func(g api.Grant) string { return g.Source }},
	},
	ID:     func(g api.Grant) string { return g.ID },
	Label:  func(g api.Grant) string { return g.Account + " as " + g.Role + " at " + g.Scope },
	List:   shape.List("list-grants", (*client.Client).AllGrants),
	Get:    shape.Get("get-grant", (*client.Client).GetGrant),
	Events: shape.InOrganization,
	Actions: []shape.Action{
		shape.Create("create-grant", "account", (*client.Client).CreateGrant),
		shape.Delete("delete-grant", (*client.Client).DeleteGrant),
	},
}

var accountColumns = []show.Column[api.Account]{
	{Header: "NAME", Value: func(a api.Account) string { return a.Name }},
	{Header: "KIND", Value: func(a api.Account) string { return a.Kind }},
	{Header: "EMAIL", Value: func(a api.Account) string { return a.Email }},
	{Header: "STATE", Value: func(a api.Account) string { return a.State }},
	{Header: "ID", Value: func(a api.Account) string { return a.ID }},
}

func accountID(a api.Account) string   { return a.ID }
func accountName(a api.Account) string { return a.Name }

var account = shape.Noun[api.Account, api.AccountFilter]{
	Name: "account", Plural: "accounts", Help: "People and programs of the installation, for its operators",
	Columns: accountColumns, ID: accountID, Label: accountName, Version: func(a api.Account) int64 { return a.Version }, ByName: true, Events: shape.InInstallation,
	Operations: func(a api.Account) []api.Operation { return a.Operations },
	List:       shape.List("list-accounts", (*client.Client).AllAccounts),
	Get:        shape.Get("get-account", (*client.Client).GetAccount),
	Actions: []shape.Action{
		shape.Create("create-account", "name", (*client.Client).CreateAccount).Full(),
		shape.Change("change-account", (*client.Client).ChangeAccount),
		shape.Do("disable", "disable-account", (*client.Client).DisableAccount).Asks("Disable %s? Its sessions and tokens end at once."),
		shape.Do("enable", "enable-account", (*client.Client).EnableAccount),
		shape.Do("reset-password", "reset-password", (*client.Client).ResetPassword).Full(),
		shape.Do("reset-second-factor", "reset-second-factor", (*client.Client).ResetSecondFactor).Asks("Reset the second factor of %s, and remove their passkeys? Their logins then ask for the password only."),
	},
}

var member = shape.Noun[api.Account, api.MemberFilter]{
	Name: "member", Plural: "members", Help: "Accounts that have a role in an organization",
	Columns: accountColumns, ID: accountID,
	List: shape.List("list-members", (*client.Client).AllMembers),
}

var role = shape.Noun[api.Role, api.RoleFilter]{
	Name: "role", Plural: "roles", Help: "Sets of permissions that can be given in an organization",
	Columns: []show.Column[api.Role]{
		{Header: "NAME", Value: func(r api.Role) string { return r.Name }},
		{Header: "BUILT IN", Value: func(r api.Role) string { return show.YesNo(r.BuiltIn) }},
		{Header: "PERMISSIONS", Value: func(r api.Role) string { return strconv.Itoa(len(r.Permissions)) }},
		{Header: "DESCRIPTION", Value: func(r api.Role) string { return r.Description }},
	},
	ID: func(r api.Role) string { return r.ID }, Label: func(r api.Role) string { return r.Name }, Version: func(r api.Role) int64 { return r.Version }, Events: shape.InOrganization,
	List: shape.List("list-roles", (*client.Client).AllRoles),
	Get:  shape.Get("get-role", (*client.Client).GetRole),
	Actions: []shape.Action{
		shape.Create("create-role", "name", (*client.Client).CreateRole),
		shape.Change("change-role", (*client.Client).ChangeRole),
		shape.Delete("delete-role", (*client.Client).DeleteRole),
	},
}

var serviceAccount = shape.Noun[api.Account, api.ServiceAccountFilter]{
	Name: "service-account", Plural: "service accounts", Help: "Accounts of programs of an organization, and their keys",
	Columns: accountColumns, ID: accountID, Label: accountName, Version: func(a api.Account) int64 { return a.Version }, ByName: true, Events: shape.InOrganization,
	Operations: func(a api.Account) []api.Operation { return a.Operations },
	List:       shape.List("list-service-accounts", (*client.Client).AllServiceAccounts),
	Get:        shape.Get("get-service-account", (*client.Client).GetServiceAccount),
	Actions: []shape.Action{
		shape.Create("create-service-account", "name", (*client.Client).CreateServiceAccount),
		shape.Do("disable", "disable-service-account", (*client.Client).DisableServiceAccount).Asks("Disable %s? Its keys end at once."),
		shape.Do("enable", "enable-service-account", (*client.Client).EnableServiceAccount),
		shape.DoWith("create-key", "create-key", (*client.Client).CreateKey).Full(),
	},
	Extra: []func(*shape.App, shape.Noun[api.Account, api.ServiceAccountFilter]) *cobra.Command{listKeys, rotateKey, deleteKey},
}

type serviceAccounts = shape.Noun[api.Account, api.ServiceAccountFilter]

func listKeys(a *shape.App, n serviceAccounts) *cobra.Command {
	return shape.Calls(&cobra.Command{
		Use: "keys SERVICE_ACCOUNT", Short: "List the keys of a service account", Args: shape.Exactly("SERVICE_ACCOUNT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, account, err := serviceOf(cmd, a, n, args[0])
			if err != nil {
				return err
			}
			page, err := c.ListKeys(cmd.Context(), account.ID)
			if err != nil {
				return err
			}
			return shape.PrintList(a, "keys", []show.Column[api.Key]{
				{Header: "ID", Value: func(k api.Key) string { return k.ID }},
				{Header: "NAME", Value: func(k api.Key) string { return k.Name }},
				{Header: "BEGINS WITH", Value: func(k api.Key) string { return k.Prefix }},
				{Header: "EXPIRES", Value: func(k api.Key) string { return show.Ago(k.ExpiresAt) }},
				{Header: "LAST USED", Value: func(k api.Key) string { return show.AgoOf(k.LastUsedAt) }},
				{Header: "FORMER SECRET UNTIL", Value: func(k api.Key) string { return show.AgoOf(k.OldUntil) }},
			}, page.Items, true)
		},
	}, "list-keys")
}

func rotateKey(a *shape.App, n serviceAccounts) *cobra.Command {
	var hours int
	cmd := &cobra.Command{
		Use: "rotate-key SERVICE_ACCOUNT KEY", Short: "Give a key another secret; the former one works for a while", Args: shape.Exactly("SERVICE_ACCOUNT", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, account, err := serviceOf(cmd, a, n, args[0])
			if err != nil {
				return err
			}
			key, err := c.RotateKey(cmd.Context(), account.ID, args[1], api.RotateKey{Hours: hours})
			if err != nil {
				return err
			}
			return a.Print(key)
		},
	}
	cmd.Flags().IntVar(&hours, "hours", 24, "how long the former secret works too")
	return shape.Calls(cmd, "rotate-key")
}

func deleteKey(a *shape.App, n serviceAccounts) *cobra.Command {
	return shape.Calls(&cobra.Command{
		Use: "delete-key SERVICE_ACCOUNT KEY", Short: "End a key", Args: shape.Exactly("SERVICE_ACCOUNT", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, account, err := serviceOf(cmd, a, n, args[0])
			if err != nil {
				return err
			}
			return c.DeleteKey(cmd.Context(), account.ID, args[1])
		},
	}, "delete-key")
}

func serviceOf(cmd *cobra.Command, a *shape.App, n serviceAccounts, name string) (*client.Client, api.Account, error) {
	c, err := a.Client()
	if err != nil {
		return nil, api.Account{}, err
	}
	account, err := n.Resolve(cmd.Context(), c, name)
	return c, account, err
}
