package app

import (
	"kloigos/backend/internal/area/network/networkhttp"
	"kloigos/backend/internal/area/network/networkwork"
	"kloigos/backend/internal/kernel/reconcile"
)

// networkArea is networks; their addresses are still in the old packages.
func networkArea(p Parts) Area {
	return Area{
		Routes:        networkhttp.Routes(p.Engine),
		Policies:      []reconcile.Policy{networkwork.RowsPolicy(p.DB)},
		NotReconciled: map[string]string{"network": "it is rows only, which the policy network_rows completes; what hosts have of it is looked at with their addresses"},
	}
}
