package noun

import (
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var unit = shape.Noun[api.ComputeUnit, api.UnitFilter]{
	Name: "unit", Plural: "units", Help: "Compute units: parts of a host that can be allocated",
	Columns: []show.Column[api.ComputeUnit]{
		{Header: "NAME", Value: func(u api.ComputeUnit) string { return u.Name }},
		{Header: "STATE", Value: func(u api.ComputeUnit) string { return u.State }},
		{Header: "HOST", Value: func(u api.ComputeUnit) string { return u.Host }},
		{Header: "CPUS", Value: func(u api.ComputeUnit) string { return strconv.Itoa(u.CPUCount) }},
		{Header: "MEMORY", Value: func(u api.ComputeUnit) string { return show.Bytes(u.MemoryMaxBytes) }},
		{Header: "VOLUME", Value: func(u api.ComputeUnit) string { return show.Bytes(u.VolumeBytes) }},
		{Header: "LOGIN USER", Value: func(u api.ComputeUnit) string { return u.LoginUser }},
	},
	ID:      func(u api.ComputeUnit) string { return u.ID },
	Label:   func(u api.ComputeUnit) string { return u.Name },
	Version: func(u api.ComputeUnit) int64 { return u.Version },
	List:    shape.List("list-compute-units", (*client.Client).AllComputeUnits),
	Get:     shape.Get("get-compute-unit", (*client.Client).GetComputeUnit),
	Events:  shape.InWorkspace,
	ByName:  true,
	Actions: []shape.Action{
		shape.Do("close", "close-compute-unit", (*client.Client).CloseComputeUnit),
		shape.Do("open", "open-compute-unit", (*client.Client).OpenComputeUnit),
	},
}
