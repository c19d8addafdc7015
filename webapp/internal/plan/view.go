package plan

import (
	"strconv"
	"strings"

	"kloigos/backend/api"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Plans                                     []api.Plan
	State, Host, Allocation, Approval, Action string
	Pages                                     ui.Pages
	Filtered                                  bool
}

var planActions = []string{
	"initialize-host", "refence-host", "relayout-host", "decommission-host", "create-allocation", "replace-allocation-keys", "move-allocation-network", "deallocate", "cascade-organization", "cascade-project",
	"cascade-workspace", "create-cluster", "delete-cluster", "add-cluster-nodes", "remove-cluster-node", "replace-cluster-node", "upgrade-cluster", "renew-cluster-certificates",
	"restore-cluster-snapshot", "create-hosted-control-plane", "delete-hosted-control-plane", "upgrade-hosted-control-plane", "sleep-hosted-control-plane", "wake-hosted-control-plane", "cross-check",
}

var planStates = []string{"checking", "ready", "failed", "applied", "expired"}

func tone(p api.Plan) ui.Tone {
	switch {
	case p.State == "failed":
		return ui.Bad
	case p.State == "checking":
		return ui.Busy
	case p.State == "applied":
		return ui.Good
	case p.Expired:
		return ui.Gone
	case len(p.Moved) > 0:
		return ui.Wait
	default:
		return ui.Idle
	}
}

func word(p api.Plan) string {
	switch {
	case p.Expired && p.State == "ready":
		return "expired"
	case len(p.Moved) > 0:
		return "outdated"
	default:
		return p.State
	}
}

type detailView struct {
	Plan     api.Plan
	Groups   []group
	Apply    ui.Operation
	Retry    []ui.Operation // of a check that failed
	Approve  api.Operation
	Refuse   api.Operation
	Why      string // it can't be applied
	Checked  bool
	Listed   bool // it lists what a job about an object would do
	Nothing  bool
	Stops    []api.PlanChange
	Follows  []api.PlanChange
	Changing int // things that are created, changed or removed
}

// group is the changes to things of one kind.
type group struct {
	Kind    string
	Changes []change
}

type change struct {
	api.PlanChange
	Lines []line
}

func viewOf(p api.Plan) detailView {
	v := detailView{Plan: p, Checked: p.Counts != nil, Listed: p.ObjectKind != "" && p.ScopeID == ""}
	if p.Counts != nil {
		v.Nothing = *p.Counts == api.PlanCounts{}
		v.Changing = p.Counts.Create + p.Counts.Change + p.Counts.Remove
	}
	at := map[string]int{}
	for _, c := range p.Changes {
		switch c.Action {
		case "stops":
			v.Stops = append(v.Stops, c)
			continue
		case "follows":
			v.Follows = append(v.Follows, c)
			continue
		}
		heading := c.Kind
		if v.Listed { // in the order of the steps
			heading = strings.ReplaceAll(c.Task, "_", " ")
		}
		i, ok := at[heading]
		if !ok {
			i = len(v.Groups)
			at[heading] = i
			v.Groups = append(v.Groups, group{Kind: heading})
		}
		v.Groups[i].Changes = append(v.Groups[i].Changes, change{c, diff(c.Before, c.After)})
	}
	v.Apply = ui.Operation{
		Label: "Apply this plan", What: "Makes these changes. Kloigos refuses if something has changed since the check.",
		Action: "/plans/" + p.ID + "/apply", Main: true, Confirm: typed(p), Danger: typed(p) != "", Typed: "the host's name",
	}
	switch {
	case p.Action == "deallocate":
		v.Apply.Typed = "the login user"
	case p.ObjectKind != "":
		v.Apply.Typed, v.Apply.What = "the name", "Does just this. Kloigos refuses if something has changed since the plan was made."
	}
	for _, o := range p.Operations {
		switch o.Name {
		case "apply":
			v.Apply.Allowed, v.Apply.Prevents, v.Why = o.Allowed, o.Prevents, o.Prevents
		case "approve":
			v.Approve = o
		case "refuse":
			v.Refuse = o
		}
	}
	return v
}

// given is how many approvals a plan has of those that it needs.
func given(a *api.PlanApprovals) string {
	if a.State == "refused" || a.State == "expired" {
		return a.State
	}
	return strconv.Itoa(a.Given) + " of " + strconv.Itoa(a.Needed)
}

var approvalTones = map[string]ui.Tone{"pending": ui.Wait, "approved": ui.Good, "refused": ui.Bad, "expired": ui.Gone}

var decisions = map[string]string{"approve": "approved", "refuse": "refused"}

var signs = map[string]string{"create": "+", "change": "~", "remove": "−"}

var classes = map[string]string{"create": "plan-create", "change": "plan-change", "remove": "plan-remove"}

// movedWord says what has changed since a plan was made.
func movedWord(p api.Plan, m string) string {
	switch {
	case m == "playbook":
		return "Another version of the playbook is the default now."
	case m == "variables":
		return "The variables of the play have changed."
	case p.ObjectKind != "":
		return "What the job would do, or what it depends on, has changed."
	default:
		return "The host, its units or the allocation changed, or another job started there."
	}
}

// line is one line of a diff: "add", "del", "at" (left out), or "".
type line struct{ Class, Text string }

const (
	around   = 3 // unchanged lines that are shown beside a change
	maxCells = 1 << 20
)

// diff compares line by line, by the longest common subsequence; texts that are
// too long for that are shown as they were and as they will be.
func diff(before, after string) []line {
	if before == after {
		return nil
	}
	a, b := split(before), split(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var all []line
	keep := func(lines []string) {
		for _, l := range lines {
			all = append(all, line{"", l})
		}
	}
	keep(a[:head])
	all = append(all, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	keep(a[len(a)-tail:])
	return shorten(all)
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

func middle(a, b []string) (all []line) {
	if len(a)*len(b) > maxCells {
		for _, l := range a {
			all = append(all, line{"del", l})
		}
		for _, l := range b {
			all = append(all, line{"add", l})
		}
		return all
	}
	longest := make([][]int32, len(a)+1)
	for i := range longest {
		longest[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			all = append(all, line{"", a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			all = append(all, line{"del", a[i]})
			i++
		default:
			all = append(all, line{"add", b[j]})
			j++
		}
	}
	return all
}

// shorten leaves out what is unchanged and far from any change.
func shorten(all []line) (short []line) {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.Class == "" {
			continue
		}
		for k := max(0, i-around); k <= min(len(all)-1, i+around); k++ {
			near[k] = true
		}
	}
	for i := 0; i < len(all); i++ {
		if near[i] {
			short = append(short, all[i])
			continue
		}
		from := i
		for i+1 < len(all) && !near[i+1] {
			i++
		}
		short = append(short, line{"at", "… " + ui.Count(i-from+1, "line") + " as before"})
	}
	return short
}

func sign(class string) string {
	switch class {
	case "add":
		return "+ "
	case "del":
		return "- "
	default:
		return "  "
	}
}
