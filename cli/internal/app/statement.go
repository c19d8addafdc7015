package app

import (
	"strings"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

// statementCommand shows what an organization used in a month, and what it costs.
func statementCommand(a *shape.App) *cobra.Command {
	var f api.StatementFilter
	cmd := &cobra.Command{
		Use: "statement", Short: "Show what an organization used in a month, and what it costs",
		Example: "  kloigos statement --month 2026-11\n  kloigos statement --month 2026-11 -o csv",
		Args:    shape.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			s, err := c.GetStatement(cmd.Context(), f)
			if err != nil {
				return err
			}
			if a.Output != "table" && a.Output != "csv" {
				return a.Print(s)
			}
			for _, t := range s.Totals {
				a.Say("%s, %s: %s %s.", s.Organization, s.Month, t.Cost, t.Currency)
			}
			if len(s.Missing) > 0 {
				a.Say("Without a price at times: %s.", strings.Join(s.Missing, ", "))
			}
			return shape.PrintList(a, "usage in "+s.Month, statementColumns, s.Lines, true)
		},
	}
	cmd.Flags().StringVar(&f.Organization, "organization", "", "id or name (default: your only one)")
	cmd.Flags().StringVar(&f.Month, "month", "", "such as 2026-11 (default: this month)")
	return shape.Calls(cmd, "get-statement")
}

var statementColumns = []show.Column[api.StatementLine]{
	{Header: "PROJECT", Value: func(l api.StatementLine) string { return l.Project }},
	{Header: "WORKSPACE", Value: func(l api.StatementLine) string { return l.Workspace }},
	{Header: "RESOURCE", Value: func(l api.StatementLine) string { return l.Resource }},
	{Header: "QUANTITY", Value: func(l api.StatementLine) string { return l.Quantity }},
	{Header: "PRICE", Value: func(l api.StatementLine) string { return l.Price }},
	{Header: "COST", Value: func(l api.StatementLine) string { return l.Cost }},
	{Header: "CURRENCY", Value: func(l api.StatementLine) string { return l.Currency }},
}
