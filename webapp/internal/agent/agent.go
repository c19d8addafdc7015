// Package agent owns the pages of agents: which hosts have one, when each was heard last, and what it says is wrong.
package agent

import (
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M2.500 4h11v7h-11zM5.500 13.500h5M8 11v2.500M4.500 7.500h1.500l1-1.500 1.500 3 1-1.500h2"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/agents", Label: "Agents", Icon: icon, Needs: "project.workspace.agent:read"}},
	Pages: []ui.Target{{Href: "/agents?state=quarantined", Label: "Quarantined agents", Icon: icon}},
	Nouns: []page.Noun{{Name: "agent", Path: "/agents/"}},
	Notices: map[string]string{
		"agent-revoked":  "The agent is revoked. Its heartbeats are refused.",
		"agent-released": "The agent is released. Its heartbeats count again.",
	},
}

var (
	stateTones    = states.Tones{"enrolled": ui.Good, "replaced": ui.Idle, "quarantined": ui.Bad, "revoked": ui.Shut}
	livenessTones = states.Tones{"on_time": ui.Good, "late": ui.Wait, "silent": ui.Bad, "none": ui.None}
)

var livenessMeans = map[string]string{
	"on_time": "its last heartbeat came within 20 seconds", "late": "no heartbeat for 20 seconds", "silent": "no heartbeat for 60 seconds", "none": "its heartbeats do not count",
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/agents", a.Page(list))
	r.Get("/agents/:id", a.Page(show))
	r.Post("/agents/:id/revoke", a.Page(revoke))
	r.Post("/agents/:id/release", a.Page(release))
}

func list(r *page.Request) error {
	f := api.AgentFilter{State: r.Query("state"), Host: r.Query("host")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListAgents(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Agents", Path: "/agents", Here: r.Here(),
		Means:   "An agent tells every 10 seconds how its host is. It never changes the host.",
		Filters: filters(f), Filtered: f.State+f.Host != "", Empty: len(found.Items) == 0,
		None: "No agents yet", NoneText: "Make a token with kloigos agent token HOST, and install the agent on the host as docs/agent.md says.", NoMatch: "No agent matches",
		Heads: []ui.Head{{Label: "Host"}, {Field: "state", Label: "State"}, {Label: "Heartbeats"}, {Label: "Last heartbeat"}, {Label: "Version"}, {Label: "What is wrong"}},
		Sort:  r.Sorter("id"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/agents", Body: agentsPage(l, found.Items)})
}

type view struct {
	object.Detail
	Agent api.Agent
}

func show(r *page.Request) error {
	a, err := r.API.GetAgent(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := view{Agent: a}
	g, ctx := errgroup.WithContext(r.Ctx)
	g.Go(func() (err error) {
		v.View, err = object.Load(ctx, r, "agent", a.ID, api.JobFilter{Object: a.ID})
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	at := "/agents/" + a.ID
	v.Up, v.Name, v.Here = []ui.Target{{Href: "/agents", Label: "Agents"}}, a.Host, at
	v.Tone, v.State, v.Means, v.Message = stateTones.Of(a.State), a.State, a.StateMeans, a.Message
	v.Operations = page.Operations(a.Operations, []ui.Operation{
		{Name: "release", Label: "Release", What: "Takes the agent back into use. Find the copy of its disk first.", Action: at + "/release"},
		{Name: "revoke", Label: "Revoke", What: "Refuses its key for good. The host must be enrolled again.", Action: at + "/revoke", Danger: true, Confirm: a.Host, Typed: "the host's name", Version: a.Version},
	})
	return r.Show(page.View{Title: "Agent of " + a.Host, Nav: "/agents", Body: agentPage(v)})
}

func revoke(r *page.Request) error {
	a, err := r.API.GetAgent(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if err := r.Typed(a.Host); err != nil {
		return err
	}
	if _, err := r.API.RevokeAgent(r.Ctx, a.ID, r.IfSeen()); err != nil {
		return err
	}
	return r.Go("/agents/"+a.ID, "agent-revoked")
}

func release(r *page.Request) error {
	a, err := r.API.ReleaseAgent(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return r.Go("/agents/"+a.ID, "agent-released")
}

func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%d %%", int64(float64(part)/float64(whole)*100+0.5))
}

func used(d api.AgentDisk) string { return percent(d.Total-d.Free, d.Total) }

func skew(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).String()
}

func load(r api.AgentReport) string {
	return fmt.Sprintf("%.2f, %.2f, %.2f", r.Load[0], r.Load[1], r.Load[2])
}
