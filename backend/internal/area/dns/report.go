package dns

// Report says what a synchronization found and did.
type Report struct {
	Unchanged   bool   // the serial is the known one: nothing was read, and all else but Serial is empty
	Serial      uint32 // at which the zone was last read
	NegativeTTL uint32 // seconds
	Outside     int    // records that the server sent although their names are not in the zone
	// Results has every record set of the intent and of the server, as the last reading found it, sorted by name and type.
	Results []SetResult
	Applied int // changes that were made, those of an earlier attempt among them
	// Brake is set if nothing was applied since the plan changes too much. Plan is what a person then confirms.
	Brake *Brake
	Plan  Confirmation
}

// SetResult is what a synchronization says of one record set.
type SetResult struct {
	Result
	// Failure is why its change could not be made. It is nil if it was made, or if there was none to make.
	Failure *Failure
}

// Failure of a change or of a whole synchronization, in the words of the provider.
type Failure struct {
	Reason string // permanent, such as "update_refused"
	Retry  bool   // the same may succeed later
	Text   string // plain sentences for a user
}

// Settled reports whether the zone was in line with the intent when it was last read: all that is left to do is what a
// person has to decide on, or what the mode does not do.
func (r Report) Settled(mode Mode) bool {
	if r.Unchanged {
		return true
	}
	for _, result := range r.Results {
		if result.Failure != nil || mode != Observe && result.Outcome.Writes() {
			return false
		}
	}
	return r.Brake == nil
}
