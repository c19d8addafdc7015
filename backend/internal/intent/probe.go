package intent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

// mostProbes is how many probes a host may have under way: one that began before
// what it is to find, and one behind it.
const mostProbes = 2

// ProbeHost asks for the host's facts to be read again. While as many do so
// already as are of use, the newest is returned: a host that lets them hang must
// not take all workers.
func (in *Intents) ProbeHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) (jobID uuid.UUID, err error) {
	err = in.onHost(ctx, call, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		under, err := underWay(ctx, tx, h.ID, domain.KindHostProbe)
		if err != nil {
			return err
		}
		if len(under) >= mostProbes {
			jobID = under[0]
			return recordMade(ctx, tx, call, "host", h.ID, jobID)
		}
		jobID, err = in.startAndEnqueue(ctx, tx, call, job.HostProbe{HostID: h.ID}, hostAudit(h, "host.probe"))
		return err
	})
	return jobID, err
}

// ProbeHosts asks for the facts of several hosts to be read again, by one job
// and one Ansible process. Each of them must be one that a probe leaves in its
// state: what a probe means for any other is settled by a job of its own.
func (in *Intents) ProbeHosts(ctx context.Context, call Call, ids []uuid.UUID) (jobID uuid.UUID, err error) {
	if err := checkHosts(ids); err != nil {
		return uuid.Nil, err
	}
	err = in.do(ctx, call, func(tx *store.Tx) error {
		hosts, err := tx.HeldHosts(ctx, ids)
		if err != nil {
			return err
		}
		if err := allTogether(hosts, call.Workspace, len(ids)); err != nil {
			return err
		}
		busy, err := tx.UnderWayTogether(ctx, ids, domain.KindHostsProbe, mostProbes)
		if err != nil {
			return fmt.Errorf("look for probes under way: %w", err)
		}
		if len(busy) > 0 {
			return domain.Conflictf("probes_under_way", "%d jobs probe these hosts already; wait for them: %s", mostProbes, strings.Join(busy, ", "))
		}
		if jobID, err = tx.Enqueue(ctx, call.Actor, call.Workspace, job.HostsProbe{HostIDs: ids}); err != nil {
			return err
		}
		for _, h := range hosts {
			a := hostAudit(h, "host.probe")
			a.JobID = jobID
			if err := tx.AddEvent(ctx, call.Actor, a); err != nil {
				return err
			}
		}
		return recordMade(ctx, tx, call, "job", jobID, jobID)
	})
	return jobID, err
}

func checkHosts(ids []uuid.UUID) error {
	var bad domain.Invalid
	if len(ids) == 0 || len(ids) > job.MostHosts {
		bad.Add("hosts", "must be 1 to %d hosts", job.MostHosts)
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			bad.Add(fmt.Sprintf("hosts[%d]", i), "is there twice")
		}
	}
	return bad.OrNil()
}

// allTogether makes sure that all of so many hosts are there and can be probed
// by one job; it names those that can't.
func allTogether(hosts []store.Host, workspace uuid.UUID, asked int) error {
	there := 0
	var cannot []string
	for _, h := range hosts {
		if h.RemovedAt != nil || h.WorkspaceID != workspace {
			continue
		}
		there++
		if canProbeTogether(h) != nil {
			cannot = append(cannot, fmt.Sprintf("%s (%s)", h.Name, h.State))
		}
	}
	if there != asked {
		return fmt.Errorf("one of the hosts: %w", domain.ErrNotFound)
	}
	if len(cannot) > 0 {
		return domain.Conflictf("host_state", "a probe changes the state of some of these hosts; probe them one by one: %s", strings.Join(cannot, ", "))
	}
	return nil
}

func canProbeTogether(h store.Host) error {
	if !domain.HostLifecycle.Stays(h.State, domain.ProbeRequested) {
		return domain.Conflictf("host_state", "it is %s: %s", h.State, domain.HostLifecycle.Info(h.State).Means)
	}
	return nil
}
