package domain

// Part is what a job of the joint table takes through a lifecycle.
type Part string

// The parts.
const (
	OfHost       Part = "host"
	OfUnit       Part = "units"          // the unit that the job names, or all of its host
	OfReplaced   Part = "replaced units" // of its host, by a new layout
	OfAllocation Part = "allocation"
	OfAddress    Part = "address" // of its allocation
	OfPlan       Part = "plan"
)

// PartInfo is what is known of a part.
type PartInfo struct {
	Part Part
	Noun string
	// Next returns the state of the noun that follows from another one on an event, or a Conflict.
	Next func(state string, on Event) (string, error)
}

// Parts are all parts, in the order in which their rows are written.
var Parts = []PartInfo{
	part(OfHost, HostLifecycle), part(OfUnit, UnitLifecycle), part(OfReplaced, UnitLifecycle), part(OfAllocation, AllocationLifecycle),
	part(OfAddress, AddressLifecycle), part(OfPlan, PlanLifecycle),
}

func part[S ~string](p Part, l Lifecycle[S]) PartInfo {
	return PartInfo{Part: p, Noun: l.Noun, Next: func(state string, on Event) (string, error) {
		next, err := l.Next(S(state), on)
		return string(next), err
	}}
}

// Info returns what is known of a part.
func (p Part) Info() PartInfo {
	for _, i := range Parts {
		if i.Part == p {
			return i
		}
	}
	panic("no part is called " + string(p))
}

// Leaves tells whether an event leads a part out of a state.
func (p Part) Leaves(state string, on Event) bool {
	if on == "" {
		return false
	}
	to, err := p.Info().Next(state, on)
	return err == nil && to != state
}

// Effect is what one moment of a job means for every part that it touches, at
// once and in one transaction, in the order of Parts. Others stay as they are.
type Effect []PartEvent

// PartEvent is an event of one part.
type PartEvent struct {
	Of Part
	On Event
}

// On returns the event of a part; "" if it stays as it is.
func (e Effect) On(p Part) Event {
	for _, x := range e {
		if x.Of == p {
			return x.On
		}
	}
	return ""
}
