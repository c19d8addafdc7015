package playbook

import (
	"regexp"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/rollout"
)

// DeliveryNoun names deliveries of playbooks in events, policies and problems.
const DeliveryNoun = "playbook_delivery"

// Delivery gives a version of a playbook to hosts, in waves, and then makes it the default.
type Delivery struct {
	ID        uuid.UUID     `db:"id"`
	Name      string        `db:"name"`
	Playbook  string        `db:"playbook"`
	Version   int           `db:"version"`
	Before    int           `db:"before"` // the default when it began
	Region    string        `db:"region"` // of the hosts that come in waves; "" for any
	Zone      string        `db:"zone"`
	State     rollout.State `db:"state"`
	Plan      rollout.Plan  `db:"plan"`
	Wave      int64         `db:"wave"`
	Waves     int64         `db:"waves"`
	Reason    string        `db:"reason"`
	NextAt    *time.Time    `db:"next_at"`
	EndedAt   *time.Time    `db:"ended_at"`
	Revision  int64         `db:"revision"` // counts changes; the ETag
	CreatedAt time.Time     `db:"created_at"`
	UpdatedAt time.Time     `db:"updated_at"`
}

// Rollout is how far the delivery is.
func (d Delivery) Rollout() rollout.Rollout {
	return rollout.Rollout{
		ID: d.ID, State: d.State, Plan: d.Plan, Wave: d.Wave, Waves: d.Waves, Reason: d.Reason, NextAt: d.NextAt, EndedAt: d.EndedAt, Version: d.Revision,
		UpdatedAt: d.UpdatedAt,
	}
}

// CanRollBack tells why the delivery cannot be rolled back; nil if it can. A delivery that is done has become the default.
func (d Delivery) CanRollBack() error {
	if d.State == rollout.Done {
		return fault.Conflictf("playbook_delivery_done", "Version %d is the default of %s now. Make version %d the default again, or deliver it.", d.Version, d.Playbook, d.Before)
	}
	return d.Rollout().CanRollBack()
}

// DeliveryDraft is what somebody asks for.
type DeliveryDraft struct {
	Name, Playbook string
	Version        int
	Region, Zone   string
	Plan           rollout.Plan
}

var deliveryName = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,62}$`)

func (d DeliveryDraft) check() error {
	var bad fault.Invalid
	if !deliveryName.MatchString(d.Name) {
		bad.Add("name", "Use lower-case letters, digits, `_`, `.` and `-`; begin with a letter.")
	}
	if d.Version < 1 {
		bad.Add("playbook_version", "Use the number of a version.")
	}
	d.Plan.Check(&bad)
	return bad.OrNil()
}

func (d Delivery) facts() map[string]any {
	return map[string]any{
		"playbook": d.Playbook, "version": d.Version, "before": d.Before, "state": d.State, "wave": d.Wave, "waves": d.Waves, "reason": d.Reason,
		"region": d.Region, "zone": d.Zone,
	}
}

// firstWorkspace is where the events of playbooks are, which are in no workspace: it exists from the first release on.
var firstWorkspace = uuid.MustParse("00000000-0000-4000-8000-000000000003")

// playbookID stands for a playbook, whose key is its name.
func playbookID(name string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("playbook/"+name))
}

// unitPlaybook tells whether a playbook is played only on hosts that have units.
func unitPlaybook(name string) bool {
	return name == "unit_allocate" || name == "unit_deallocate" || name == "host_measure"
}
