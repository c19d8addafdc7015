// Package states owns which tone each state of each noun has, so that the same
// state looks the same on every page.
package states

import (
	"fmt"
	"reflect"
	"strings"

	"kloigos/webapp/internal/ui"
)

var host = map[string]ui.Tone{
	"registered": ui.Wait, "probing": ui.Busy, "awaiting_host_key": ui.Wait, "probed": ui.Wait,
	"initializing": ui.Busy, "init_failed": ui.Bad, "ready": ui.Good, "draining": ui.Shut,
	"decommissioning": ui.Busy, "decommission_failed": ui.Bad, "decommissioned": ui.Gone, "lost": ui.Gone,
}

var health = map[string]ui.Tone{
	"unknown": ui.None, "healthy": ui.Good, "degraded": ui.Wait, "unreachable": ui.Bad,
}

var unit = map[string]ui.Tone{
	"preparing": ui.Line, "preparation_failed": ui.Bad, "free": ui.Free, "allocating": ui.Busy, "allocated": ui.Used,
	"allocation_failed": ui.Bad, "deallocating": ui.Busy, "deallocation_failed": ui.Bad, "unavailable": ui.Shut,
	"removing": ui.Busy, "removed": ui.Gone,
}

var allocation = map[string]ui.Tone{
	"allocating": ui.Busy, "allocated": ui.Used, "allocation_failed": ui.Bad, "scaling": ui.Busy, "scale_failed": ui.Bad,
	"deallocating": ui.Busy, "deallocation_failed": ui.Bad, "deallocated": ui.Gone, "lost": ui.Gone,
}

var address = map[string]ui.Tone{
	"free": ui.Free, "reserved": ui.Busy, "allocated": ui.Used, "releasing": ui.Busy, "quarantined": ui.Wait, "unavailable": ui.Shut,
}

var job = map[string]ui.Tone{
	"queued": ui.Line, "running": ui.Busy, "cancelling": ui.Busy, "succeeded": ui.Good, "failed": ui.Bad, "cancelled": ui.Gone,
}

var step = map[string]ui.Tone{
	"pending": ui.Gone, "running": ui.Busy, "succeeded": ui.Good, "failed": ui.Bad,
}

// Tones are the tones of a noun's states, for an area that keeps its own.
type Tones map[string]ui.Tone

// Of is the tone of a state.
func (t Tones) Of(state string) ui.Tone { return toneOf(t, state) }

// Enum are the values that a field of a wire type may have. It panics if there is no such field: a test of the page finds that.
func Enum(wire any, field string) []string {
	f, ok := reflect.TypeOf(wire).FieldByName(field)
	if !ok || f.Tag.Get("enum") == "" {
		panic(fmt.Sprintf("%T.%s has no closed set of values", wire, field))
	}
	return strings.Split(f.Tag.Get("enum"), ",")
}

func toneOf(m map[string]ui.Tone, s string) ui.Tone {
	if t, ok := m[s]; ok {
		return t
	}
	return ui.Idle
}

// Host returns the tone of a host's state.
func Host(s string) ui.Tone { return toneOf(host, s) }

// Health returns the tone of a host's health.
func Health(s string) ui.Tone { return toneOf(health, s) }

// Unit returns the tone of a compute unit's state.
func Unit(s string) ui.Tone { return toneOf(unit, s) }

// Allocation returns the tone of an allocation's state.
func Allocation(s string) ui.Tone { return toneOf(allocation, s) }

// Address returns the tone of an address's state.
func Address(s string) ui.Tone { return toneOf(address, s) }

// Job returns the tone of a job's state.
func Job(s string) ui.Tone { return toneOf(job, s) }

// Step returns the tone of the state of a job's step.
func Step(s string) ui.Tone { return toneOf(step, s) }

// The states that lists can be filtered by, in the order of a life.
var (
	Hosts       = []string{"registered", "probing", "awaiting_host_key", "probed", "initializing", "init_failed", "ready", "draining", "decommissioning", "decommission_failed", "decommissioned", "lost"}
	Units       = []string{"preparing", "preparation_failed", "free", "allocating", "allocated", "allocation_failed", "deallocating", "deallocation_failed", "unavailable", "removing", "removed"}
	Allocations = []string{"live", "allocating", "allocated", "allocation_failed", "deallocating", "deallocation_failed", "deallocated", "lost"}
	Addresses   = []string{"free", "reserved", "allocated", "releasing", "quarantined", "unavailable"}
	Jobs        = []string{"active", "queued", "running", "cancelling", "ended", "succeeded", "failed", "cancelled"}
)
