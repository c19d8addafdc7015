package ui

import (
	"net/url"
	"slices"
)

// Column is a column of a table that can be shown or left out.
type Column struct {
	Key, Label string
	Default    bool // shown where nothing was chosen
}

// Columns are the columns of a table and which of them are shown. What was
// chosen stands in the address, as col=..., one for each.
type Columns struct {
	All   []Column
	Given []string // that were chosen; nil for the default
	Path  string   // of the list
	Query url.Values
}

// Has tells whether a column is shown.
func (c Columns) Has(key string) bool {
	if c.Given != nil {
		return slices.Contains(c.Given, key)
	}
	return slices.ContainsFunc(c.All, func(col Column) bool { return col.Key == key && col.Default })
}

// Plain is the address of the list with the columns of the default.
func (c Columns) Plain() string {
	if len(c.Query) == 0 {
		return c.Path
	}
	return c.Path + "?" + c.Query.Encode()
}

// kept are the filters, in a fixed order.
func (c Columns) kept() (all [][2]string) {
	keys := make([]string, 0, len(c.Query))
	for k := range c.Query {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		for _, v := range c.Query[k] {
			all = append(all, [2]string{k, v})
		}
	}
	return all
}
