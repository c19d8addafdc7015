package iam

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// keyFacts are what events tell of a key.
func keyFacts(version int64, public string) map[string]any {
	return map[string]any{"version": version, "public_key": public}
}

// ReplaceSSHKey makes another key for the hosts of an organization. Hosts get it beside the one that is in use.
func ReplaceSSHKey(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, ref scope.Ref[Scope]) error {
	at, err := Organizations.keep(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	if err := at.CanWrite(); err != nil {
		return err
	}
	before, err := holdSSHKey(ctx, tx.Tx, at.ID)
	if err != nil {
		return err
	}
	if err := before.CanReplace(); err != nil {
		return err
	}
	public, sealed, err := NewOrganizationKey(keys, at.ID)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, before.CanReplace(), sqlReplaceSSHKey, at.ID, public, sealed, tx.Call().Actor.Name); err != nil {
		return fmt.Errorf("keep the next SSH key: %w", err)
	}
	tx.Touch(SSHKeyNoun, at.ID)
	if _, err := changeKeys(ctx, tx.Tx, at.ID, sqlUnprovedSSHKey, at.ID, before.Version+1); err != nil {
		return err
	}
	return at.told(ctx, tx, "replace_ssh_key", keyFacts(before.Version, before.PublicKey), keyFacts(before.Version+1, public))
}

