package intent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/crypto/ssh"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

// RegisterHost is what is given when a host is registered.
type RegisterHost struct {
	Name, Address, AdminUser, Region, Zone string
	Port                                   int // 0: 22
	Networks                               []string
	Labels                                 map[string]string
	Profile                                domain.Profile // "": minimal
	Purpose                                string         // "": what the workspace is for
	HostKey                                string
	TrustOnFirstUse                        bool
}

// RegisterHost adds a host and enqueues its first probe. Only shape is checked
// here; what the host is comes from the probe.
func (in *Intents) RegisterHost(ctx context.Context, call Call, r RegisterHost) (host, jobID uuid.UUID, err error) {
	h, err := in.checkedHost(call.Workspace, r)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	err = in.do(ctx, call, func(tx *store.Tx) error {
		if err := hasPurpose(ctx, tx, &h); err != nil {
			return err
		}
		if err := keepNetworks(ctx, tx, call.Workspace, nil, h.Networks); err != nil {
			return err
		}
		if err := tx.InsertHost(ctx, h); err != nil {
			return err
		}
		audit := hostAudit(h, "host.register")
		audit.Before, audit.After = nil, map[string]any{
			"name": h.Name, "address": h.Address, "port": h.Port, "region": h.Region,
			"zone": h.Zone, "profile": h.Profile, "purpose": h.Purpose, "trust_on_first_use": h.TrustOnFirstUse,
		}
		jobID, err = in.startAndEnqueue(ctx, tx, call, job.HostProbe{HostID: h.ID}, audit)
		if err != nil {
			return err
		}
		return iam.HostBegins(ctx, tx.Tx, call.Workspace)
	})
	return h.ID, jobID, err
}

// hasPurpose gives a host what its workspace is for, or refuses another purpose.
func hasPurpose(ctx context.Context, tx *store.Tx, h *store.Host) error {
	kind, err := tx.WorkspaceType(ctx, h.WorkspaceID)
	if err != nil {
		return fmt.Errorf("load the workspace: %w", err)
	}
	if h.Purpose == "" {
		h.Purpose = store.PurposeUnits
		if kind == store.PurposeKubernetes {
			h.Purpose = store.PurposeKubernetes
		}
	}
	return store.CheckPurpose(h.Purpose, kind)
}

// CheckHost tells what is wrong with a registration, as RegisterHost would.
func (in *Intents) CheckHost(r RegisterHost) error {
	_, err := in.checkedHost(uuid.Nil, r)
	return err
}

func (in *Intents) checkedHost(workspace uuid.UUID, r RegisterHost) (store.Host, error) {
	var bad domain.Invalid
	bad.Check("name", domain.CheckHostName(r.Name))
	if slices.Contains([]string{"all", "ungrouped", "localhost"}, r.Name) {
		bad.Add("name", "%q is a reserved word of Ansible; choose another name", r.Name)
	}
	bad.Check("address", domain.CheckHostAddress(r.Address, in.cfg.Targets))
	if r.Port == 0 {
		r.Port = 22
	}
	if r.Port < 1 || r.Port > 65535 {
		bad.Add("port", "must be from 1 to 65535")
	}
	if r.AdminUser == "" {
		r.AdminUser = "root"
	}
	bad.Check("admin_user", domain.CheckAdminUser(r.AdminUser))
	if r.Region != "" {
		bad.Check("region", domain.CheckPlace(r.Region))
	}
	if r.Zone != "" {
		bad.Check("zone", domain.CheckPlace(r.Zone))
	}
	if len(r.Networks) == 0 {
		r.Networks = []string{"default"}
	}
	checkNetworks(&bad, r.Networks)
	bad.Check("labels", domain.CheckLabels(r.Labels))
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	switch r.Profile {
	case "":
		r.Profile = domain.ProfileMinimal
	case domain.ProfileMinimal, domain.ProfileStandard, domain.ProfileBuild:
	default:
		bad.Add("profile", "must be minimal, standard or build")
	}
	if r.Purpose != "" && r.Purpose != store.PurposeUnits && r.Purpose != store.PurposeKubernetes {
		bad.Add("purpose", "must be units or kubernetes")
	}
	key, err := checkHostKey(r.HostKey)
	bad.Check("host_key", err)
	if err := bad.OrNil(); err != nil {
		return store.Host{}, err
	}
	return store.Host{
		ID: uuid.New(), WorkspaceID: workspace, Name: r.Name, Address: r.Address,
		Port: r.Port, AdminUser: r.AdminUser, Region: r.Region, Zone: r.Zone, Networks: r.Networks, Labels: r.Labels,
		Profile: string(r.Profile), Purpose: r.Purpose, TrustOnFirstUse: r.TrustOnFirstUse, HostKey: key, State: domain.HostLifecycle.Initial,
		Incarnation: uuid.New(),
	}, nil
}

