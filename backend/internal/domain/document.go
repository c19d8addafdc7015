package domain

import (
	"fmt"
	"strings"
)

// Document writes the lifecycles and the joint table as a page in Markdown. It
// is what docs/lifecycles.md holds; a test keeps that file fresh.
func Document() string {
	var b strings.Builder
	b.WriteString(`# Lifecycles

Generated from the tables in ` + "`backend/internal/domain`" + `; do not edit.
` + "`go test ./backend/internal/domain -update`" + ` writes it anew.

A state changes only along an arrow below, by a statement that names the old state. A state *in flight* ends with a job; the
minutes in the tables are its deadline. A *failed* state ends by a person's action. A *final* state does not end. Events that
leave the state as it is, such as a probe of a ready host, are not drawn.

`)
	b.WriteString("## Host\n\n" + section(HostLifecycle))
	b.WriteString("## Compute unit\n\n" + section(UnitLifecycle))
	b.WriteString("## Allocation\n\n" + section(AllocationLifecycle))
	b.WriteString("## Address\n\n" + section(AddressLifecycle))
	b.WriteString("## Job\n\n" + section(JobLifecycle))
	b.WriteString("## Plan\n\n" + section(PlanLifecycle))
	b.WriteString(joints())
	return b.String()
}

func section[S ~string](l Lifecycle[S]) string {
	var b strings.Builder
	b.WriteString("```mermaid\n" + l.Diagram() + "```\n\n| state | | means |\n|---|---|---|\n")
	for _, s := range l.States {
		nature := ""
		switch {
		case s.Final:
			nature = "final"
		case s.Failed:
			nature = "failed"
		case s.Deadline > 0:
			nature = fmt.Sprintf("in flight, %d min", int(s.Deadline.Minutes()))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.State, nature, s.Means)
	}
	b.WriteString("\n")
	return b.String()
}

func joints() string {
	var b strings.Builder
	b.WriteString(`## What a job means

The joint table says what each moment of a job does to every object of the job. All of it happens in one transaction with the
change of the job itself. A job of a host concerns all of its units that can take the event.

- *start*: the job is asked for, or retried;
- *failure*: it failed, or was cancelled;
- *waits*: it ended well, and a person has to confirm something;
- *withdrawn*: it was cancelled before its own work had begun; this replaces failure.

*Replaced units* are the units that give way to a new layout: the free ones, and those that could not be made. They take
` + "`replace_requested`" + ` once, with the request. If the layout is given up, only those that could not be made take
` + "`layout_withdrawn`" + `.

`)
	for _, j := range JointTable {
		playbook := "Playbook `" + j.Playbook + "`"
		if j.Playbook == "" {
			playbook = "The playbook of the action"
		}
		fmt.Fprintf(&b, "### `%s`\n\n%s. %s; steps: %s", j.Kind, capital(j.Means), playbook, strings.Join(j.Steps, ", "))
		switch {
		case j.Several:
			b.WriteString("; takes no lock of its hosts, which one Ansible process reads")
		case j.ReadOnly:
			b.WriteString("; takes no lock of the host")
		}
		switch {
		case j.GiveUp != "":
			fmt.Fprintf(&b, ". To give up after a failure enqueues `%s`.\n\n", j.GiveUp)
		default:
			b.WriteString(". After a failure it is retried.\n\n")
		}
		if len(j.Start) == 0 {
			b.WriteString("It changes no state.\n\n")
			continue
		}
		b.WriteString("| |")
		for _, p := range Parts {
			fmt.Fprintf(&b, " %s |", p.Part)
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(Parts)) + "\n")
		for _, m := range []struct {
			name string
			e    Effect
		}{{"start", j.Start}, {"success", j.Success}, {"failure", j.Failure}, {"waits", j.Waits}, {"withdrawn", j.Withdrawn}} {
			if len(m.e) == 0 {
				continue
			}
			fmt.Fprintf(&b, "| %s |", m.name)
			for _, p := range Parts {
				fmt.Fprintf(&b, " %s |", code(m.e.On(p.Part)))
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	b.WriteString(`### Declared lost

A person declares that a machine is gone for good. Its host, units, allocations and their addresses take ` + "`declared_lost`" + ` together,
and its jobs fail.
`)
	return b.String()
}

func code(e Event) string {
	if e == "" {
		return ""
	}
	return "`" + string(e) + "`"
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
