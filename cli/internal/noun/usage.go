package noun

import (
	"strconv"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var usage = shape.Noun[api.UsageLine, api.UsageFilter]{
	Name: "usage", Plural: "lines of usage", Help: "What was in use: a line for each day and allocation (-o csv for a table program)",
	Columns: []show.Column[api.UsageLine]{
		{Header: "DAY", Value: func(l api.UsageLine) string { return l.Day }},
		{Header: "PROJECT", Value: func(l api.UsageLine) string { return l.Project }},
		{Header: "WORKSPACE", Value: func(l api.UsageLine) string { return l.Workspace }},
		{Header: "NAME", Value: func(l api.UsageLine) string { return l.Name }},
		{Header: "ALLOCATION", Value: func(l api.UsageLine) string { return l.AllocationID }},
		{Header: "CPUS", Value: func(l api.UsageLine) string { return strconv.FormatInt(l.CPUCount, 10) }},
		{Header: "MEMORY_BYTES", Value: func(l api.UsageLine) string { return strconv.FormatInt(l.MemoryBytes, 10) }},
		{Header: "VOLUME_BYTES", Value: func(l api.UsageLine) string { return strconv.FormatInt(l.VolumeBytes, 10) }},
		{Header: "SECONDS", Value: func(l api.UsageLine) string { return strconv.FormatFloat(l.Seconds, 'f', -1, 64) }},
	},
	ID:   func(l api.UsageLine) string { return l.Day + " " + l.AllocationID },
	List: shape.List("list-usage", (*client.Client).AllUsage),
}

var price = shape.Noun[api.Price, api.PriceFilter]{
	Name: "price", Plural: "prices", Help: "What resources cost; statements are made with it",
	Columns: []show.Column[api.Price]{
		{Header: "ID", Value: func(p api.Price) string { return p.ID }},
		{Header: "RESOURCE", Value: func(p api.Price) string { return p.Resource }},
		{Header: "PRICE", Value: func(p api.Price) string { return p.Price }},
		{Header: "CURRENCY", Value: func(p api.Price) string { return p.Currency }},
		{Header: "BEGINS", Value: func(p api.Price) string { return p.BeginsAt.UTC().Format(time.RFC3339) }},
		{Header: "STATE", Value: func(p api.Price) string { return p.State }},
	},
	ID:         func(p api.Price) string { return p.ID },
	Label:      func(p api.Price) string { return p.Resource },
	List:       shape.List("list-prices", (*client.Client).AllPrices),
	Operations: func(p api.Price) []api.Operation { return p.Operations },
	Actions: []shape.Action{
		shape.Create("create-price", "resource", (*client.Client).CreatePrice),
		shape.Delete("delete-price", (*client.Client).DeletePrice),
	},
}
