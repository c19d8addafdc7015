package app

import "kloigos/backend/internal/area/network/networkhttp"

// networkArea is networks; their addresses are still in the old packages.
func networkArea(p Parts) Area {
	return Area{
		Routes:        networkhttp.Routes(p.Engine),
		NotReconciled: map[string]string{"network": "it is rows only; what hosts have of it is looked at with their addresses"},
	}
}
