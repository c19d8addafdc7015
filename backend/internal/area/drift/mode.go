package drift

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// Mode is what is done about drift.
type Mode string

// Modes.
const (
	Observe Mode = "observe"
	Repair  Mode = "repair"
	Window  Mode = "window" // repair in a maintenance window
)

// Setting is the mode of a scope.
type Setting struct {
	Scope       string    `db:"scope"`
	ScopeID     uuid.UUID `db:"scope_id"`
	Mode        Mode      `db:"mode"`
	WindowDay   string    `db:"window_day"` // mon to sun; "" for each day
	WindowFrom  int64     `db:"window_from"`
	WindowHours int64     `db:"window_hours"`
	UpdatedBy   string    `db:"updated_by"`
	UpdatedAt   time.Time `db:"updated_at"`
}

// Repairs tells whether drift is repaired at a time.
func (s Setting) Repairs(now time.Time) bool {
	switch s.Mode {
	case Repair:
		return true
	case Window:
		now = now.UTC()
		for _, began := range []time.Time{now, now.AddDate(0, 0, -1)} { // a window may reach into the next day
			from := time.Date(began.Year(), began.Month(), began.Day(), int(s.WindowFrom), 0, 0, 0, time.UTC)
			day := strings.ToLower(from.Weekday().String()[:3])
			if (s.WindowDay == "" || s.WindowDay == day) && !now.Before(from) && now.Before(from.Add(time.Duration(s.WindowHours)*time.Hour)) {
				return true
			}
		}
	}
	return false
}

// order is which scope goes before which.
var order = []string{"unit", "host", "workspace", "organization"}

// settingOf is the mode of an object: that of the closest scope which has one.
func settingOf(all []Setting, unit uuid.UUID, h Host) Setting {
	ids := map[string]uuid.UUID{"unit": unit, "host": h.ID, "workspace": h.WorkspaceID, "organization": h.Organization}
	for _, scope := range order {
		for _, s := range all {
			if s.Scope == scope && s.ScopeID == ids[scope] && s.ScopeID != uuid.Nil {
				return s
			}
		}
	}
	return Setting{Mode: Observe}
}

func (s Setting) check() error {
	var bad fault.Invalid
	if s.Mode != Observe && s.Mode != Repair && s.Mode != Window {
		bad.Add("mode", "Use observe, repair or window.")
	}
	if s.WindowFrom < 0 || s.WindowFrom > 23 {
		bad.Add("window_from", "Use an hour from 0 to 23, in UTC.")
	}
	if s.WindowHours < 1 || s.WindowHours > 24 {
		bad.Add("window_hours", "Use 1 to 24 hours.")
	}
	return bad.OrNil()
}
