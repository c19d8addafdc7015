package agent

import (
	"regexp"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/rollout"
)

// DeliveryNoun names update deliveries in events, policies and problems.
const DeliveryNoun = "update_delivery"

// Delivery brings a version of the agent to hosts of a workspace, in waves.
type Delivery struct {
	ID          uuid.UUID     `db:"id"`
	WorkspaceID uuid.UUID     `db:"workspace_id"`
	Name        string        `db:"name"`
	Version     string        `db:"version"`
	Region      string        `db:"region"` // of the hosts; "" for any
	Zone        string        `db:"zone"`
	State       rollout.State `db:"state"`
	Plan        rollout.Plan  `db:"plan"`
	Wave        int64         `db:"wave"`
	Waves       int64         `db:"waves"`
	Reason      string        `db:"reason"`
	NextAt      *time.Time    `db:"next_at"`
	EndedAt     *time.Time    `db:"ended_at"`
	Revision    int64         `db:"revision"` // counts changes; the ETag
	CreatedAt   time.Time     `db:"created_at"`
	UpdatedAt   time.Time     `db:"updated_at"`
}

// Rollout is how far the delivery is.
func (d Delivery) Rollout() rollout.Rollout {
	return rollout.Rollout{
		ID: d.ID, State: d.State, Plan: d.Plan, Wave: d.Wave, Waves: d.Waves, Reason: d.Reason, NextAt: d.NextAt, EndedAt: d.EndedAt, Version: d.Revision,
		UpdatedAt: d.UpdatedAt,
	}
}

// CanPause tells why the delivery cannot be paused; nil if it can.
func (d Delivery) CanPause() error { return d.Rollout().CanPause() }

// CanResume tells why the delivery cannot be resumed; nil if it can.
func (d Delivery) CanResume() error { return d.Rollout().CanResume() }

// CanRollBack tells why the delivery cannot be rolled back; nil if it can.
func (d Delivery) CanRollBack() error { return d.Rollout().CanRollBack() }

// DeliveryDraft is what somebody asks for.
type DeliveryDraft struct {
	Name, Version, Region, Zone string
	Plan                        rollout.Plan
}

var deliveryName = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,62}$`)

func (d DeliveryDraft) check() error {
	var bad fault.Invalid
	if !deliveryName.MatchString(d.Name) {
		bad.Add("name", "Use lower-case letters, digits, `_`, `.` and `-`; begin with a letter.")
	}
	if !version.MatchString(d.Version) {
		bad.Add("version", "Use the version of a build, such as v1.4.0.")
	}
	d.Plan.Check(&bad)
	return bad.OrNil()
}

func (d Delivery) facts() map[string]any {
	return map[string]any{"version": d.Version, "state": d.State, "wave": d.Wave, "waves": d.Waves, "reason": d.Reason, "region": d.Region, "zone": d.Zone}
}
