package allocation

import (
	"errors"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// watchSamples is how many samples take about a minute.
const watchSamples = 20

type useView struct {
	Allocation api.Allocation
	Job        *api.Job // the newest that measured its host, if there is one
	Refused    string   // why it is not being measured, although someone just asked
}

// underWay tells whether it is being measured, or waits for that.
func (v useView) underWay() bool {
	return v.Job != nil && (v.Job.State == "queued" || v.Job.State == "running")
}

// failed tells whether the newest try came to nothing.
func (v useView) failed() bool {
	if v.Job == nil || v.Job.State != "failed" || v.Job.Error == nil {
		return false
	}
	use := v.Allocation.Use
	return use == nil || v.Job.FinishedAt == nil || v.Job.FinishedAt.After(use.MeasuredAt)
}

// use is the part of the page that is brought up to date by itself.
func use(r *page.Request) error {
	a, err := r.API.GetAllocation(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return drawUse(r, a, "")
}

func drawUse(r *page.Request, a api.Allocation, refused string) error {
	job, err := measuring(r, a)
	if err != nil {
		return err
	}
	return r.Fragment(usePanel(useView{Allocation: a, Job: job, Refused: refused}))
}

func measuring(r *page.Request, a api.Allocation) (*api.Job, error) {
	if a.EndedAt != nil || a.SharedHost { // the jobs of the host are its owner's
		return nil, nil
	}
	jobs, err := r.API.ListJobs(r.Ctx, api.JobFilter{Host: a.HostID, Kind: "host_measure", PageQuery: api.PageQuery{Limit: 1}})
	if err != nil || len(jobs.Items) == 0 {
		return nil, page.Optional(err)
	}
	return &jobs.Items[0], nil
}

// measure asks for the allocation's host to be measured: once, or for about a
// minute.
func measure(r *page.Request) error {
	a, err := r.API.GetAllocation(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	samples := 1
	if r.Form("watch") == "true" {
		samples = watchSamples
	}
	_, _, err = r.API.MeasureHost(r.Ctx, a.HostID, samples)
	var p *api.Problem
	switch {
	case err != nil && (!r.Live() || !errors.As(err, &p) || p.Status >= 500 || p.Status == 401):
		return err
	case r.Live():
		refused := ""
		if p != nil {
			refused = ui.Sentence(p.Detail)
		}
		return drawUse(r, a, refused)
	default:
		return r.Go("/allocations/"+a.ID+"#use", "")
	}
}

// gauges are what is shown of the use, measured or not.
func gauges(a api.Allocation) []ui.Gauge {
	cpu, memory, processes, disk := ui.Gauge{Name: "CPU"}, ui.Gauge{Name: "Memory"}, ui.Gauge{Name: "Processes and threads"}, ui.Gauge{Name: "Disk"}
	if u := a.Use; u != nil && u.CPUMillis != nil {
		whole := int64(a.CPUCount) * 1000
		cpu.Words = ui.CPUs(*u.CPUMillis) + " of " + ui.Count(a.CPUCount, "CPU")
		cpu.Used = ui.GaugeOf(*u.CPUMillis, whole)
		memory.Words = ui.Bytes(*u.MemoryBytes) + " of " + ui.Bytes(a.MemoryBytes)
		memory.Used, memory.Spare, memory.Full = ui.GaugeOf(*u.MemoryBytes, a.MemoryBytes), ui.GaugeOf(*u.CacheBytes, a.MemoryBytes), "nearly full"
		memory.Spare = min(memory.Spare, memory.Used)
		memory.Note = ui.Bytes(*u.CacheBytes) + " of it is file cache, freed when needed"
		processes.Words = ui.Number(*u.Processes) + " of " + ui.Number(a.TasksMax)
		processes.Used, processes.Full = ui.GaugeOf(*u.Processes, int64(a.TasksMax)), "nearly at the limit"
	}
	if u := a.Use; u != nil && u.DiskBytes != nil {
		disk.Words = ui.Bytes(*u.DiskUsedBytes) + " of " + ui.Bytes(*u.DiskBytes)
		disk.Used, disk.Full = ui.GaugeOf(*u.DiskUsedBytes, *u.DiskBytes), "nearly full"
	}
	return []ui.Gauge{cpu, memory, processes, disk}
}

// traffic says what went over the link of a unit with a network of its own; "" where it has none.
func traffic(u api.Use) string {
	if u.ReceivedBytes == nil || u.SentBytes == nil || u.ReceiveRate == nil || u.SendRate == nil {
		return ""
	}
	return "receives " + ui.Bytes(*u.ReceiveRate) + " and sends " + ui.Bytes(*u.SendRate) + " a second; " + ui.Bytes(*u.ReceivedBytes) + " received and " +
		ui.Bytes(*u.SentBytes) + " sent since its link was made"
}

// unitAt and hostAt are pages in the workspace of the host: who only shares the host has none.
func unitAt(a api.Allocation) string { return ownAt(a, "/compute-units/"+a.UnitID) }

func hostAt(a api.Allocation) string { return ownAt(a, "/hosts/"+a.HostID) }

func ownAt(a api.Allocation, path string) string {
	if a.SharedHost {
		return ""
	}
	return path
}
