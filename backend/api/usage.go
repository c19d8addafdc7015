package api

import (
	"net/http"
	"time"
)

// UsageLine is what one allocation had in use on one day.
type UsageLine struct {
	Day          string  `json:"day" doc:"in UTC, such as 2026-11-25"`
	Project      string  `json:"project" doc:"name of the project that it was in"`
	Workspace    string  `json:"workspace" doc:"name of the workspace, as it is called now"`
	AllocationID string  `json:"allocation_id" format:"uuid" doc:"id of the allocation"`
	Name         string  `json:"name" doc:"unit and login user, as they were called"`
	CPUCount     int64   `json:"cpu_count" doc:"how many CPUs it had"`
	MemoryBytes  int64   `json:"memory_bytes" doc:"the most that it may use"`
	VolumeBytes  int64   `json:"volume_bytes" doc:"size of its volume"`
	Seconds      float64 `json:"seconds" doc:"of the day, for which it had them"`
}

// UsageFilter says whose usage is listed.
type UsageFilter struct {
	PageQuery
	Scope string `query:"scope" maxLength:"200" doc:"an organization, a project or a workspace: id or path. Your only organization if it is not given"`
	First string `query:"first" maxLength:"10" doc:"first day, such as 2026-11-01; the first of this month if it is not given"`
	Last  string `query:"last" maxLength:"10" doc:"last day; today if it is not given. At most a year from the first"`
}

// Price is what a resource costs from a time on.
type Price struct {
	ID         string      `json:"id" format:"uuid"`
	Resource   string      `json:"resource" enum:"unit_hour,cpu_hour,memory_gib_hour,volume_gib_hour" doc:"what one of it is: an hour of a unit, of a CPU, of a GiB of memory or of a volume"`
	Price      string      `json:"price" doc:"a decimal number"`
	Currency   string      `json:"currency" doc:"three letters"`
	BeginsAt   time.Time   `json:"begins_at" doc:"it counts from then until the next price of the resource begins"`
	State      string      `json:"state" enum:"in_force,later,past" doc:"whether it counts now: later has not begun, past has been followed by another price"`
	CreatedBy  string      `json:"created_by" doc:"name of who added it"`
	CreatedAt  time.Time   `json:"created_at"`
	Operations []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
}

// CreatePrice adds a price.
type CreatePrice struct {
	Resource string    `json:"resource" enum:"unit_hour,cpu_hour,memory_gib_hour,volume_gib_hour" doc:"what one of it is"`
	Price    string    `json:"price" minLength:"1" maxLength:"20" doc:"a decimal number, such as 0.0125"`
	Currency string    `json:"currency" minLength:"3" maxLength:"3" doc:"three capital letters, such as EUR"`
	BeginsAt time.Time `json:"begins_at" doc:"this month at the earliest"`
}

// PriceFilter narrows the list of prices.
type PriceFilter struct{}

// Statement is what an organization used in a month, and what it costs.
type Statement struct {
	Organization string           `json:"organization" doc:"name of the organization"`
	Month        string           `json:"month" doc:"in UTC, such as 2026-11"`
	Over         bool             `json:"over" doc:"the month is over; before that, the statement grows"`
	Lines        []StatementLine  `json:"lines" nullable:"false" doc:"one for each workspace, resource and price"`
	Totals       []StatementTotal `json:"totals" nullable:"false" doc:"sums of the costs, one for each currency"`
	Missing      []string         `json:"missing" nullable:"false" doc:"resources that were used at times without a price"`
}

// StatementLine is what a workspace used of a resource at one price.
type StatementLine struct {
	Project   string `json:"project,omitempty" doc:"name of the project; absent for who may not see inside of the organization"`
	Workspace string `json:"workspace,omitempty" doc:"name of the workspace; absent like the project"`
	Resource  string `json:"resource" enum:"unit_hour,cpu_hour,memory_gib_hour,volume_gib_hour" doc:"what one of it is"`
	Quantity  string `json:"quantity" doc:"a decimal number"`
	Price     string `json:"price,omitempty" doc:"of one; absent if there was none"`
	Currency  string `json:"currency,omitempty" doc:"three letters"`
	Cost      string `json:"cost,omitempty" doc:"a decimal number with two digits; each line is rounded once"`
}

// StatementTotal is the sum of the lines of a currency.
type StatementTotal struct {
	Currency string `json:"currency" doc:"three letters"`
	Cost     string `json:"cost" doc:"sum of the lines"`
}

// StatementFilter says which statement is made.
type StatementFilter struct {
	Organization string `query:"organization" maxLength:"200" doc:"id or name; your only one if it is not given"`
	Month        string `query:"month" maxLength:"7" doc:"such as 2026-11; this month if it is not given"`
}

var _ = addRoutes(
	Route{"list-usage", http.MethodGet, "/usage", "organization.usage:read", "tenancy", "List what was in use, a line for each day and allocation", false},
	Route{"get-statement", http.MethodGet, "/statement", "organization.statement:read", "tenancy", "Show what an organization used in a month, and what it costs", false},
	Route{"list-prices", http.MethodGet, "/prices", "organization.statement:read", "tenancy", "List the prices of resources", false},
	Route{"create-price", http.MethodPost, "/prices", "installation.price:set", "tenancy", "Add a price of a resource from a time on", false},
	Route{"delete-price", http.MethodDelete, "/prices/{id}", "installation.price:set", "tenancy", "Delete a price that has not begun", false},
)