// LeaveSSHKeyHosts has the replacement go on without some hosts, by id or name. The newest key is put on them by hand.
func LeaveSSHKeyHosts(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], hosts []string) error {
	at, err := Organizations.keep(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	if err := at.CanWrite(); err != nil {
		return err
	}
	k, err := holdSSHKey(ctx, tx.Tx, at.ID)
	if err != nil {
		return err
	}
	if err := k.CanLeave(); err != nil {
		return err
	}
	ids, names, err := behind(ctx, tx.Tx, at.ID, hosts)
	if err != nil {
		return err
	}
	if _, err := changeKeys(ctx, tx.Tx, at.ID, sqlLeaveSSHKey, at.ID, ids, k.Newest()); err != nil {
		return err
	}
	return at.told(ctx, tx, "leave_ssh_key_hosts", nil, map[string]any{"version": k.Newest(), "hosts": names})
}

// mostBehind is how many hosts without the newest key are looked at together.
const mostBehind = 10000

// behind finds hosts that do not have the newest key alone, by id or name.
func behind(ctx context.Context, tx *db.Tx, organization uuid.UUID, texts []string) (ids []uuid.UUID, names []string, err error) {
	all, err := SSHKeyHosts(ctx, tx.Reader, organization, 0, mostBehind)
	if err != nil {
		return nil, nil, err
	}
	var bad fault.Invalid
	for i, text := range texts {
		found := slices.DeleteFunc(slices.Clone(all), func(h SSHKeyHost) bool {
			return h.ID.String() != text && h.Name != text && h.Workspace+"/"+h.Name != text
		})
		field := fmt.Sprintf("hosts[%d]", i)
		switch len(found) {
		case 0:
			bad.Add(field, "No host of the organization that is behind has this name or id.")
		case 1:
			ids, names = append(ids, found[0].ID), append(names, found[0].Name)
		default:
			bad.Add(field, "Several hosts have this name. Use the id, or the path of the workspace before the name.")
		}
	}
	return ids, names, bad.OrNil()
}

// SwitchSSHKey makes the next key the one that is in use and forgets the private key of the former one, once no host needs that any
// more. changed tells whether it did.
func SwitchSSHKey(ctx context.Context, tx *db.Tx, by audit.Actor, organization uuid.UUID) (changed bool, err error) {
	k, err := holdSSHKey(ctx, tx, organization)
	if err != nil || k.NextPublicKey == nil || k.Behind > 0 {
		return false, err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlSwitchSSHKey, organization, k.Version); err != nil {
		return false, fmt.Errorf("use the next SSH key: %w", err)
	}
	tx.Touch(SSHKeyNoun, organization)
	at, err := Organizations.byID(ctx, tx.Reader, organization)
	if err != nil {
		return false, err
	}
	e := at.Entry("use_next_ssh_key")
	e.Before, e.After = keyFacts(k.Version, k.PublicKey), keyFacts(k.Version+1, *k.NextPublicKey)
	return true, audit.Append(ctx, tx, by, e)
}

// AskForKeyJobs begins jobs about the keys of hosts, so that at most some are unfinished at once. An idle host has no unfinished job, and
// none that failed within a pause of some seconds.
func AskForKeyJobs(ctx context.Context, tx *db.Tx, kinds *work.Registry, by string, organization uuid.UUID, atOnce int, pauseSeconds int64) (asked int, err error) {
	k, err := holdSSHKey(ctx, tx, organization)
	if err != nil {
		return 0, err
	}
	hosts, err := SSHKeyHosts(ctx, tx.Reader, organization, pauseSeconds, mostBehind)
	if err != nil {
		return 0, err
	}
	for _, h := range hosts {
		if h.Working() && !h.BackingOff { // hosts that can't be reached keep no others waiting
			atOnce--
		}
	}
	for _, h := range hosts {
		if atOnce <= asked {
			break
		}
		if h.LeftBehind || !h.Idle {
			continue
		}
		kind := SSHKeyWithdraw.Name
		if h.Behind {
			kind = SSHKeyDeploy.Name
		}
		job := work.New{Kind: kind, Objects: []work.Object{{Role: HostRole, Noun: PartHost, ID: h.ID, Name: h.Name}}, Args: SSHKeyArgs{Version: k.Newest()}}
		if _, err := kinds.Enqueue(ctx, tx, by, h.WorkspaceID, job); err != nil {
			return asked, fmt.Errorf("ask for a job about the SSH key of host %s: %w", h.Name, err)
		}
		asked++
	}
	return asked, nil
}

// KeyWork is what a job about the key of a host works with.
type KeyWork struct {
	Host         uuid.UUID
	Name         string
	AdminUser    string
	Organization uuid.UUID
	Fenced       bool
	Proved       bool     // a login with the newest key succeeded before
	There        bool     // the host can be logged in to
	Version      int64    // of the newest key
	Add, Beside  []string // lines of authorized_keys: the newest key, and those that it may stand beside
	Drop         []string // former keys that the host is to lose; none while the next key is being deployed
	sealed       []byte
}

// KeyWorkOf reads what a job about the key of a host works with.
func KeyWorkOf(ctx context.Context, q db.Reader, host uuid.UUID) (KeyWork, error) {
	h, err := hostForKey(ctx, q, host)
	if err != nil {
		return KeyWork{}, err
	}
	k, err := SSHKeyOf(ctx, q, h.OrganizationID)
	if err != nil {
		return KeyWork{}, err
	}
	w := KeyWork{
		Host: h.ID, Name: h.Name, AdminUser: h.AdminUser, Organization: h.OrganizationID, Fenced: h.Fenced, There: h.There,
		Proved: h.Version >= k.Newest(), Version: k.Newest(), Add: []string{k.NewestPublicKey()}, Beside: k.Former, Drop: k.Former, sealed: k.newestSealed(),
	}
	if k.NextPublicKey != nil {
		w.Beside, w.Drop = append(slices.Clone(k.Former), k.PublicKey), nil
	}
	return w, nil
}

// Private is the newest private key.
func (w KeyWork) Private(keys *secret.Keyset) ([]byte, error) {
	private, err := keys.Open(w.sealed, w.Organization.String())
	if err != nil {
		return nil, fmt.Errorf("open the newest SSH key: %w", err)
	}
	return private, nil
}

// ProvedKey notes that a login with the newest key succeeded: from then on the host is reached with it.
func (w KeyWork) ProvedKey(ctx context.Context, tx *db.Tx, by audit.Actor) error {
	return w.note(ctx, tx, by, "host.change_ssh_key", sqlProveSSHKey)
}

// ProvedHostKey notes that a login to a host succeeded with a version of its organization's key. A host that was left behind by a
// replacement is reached again then.
func ProvedHostKey(ctx context.Context, tx *db.Tx, organization, host uuid.UUID, version int64) error {
	_, err := changeKeys(ctx, tx, organization, sqlProveSSHKey, host, version)
	return err
}

// DroppedKeys notes that no former key is left on the host.
func (w KeyWork) DroppedKeys(ctx context.Context, tx *db.Tx, by audit.Actor) error {
	return w.note(ctx, tx, by, "host.remove_ssh_key", sqlCleanSSHKey)
}

func (w KeyWork) note(ctx context.Context, tx *db.Tx, by audit.Actor, action string, sql db.Statement) error {
	n, err := changeKeys(ctx, tx, w.Organization, sql, w.Host, w.Version)
	if err != nil || n == 0 {
		return err
	}
	h, err := hostForKey(ctx, tx.Reader, w.Host)
	if err != nil {
		return err
	}
	return audit.Append(ctx, tx, by, audit.Entry{
		Workspace: h.WorkspaceID, Action: action, ObjectKind: PartHost, ObjectID: h.ID, ObjectName: h.Name, After: map[string]any{"version": w.Version},
	})
}