// checkHostKey reads a host key as it stands in known_hosts or in a .pub file
// and returns its type and base64.
func checkHostKey(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(s))
	if err != nil || len(options) > 0 {
		return "", errors.New("is not an SSH host key; copy the line of /etc/ssh/ssh_host_ed25519_key.pub")
	}
	if err := domain.CheckHostKey(key); err != nil {
		return "", err
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))), nil
}

// Fingerprint is the SHA-256 fingerprint of a stored host key, "" of none.
func Fingerprint(hostKey string) string {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(hostKey))
	if err != nil {
		return ""
	}
	return ssh.FingerprintSHA256(key)
}

// onHost runs an intent on a host that is there, at the version asked for.
func (in *Intents) onHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, f func(tx *store.Tx, h store.Host) error) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		err := holdVersion(ctx, "host", id, ifMatch, tx.HoldHost)
		if err != nil {
			return err
		}
		h, err := tx.Host(ctx, id)
		if err == nil {
			err = notRemoved(h)
		}
		if err != nil {
			return err
		}
		return f(tx, h)
	})
}

// ConfirmHostKey confirms the key that a host offers, by its fingerprint, and
// probes the host with it. It also confirms a key that has changed.
func (in *Intents) ConfirmHostKey(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, fingerprint string) (jobID uuid.UUID, err error) {
	err = in.onHost(ctx, call, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		if err := canConfirmKey(h); err != nil {
			return err
		}
		if Fingerprint(h.OfferedHostKey) != fingerprint {
			return domain.Conflictf("fingerprint_mismatch", "the host offers %s, which is not the fingerprint that you confirmed", Fingerprint(h.OfferedHostKey))
		}
		if err := tx.SetHostKey(ctx, h.ID, h.OfferedHostKey, h.HostKey); err != nil {
			return err
		}
		audit := hostAudit(h, "host.confirm_key")
		audit.Before = map[string]any{"fingerprint": Fingerprint(h.HostKey)}
		audit.After = map[string]any{"fingerprint": fingerprint}
		jobID, err = in.startAndEnqueue(ctx, tx, call, job.HostProbe{HostID: h.ID}, audit)
		return err
	})
	return jobID, err
}

func canConfirmKey(h store.Host) error {
	if h.OfferedHostKey == "" {
		return domain.Conflictf("no_key_offered", "there is no host key to confirm")
	}
	return takes(domain.HostLifecycle, h.State, domain.ProbeRequested)
}

// InitializeHost asks for a host and its units to be prepared; refence also
// replaces another incarnation in the host's fence.
func (in *Intents) InitializeHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, refence bool) (jobID uuid.UUID, err error) {
	err = in.onHost(ctx, call, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		can := canInitialize
		if refence {
			can = canRefence
		}
		if err := can(h); err != nil {
			return err
		}
		if err := in.identitiesAreFree(h); err != nil {
			return err
		}
		action := "host.initialize"
		if refence {
			action = "host.refence"
		}
		jobID, err = in.startAndEnqueue(ctx, tx, call, job.HostInitialize{HostID: h.ID, Refence: refence}, hostAudit(h, action))
		return err
	})
	return jobID, err
}

// identitiesAreFree refuses a host that is to carry tenants for the first time
// and gives their UIDs to others: in a user namespace over such a range, its
// owner reads the files of a tenant. A host with tenants is left as it is; each
// allocation is checked by itself there.
func (in *Intents) identitiesAreFree(h store.Host) error {
	if h.State != domain.HostProbed && h.State != domain.HostInitFailed || h.Purpose == store.PurposeKubernetes {
		return nil
	}
	given, possible := h.Facts.ClashingIDs(in.cfg.FirstUID, in.cfg.LastUID)
	all := append(given, possible...)
	if len(all) == 0 {
		return nil
	}
	more := ""
	if n := len(all) - maxNamedClashes; n > 0 {
		all, more = all[:maxNamedClashes], fmt.Sprintf("; and %d more", n)
	}
	return domain.Conflictf("uid_range_taken", "tenants get UIDs from %d to %d, and the host gives some of these to others: %s%s; change these ranges on the host and probe it, or set KLOIGOS_UID_RANGE",
		in.cfg.FirstUID, in.cfg.LastUID, strings.Join(all, "; "), more)
}

