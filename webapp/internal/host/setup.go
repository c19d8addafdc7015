package host

import (
	"strconv"

	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
)

// The steps by which a server becomes a host that carries units. Where a host
// stands follows from the host alone, so that a reload, another browser and
// another web app show the same.
const (
	stepAddress = iota + 1
	stepFingerprint
	stepProbe
	stepLayout
	stepPlan
	stepInitialize
)

var stepNames = []string{"Address and key", "Fingerprint", "Facts", "Layout", "Plan", "Initialize"}

// setupStep is one step of the way as it is drawn.
type setupStep struct {
	Number     int
	Name, Href string // Href is "" where it can't be gone to yet
	Done, Here bool
}

// reached is the step that waits to be done.
func reached(h api.Host) int {
	switch h.State {
	case "registered", "probing", "awaiting_host_key":
		if h.Fingerprint == "" || h.OfferedPrint != "" {
			return stepFingerprint
		}
		return stepProbe
	case "probed":
		if h.Layout == nil {
			return stepLayout
		}
		return stepPlan
	default:
		return stepInitialize
	}
}

// settingUp tells whether a host is still on the way to its first units.
func settingUp(h api.Host) bool {
	switch h.State {
	case "registered", "probing", "awaiting_host_key", "probed", "initializing", "init_failed":
		return true
	default:
		return false
	}
}

// setupSteps are the steps of a host with the one that is looked at; of no
// host yet where h is nil.
func setupSteps(h *api.Host, here int) []setupStep {
	steps := make([]setupStep, len(stepNames))
	for i, name := range stepNames {
		s := setupStep{Number: i + 1, Name: name, Here: i+1 == here}
		if h != nil {
			at := reached(*h)
			s.Done = s.Number < at || h.State == "ready"
			switch {
			case s.Number == stepLayout && at >= stepLayout && h.State == "probed":
				s.Href = "/hosts/" + h.ID + "/layout"
			case s.Number <= at:
				s.Href = setupAt(*h) + "?step=" + strconv.Itoa(s.Number)
			}
		}
		steps[i] = s
	}
	return steps
}

func setupAt(h api.Host) string { return "/hosts/" + h.ID + "/setup" }

type setupView struct {
	Host  api.Host
	Step  int
	Jobs  []api.Job
	Plans []api.Plan
}

// next names the step that follows, "" after the last.
func (v setupView) next() string {
	if v.Step >= len(stepNames) {
		return ""
	}
	return stepNames[v.Step]
}

// failure is the job that stopped the host on its way, nil if none did.
func (v setupView) failure() *api.Job {
	if v.Host.ActiveJob != "" || v.Step < reached(v.Host) && v.Host.State != "init_failed" {
		return nil
	}
	return lastFailed(v.Jobs)
}

// prevents says what keeps an operation from being done now.
func prevents(h api.Host, name string) string {
	for _, o := range h.Operations {
		if o.Name == name && !o.Allowed {
			return o.Prevents
		}
	}
	return ""
}

func setup(r *page.Request) error {
	h, err := r.API.GetHost(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := setupView{Host: h, Step: reached(h)}
	if v.Step == stepLayout { // what the probe found is looked at first
		v.Step = stepProbe
	}
	if asked, err := strconv.Atoi(r.Query("step")); err == nil && asked >= 1 && asked <= reached(h) {
		v.Step = asked
	}
	g, ctx := errgroup.WithContext(r.Ctx)
	g.Go(func() error {
		jobs, err := r.API.ListJobs(ctx, api.JobFilter{Host: h.ID, PageQuery: api.PageQuery{Limit: 8}})
		v.Jobs = jobs.Items
		return page.Optional(err)
	})
	g.Go(func() error {
		plans, err := r.API.ListPlans(ctx, api.PlanFilter{Host: h.ID, PageQuery: api.PageQuery{Limit: 5}})
		v.Plans = plans.Items
		return page.Optional(err)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return r.Show(page.View{Title: "Set up " + h.Name, Nav: "/hosts", Body: setupPage(v, r.Here())})
}

// goOn leads on after an action: back to the steps if it was one of them, else
// to the job that it made.
func goOn(r *page.Request, job, said string) error {
	if r.Form("from") == "setup" {
		return r.Go(hostURL(r)+"/setup", said)
	}
	return r.GoJob(job, hostURL(r), said)
}
