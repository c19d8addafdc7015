package usage

import (
	"context"
	"encoding/json"
	"io"
	"strconv"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
)

// export sends the usage of a period as CSV.
func export(r *page.Request) error {
	p, speaker := periodOf(r), r.API
	first, err := speaker.ListUsage(r.Ctx, p.filter("", page.ExportPage))
	if err != nil {
		return err
	}
	return page.SendList(r, "usage.csv", "text/csv", first, func(ctx context.Context, cursor string) (api.Page[api.UsageLine], error) {
		return speaker.ListUsage(ctx, p.filter(cursor, page.ExportPage))
	}, usageTable)
}

func usageTable(w io.Writer) page.Rows[api.UsageLine] {
	return page.Table(w, func(l api.UsageLine) []string {
		return []string{
			l.Day, l.Project, l.Workspace, l.AllocationID, l.Name, strconv.FormatInt(l.CPUCount, 10), strconv.FormatInt(l.MemoryBytes, 10),
			strconv.FormatInt(l.VolumeBytes, 10), strconv.FormatFloat(l.Seconds, 'f', -1, 64),
		}
	}, "day", "project", "workspace", "allocation_id", "name", "cpu_count", "memory_bytes", "volume_bytes", "seconds")
}

// statementFile sends a statement as CSV, or as the JSON of the API.
func statementFile(r *page.Request) error {
	s, err := r.API.GetStatement(r.Ctx, api.StatementFilter{Organization: r.Query("organization"), Month: r.Query("month")})
	if err != nil {
		return err
	}
	if r.Query("format") == "json" {
		page.AsFile(r.C, "statement-"+s.Month+".json", "application/json")
		return json.NewEncoder(r.C).Encode(s)
	}
	page.AsFile(r.C, "statement-"+s.Month+".csv", "text/csv")
	to := page.Table(r.C, func(l api.StatementLine) []string {
		return []string{l.Project, l.Workspace, l.Resource, l.Quantity, l.Price, l.Currency, l.Cost}
	}, "project", "workspace", "resource", "quantity", "price", "currency", "cost")
	for _, l := range s.Lines {
		if err := to.Write(l); err != nil {
			return err
		}
	}
	return to.End("")
}