// maxNamedClashes limits how many ranges of a host one message names.
const maxNamedClashes = 5

// canInitialize also refuses a host that was never initialized here and has the
// fence of another installation: it would refuse, and the host could then be
// left neither as it is nor taken.
func canInitialize(h store.Host) error {
	if err := canRefence(h); err != nil {
		return err
	}
	if of := h.Facts.Incarnation; h.State == domain.HostProbed && of != "" && of != h.Incarnation.String() {
		return domain.Conflictf("foreign_fence", "the fence of another Kloigos is on this host; remove the host here, or re-fence it if no one else manages it")
	}
	return nil
}

func canRefence(h store.Host) error {
	if err := takes(domain.HostLifecycle, h.State, domain.InitializeRequested); err != nil {
		return err
	}
	if h.Layout == nil && h.Purpose != store.PurposeKubernetes {
		return domain.Conflictf("no_layout", "set a layout first")
	}
	if missing := h.Facts.Missing(); len(missing) > 0 {
		return domain.Conflictf(domain.ErrCodeHostUnsupported, "the host can't run units: %s", strings.Join(missing, "; "))
	}
	if h.Layout == nil {
		return nil
	}
	if err := h.Layout.Fits(*h.Facts); err != nil {
		return domain.Conflictf("layout_outdated", "the host changed since its layout was set: %v; set the layout again", err)
	}
	return nil
}

// DrainHost keeps a host from new allocations; UndrainHost lets them come.
func (in *Intents) DrainHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) error {
	return in.moveHost(ctx, call, id, ifMatch, domain.DrainRequested, "host.drain")
}

// UndrainHost lets new allocations come to a host that was drained.
func (in *Intents) UndrainHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) error {
	return in.moveHost(ctx, call, id, ifMatch, domain.DrainCancelled, "host.undrain")
}

func (in *Intents) moveHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, on domain.Event, action string) error {
	return in.onHost(ctx, call, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		to, err := tx.MoveHost(ctx, h.ID, h.State, on)
		if err != nil {
			return err
		}
		audit := hostAudit(h, action)
		audit.After = map[string]any{"state": to}
		if err := tx.AddEvent(ctx, call.Actor, audit); err != nil {
			return err
		}
		return recordMade(ctx, tx, call, "host", h.ID, uuid.Nil)
	})
}

// DecommissionHost asks for everything of Kloigos to be removed from a host
// that nobody uses.
func (in *Intents) DecommissionHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) (jobID uuid.UUID, err error) {
	err = in.onHost(ctx, call, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		if err := canDecommission(h); err != nil {
			return err
		}
		jobID, err = in.startAndEnqueue(ctx, tx, call, job.HostDecommission{HostID: h.ID}, hostAudit(h, "host.decommission"))
		return err
	})
	return jobID, err
}

func canDecommission(h store.Host) error {
	if err := takes(domain.HostLifecycle, h.State, domain.DecommissionRequested); err != nil {
		return err
	}
	if h.LiveAllocations > 0 {
		return domain.Conflictf("host_in_use", "it has %d allocations; deallocate them first", h.LiveAllocations)
	}
	return noNode(h)
}

// noNode refuses a host that is a node of a cluster.
func noNode(h store.Host) error {
	if h.ClusterNodes > 0 {
		return domain.Conflictf("host_in_use", "it is a node of a cluster; delete the cluster first")
	}
	return nil
}

