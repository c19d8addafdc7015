package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
)

// planned waits for the check of a plan and reads what it told.
func (c *checker) planned(ctx context.Context, plan api.Plan, job string) (api.Plan, error) {
	if err := c.i.follow(ctx, job); err != nil {
		return plan, err
	}
	plan, err := c.i.Client.GetPlan(ctx, plan.ID)
	if err != nil {
		return plan, fmt.Errorf("read the plan: %w", err)
	}
	if plan.State != "ready" || plan.Counts == nil {
		return plan, fmt.Errorf("the plan is %s", plan.State)
	}
	return plan, nil
}

// planNothing plans what has just been done, with a version from outside that says the same in other words: a check of it
// must say that nothing would change.
func (c *checker) planNothing(ctx context.Context) error {
	_, version, err := c.upload(ctx, "host_initialize", "roles/host_initialize/tasks/main.yml", func(text string) string { return text + "\n# The same.\n" })
	if err != nil {
		return err
	}
	plan, job, err := c.i.Client.PlanInitializeHost(ctx, c.i.Host.ID, client.PlaybookVersion(version))
	if err != nil {
		return fmt.Errorf("plan to initialize again: %w", err)
	}
	if plan, err = c.planned(ctx, plan, job); err != nil {
		return err
	}
	if plan.PlaybookVersion != version {
		return fmt.Errorf("the plan is of version %d, not of %d, which was to be tried", plan.PlaybookVersion, version)
	}
	var would []string
	for _, change := range plan.Changes {
		would = append(would, fmt.Sprintf("%s %s %s %s", change.Action, change.Kind, change.Name, change.Note))
	}
	if *plan.Counts != (api.PlanCounts{}) {
		return fmt.Errorf("it would change: %s", strings.Join(would, ", "))
	}
	return nil
}

// planTenant plans an allocation, looks at what it shows, and applies just that.
func (c *checker) planTenant(ctx context.Context, name string, request api.CreateAllocation) (visitor, error) {
	keyFile := c.i.path("id_" + name)
	public, err := makeKey(keyFile, name)
	if err != nil {
		return visitor{}, err
	}
	request.SSHKeys = []string{public}
	plan, job, err := c.i.Client.PlanCreateAllocation(ctx, request)
	if err != nil {
		return visitor{}, fmt.Errorf("plan an allocation: %w", err)
	}
	if plan, err = c.planned(ctx, plan, job); err != nil {
		return visitor{}, err
	}
	unit, err := c.i.Client.GetComputeUnit(ctx, plan.UnitID)
	if err != nil {
		return visitor{}, fmt.Errorf("read the unit: %w", err)
	}
	if unit.State != "free" {
		return visitor{}, fmt.Errorf("the plan left its unit %s", unit.State)
	}
	if err := shows(plan, unit); err != nil {
		return visitor{}, err
	}
	made, job, err := c.i.Client.CreateAllocation(ctx, request, client.AsPlanned(plan.ID))
	if err != nil {
		return visitor{}, fmt.Errorf("apply the plan: %w", err)
	}
	if err := c.i.follow(ctx, job); err != nil {
		return visitor{}, err
	}
	if made, err = c.i.Client.GetAllocation(ctx, made.ID); err != nil {
		return visitor{}, fmt.Errorf("read the allocation: %w", err)
	}
	if made.State != "allocated" || made.ID != plan.AllocationID || made.UID != plan.Proposal.UID || made.Address != plan.Proposal.Address {
		return visitor{}, fmt.Errorf("got %s, UID %d, %s; planned were UID %d and %s", made.State, made.UID, made.Address, plan.Proposal.UID, plan.Proposal.Address)
	}
	if err := c.i.knowHost(made); err != nil {
		return visitor{}, err
	}
	return c.i.visit(ctx, made, keyFile)
}

// shows fails if the plan of an allocation does not name what a tenant is made of.
func shows(plan api.Plan, unit api.ComputeUnit) error {
	if plan.Counts.Stops > 0 || plan.Proposal == nil {
		return errors.New("a run of the plan would stop")
	}
	user := plan.Proposal.LoginUser
	wanted := map[string]func(api.PlanChange) bool{
		"the user":  func(c api.PlanChange) bool { return c.Kind == "user" && c.Name == user && c.Action == "create" },
		"the group": func(c api.PlanChange) bool { return c.Kind == "group" && c.Name == user && c.Action == "create" },
		"the keys":  func(c api.PlanChange) bool { return c.Name == "/etc/kloigos/keys/"+user && c.Action == "create" },
		"the manifest": func(c api.PlanChange) bool {
			return c.Name == "/etc/kloigos/units/"+unit.ID+".json" && c.Action == "create"
		},
		"the volume": func(c api.PlanChange) bool { return strings.HasPrefix(c.Name, unit.Mount) },
		"the limits": func(c api.PlanChange) bool {
			return c.Kind == "file" && strings.Contains(c.Name, fmt.Sprintf("user-%d.slice.d/", plan.Proposal.UID)) && strings.Contains(c.After, "AllowedCPUs")
		},
		"the firewall": func(c api.PlanChange) bool {
			return c.Name == fmt.Sprintf("/etc/kloigos/nft/%d.nft", plan.Proposal.UID) && c.After != ""
		},
	}
	var missing []string
	for what, is := range wanted {
		found := false
		for _, change := range plan.Changes {
			found = found || is(change)
		}
		if !found {
			missing = append(missing, what)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the plan does not show %s among its %d changes", strings.Join(missing, ", "), len(plan.Changes))
	}
	return nil
}

// showsRemovals fails if a plan would stop, or does not show that these go, each a kind and a name.
func showsRemovals(plan api.Plan, all ...string) error {
	if plan.Counts.Stops > 0 {
		return errors.New("a run of the plan would stop")
	}
	var shown []string
	for _, change := range plan.Changes {
		if change.Action == "remove" {
			shown = append(shown, change.Kind+" "+change.Name)
		}
	}
	for _, want := range all {
		if !slices.Contains(shown, want) {
			return fmt.Errorf("the plan does not show that %s goes, but %s", want, strings.Join(shown, ", "))
		}
	}
	return nil
}
