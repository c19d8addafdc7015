// Package lifecycle owns what nouns and kinds of jobs are as data: states, moves,
// deadlines. The guard in Go, the CHECK in SQL, diagrams and tests come from these
// values. It knows no noun.
package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kloigos/backend/internal/kernel/fault"
)

// Event is what happens to an object: it moves it from one state to the next.
type Event string

// StateInfo explains one state of a lifecycle.
type StateInfo[S ~string] struct {
	State S
	Means string // shown where a person meets the state
	// Deadline is how long an object may stay in a state that is in flight;
	// zero for states in which it may rest, also where it rests only while
	// something else that it belongs to is failed.
	Deadline time.Duration
	Failed   bool // a person has to act
	Final    bool // nothing leaves it
}

// Transition is one row of a lifecycle's table.
type Transition[S ~string] struct {
	From S
	On   Event
	To   S
}

// Move is some rows of a lifecycle's table: an event that leads from each of some states to the same one.
type Move[S ~string] struct {
	From []S
	On   Event
	To   S
}

// Table is the rows of all moves.
func Table[S ~string](moves []Move[S]) (all []Transition[S]) {
	for _, m := range moves {
		for _, from := range m.From {
			all = append(all, Transition[S]{from, m.On, m.To})
		}
	}
	return all
}

// Lifecycle is the whole life of one noun, as data: the guard in Go, the CHECK
// in SQL and the diagrams in the documentation all come from it.
type Lifecycle[S ~string] struct {
	Noun        string
	Initial     S
	States      []StateInfo[S]
	Transitions []Transition[S]
}

// Next returns the state that follows from on event, or a Conflict.
func (l Lifecycle[S]) Next(from S, on Event) (S, error) {
	for _, t := range l.Transitions {
		if t.From == from && t.On == on {
			return t.To, nil
		}
	}
	var none S
	return none, fault.Conflictf(l.Noun+"_state", "the %s is %s (%s); %s is not possible in this state",
		noun(l.Noun), from, l.Info(from).Means, strings.ReplaceAll(strings.TrimSuffix(string(on), "_requested"), "_", " "))
}

// Stays tells whether an event is taken in a state and leaves it as it is.
func (l Lifecycle[S]) Stays(s S, on Event) bool {
	next, err := l.Next(s, on)
	return err == nil && next == s
}

// From returns the states in which the event is taken, in table order.
func (l Lifecycle[S]) From(on Event) []S {
	var from []S
	for _, t := range l.Transitions {
		if t.On == on {
			from = append(from, t.From)
		}
	}
	return from
}

// After returns the states that the event leads to.
func (l Lifecycle[S]) After(on Event) []S {
	var to []S
	for _, t := range l.Transitions {
		if t.On == on && !slices.Contains(to, t.To) {
			to = append(to, t.To)
		}
	}
	return to
}

// Info returns what is known of a state.
func (l Lifecycle[S]) Info(s S) StateInfo[S] {
	for _, i := range l.States {
		if i.State == s {
			return i
		}
	}
	return StateInfo[S]{State: s, Means: "unknown"}
}

// Deadlines are the states that are in flight, and how many seconds an object
// may be in each, in table order.
func (l Lifecycle[S]) Deadlines() (states []string, seconds []int64) {
	for _, s := range l.States {
		if s.Deadline > 0 {
			states, seconds = append(states, string(s.State)), append(seconds, int64(s.Deadline/time.Second))
		}
	}
	return states, seconds
}

// Has tells whether s is a state of this noun.
func (l Lifecycle[S]) Has(s S) bool {
	return slices.ContainsFunc(l.States, func(i StateInfo[S]) bool { return i.State == s })
}

// Names returns all states, in table order.
func (l Lifecycle[S]) Names() []string {
	names := make([]string, len(l.States))
	for i, s := range l.States {
		names[i] = string(s.State)
	}
	return names
}

func noun(n string) string {
	if n == "unit" {
		return "compute unit"
	}
	return n
}

// Diagram draws the lifecycle as a Mermaid state diagram. Events that are taken
// without leaving the state are left out.
func (l Lifecycle[S]) Diagram() string {
	out := "stateDiagram-v2\n    [*] --> " + string(l.Initial) + "\n"
	for _, t := range l.Transitions {
		if t.From == t.To {
			continue
		}
		out += fmt.Sprintf("    %s --> %s: %s\n", t.From, t.To, t.On)
	}
	for _, s := range l.States {
		if s.Final {
			out += "    " + string(s.State) + " --> [*]\n"
		}
	}
	return out
}