// DeclareHostLost declares that a machine is off for good: its allocations are
// lost, their addresses quarantined, its units removed, its jobs failed.
func (in *Intents) DeclareHostLost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, confirm string) error {
	return in.onHost(ctx, call, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		if confirm != h.Name {
			return &domain.Invalid{Fields: []domain.FieldError{{Field: "confirm", Problem: "type the host's name, " + h.Name}}}
		}
		if _, err := tx.MoveHost(ctx, h.ID, h.State, domain.DeclaredLost); err != nil {
			return err
		}
		// The units first: this waits for a placement that has one of them and
		// has not committed, so that its allocation is among those read next.
		if _, err := tx.MoveUnitsOfHost(ctx, h.ID, domain.DeclaredLost, "its host was declared lost"); err != nil {
			return err
		}
		live, err := tx.LiveAllocationsOfHost(ctx, h.ID)
		if err != nil {
			return err
		}
		lost := domain.Effect{{Of: domain.OfAllocation, On: domain.DeclaredLost}, {Of: domain.OfAddress, On: domain.DeclaredLost}}
		for _, a := range live {
			if err := tx.Apply(ctx, lost, job.Subject{domain.OfAllocation: a.ID}, "its host was declared lost"); err != nil {
				return err
			}
			if err := tellTenant(ctx, tx, call, a); err != nil {
				return err
			}
		}
		why := domain.JobError{Code: "host_lost", Message: "The host was declared lost.", Host: h.Name}
		ended, err := tx.EndJobsOfHost(ctx, h.ID, why)
		if err != nil {
			return err
		}
		audit := hostAudit(h, "host.declare_lost")
		audit.After = map[string]any{"state": domain.HostLost, "allocations_lost": len(live), "jobs_failed": ended}
		if err := tx.AddEvent(ctx, call.Actor, audit); err != nil {
			return err
		}
		return recordMade(ctx, tx, call, "host", h.ID, uuid.Nil)
	})
}

// tellTenant writes the event of a lost allocation in its workspace, if its host is of another one.
func tellTenant(ctx context.Context, tx *store.Tx, call Call, a store.Allocation) error {
	if !a.OnSharedHost() {
		return nil
	}
	audit := allocationAudit(a, "allocation.lose")
	audit.After = map[string]any{"state": domain.AllocationLost}
	return tx.AddEvent(ctx, call.Actor, audit)
}

// RemoveHost takes a host that carries nothing of Kloigos out of every list.
func (in *Intents) RemoveHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) error {
	return in.onHost(ctx, call, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		if err := canRemove(h); err != nil {
			return err
		}
		// Also of a host that was laid out and then could not be probed again.
		if err := tx.DropPlannedUnits(ctx, h.ID); err != nil {
			return err
		}
		if err := tx.RemoveHost(ctx, h.ID, h.State); err != nil {
			return err
		}
		return tx.AddEvent(ctx, call.Actor, hostAudit(h, "host.remove"))
	})
}

func canRemove(h store.Host) error {
	switch h.State {
	case domain.HostRegistered, domain.HostAwaitingHostKey, domain.HostProbed, domain.HostDecommissioned, domain.HostLost:
		return noNode(h)
	case domain.HostProbing:
		return domain.Conflictf("host_state", "a probe is running; wait for it, or cancel the job")
	default:
		return domain.Conflictf("host_state", "it is %s; decommission it first, or declare it lost if the machine is gone", h.State)
	}
}

// HostOperations tells what can be done with a host now.
func HostOperations(h store.Host) []domain.Operation {
	lost := takes(domain.HostLifecycle, h.State, domain.DeclaredLost)
	return []domain.Operation{
		operation("update", canUpdate(h)),
		operation("probe", takes(domain.HostLifecycle, h.State, domain.ProbeRequested)),
		operation("probe-together", canProbeTogether(h)),
		operation("measure", canMeasure(h)),
		operation("confirm-host-key", canConfirmKey(h)),
		operation("set-layout", canSetLayout(h)),
		operation("relayout", canRelayout(h)),
		operation("initialize", probed(h, canInitialize)),
		operation("refence", probed(h, canRefence)),
		operation("drain", takes(domain.HostLifecycle, h.State, domain.DrainRequested)),
		operation("undrain", takes(domain.HostLifecycle, h.State, domain.DrainCancelled)),
		operation("decommission", canDecommission(h)),
		operation("declare-lost", lost),
		operation("remove", canRemove(h)),
	}
}

func probed(h store.Host, can func(store.Host) error) error {
	if h.Facts == nil {
		return domain.Conflictf("host_state", "it has not been probed")
	}
	return can(h)
}
