package noun

import (
	"strconv"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

type allocations = shape.Noun[api.Allocation, api.AllocationFilter]

var allocation = allocations{
	Name: "allocation", Plural: "allocations", Aliases: []string{"alloc"}, Help: "Compute units that someone has, by login user",
	Columns: []show.Column[api.Allocation]{
		{Header: "LOGIN USER", Value: func(a api.Allocation) string { return a.LoginUser }},
		{Header: "STATE", Value: func(a api.Allocation) string { return a.State }},
		{Header: "UNIT", Value: func(a api.Allocation) string { return a.Unit }},
		{Header: "ADDRESS", Value: func(a api.Allocation) string { return a.Address }},
		{Header: "CPUS", Value: func(a api.Allocation) string { return strconv.Itoa(a.CPUCount) }},
		{Header: "MEMORY", Value: func(a api.Allocation) string { return show.Bytes(a.MemoryBytes) }},
		{Header: "AGE", Value: func(a api.Allocation) string { return show.Ago(a.CreatedAt) }},
		{Header: "ID", Value: func(a api.Allocation) string { return a.ID }},
	},
	ID:         func(a api.Allocation) string { return a.ID },
	Label:      func(a api.Allocation) string { return a.LoginUser },
	Version:    func(a api.Allocation) int64 { return a.Version },
	List:       shape.List("list-allocations", (*client.Client).AllAllocations),
	Get:        shape.Get("get-allocation", (*client.Client).GetAllocation),
	Find:       func(name string) api.AllocationFilter { return api.AllocationFilter{LoginUser: name, State: "live"} },
	Events:     shape.InWorkspace,
	Operations: func(a api.Allocation) []api.Operation { return a.Operations },
	Actions: []shape.Action{
		shape.PlannedCreate(shape.CreateJob("create-allocation", "login_user", (*client.Client).CreateAllocation), (*client.Client).PlanCreateAllocation).FromFile("ssh_keys"),
		shape.PlannedWith(shape.StartWith("replace-keys", "replace-allocation-keys", (*client.Client).ReplaceKeys), (*client.Client).PlanReplaceKeys).FromFile("ssh_keys").Alias("keys"),
		shape.Planned(shape.Start("move-network", "move-allocation-network", (*client.Client).MoveNetwork), (*client.Client).PlanMoveNetwork),
		shape.PlannedWith(shape.StartWith("deallocate", "deallocate", (*client.Client).Deallocate).Typed("confirm"), (*client.Client).PlanDeallocate),
	},
	Extra:      []func(*shape.App, allocations) *cobra.Command{sshCommand},
	PlanObject: func(p api.Plan) string { return p.AllocationID },
}
