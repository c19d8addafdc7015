package iamwork

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// HostPlay is one play on one host.
type HostPlay struct {
	Host     uuid.UUID
	Playbook string
	File     string
	Vars     any
	Secrets  []string
}

// SSHKeys carries out the jobs about the SSH keys of hosts.
type SSHKeys struct {
	DB    *db.DB
	Keys  *secret.Keyset
	Kinds *work.Registry
	// Play runs a play on a host, under its fence.
	Play func(ctx context.Context, a *work.Attempt, p HostPlay) (json.RawMessage, error)
	// LogIn logs in to a host with a key and no more. iam.ErrLoginRefused if the host does not let it in.
	LogIn func(ctx context.Context, host uuid.UUID, privateKey []byte) error
	// AtOnce is how many hosts of an organization have an unfinished job; 0: as usual. Pause is how long the policy waits after one failed.
	AtOnce int
	Pause  time.Duration
}

const (
	keysAtOnce = 10
	keysPause  = 30 * time.Minute
	// keyLook is how soon a replacement that is under way is looked at again: jobs that fail or back off wake nobody.
	keyLook = 30 * time.Second
)

// SSHKeyPolicy is the name of the policy that replaces the SSH keys of organizations.
const SSHKeyPolicy = "ssh_keys"

// mainFile is what jobs play of a playbook.
const mainFile = "playbook.yml"

// Handlers do the steps.
func (s SSHKeys) Handlers() work.Handlers {
	return work.Handlers{
		iam.SSHKeyDeploy.Name:   {iam.AddKeyStep: s.add, iam.ProveKeyStep: s.prove},
		iam.SSHKeyWithdraw.Name: {iam.DropKeyStep: s.drop},
	}
}

// AdminKeyVars are the variables of the playbook host_admin_key.
type AdminKeyVars struct {
	User   string   `json:"host_admin_key_user"`
	Add    []string `json:"host_admin_key_add"`
	Beside []string `json:"host_admin_key_beside"`
	Drop   []string `json:"host_admin_key_drop"`
}

// there reads what the job works with; an error if the host can't be logged in to any more.
func (s SSHKeys) there(ctx context.Context, a *work.Attempt) (iam.KeyWork, error) {
	w, err := iam.KeyWorkOf(ctx, s.DB.Reader, a.Object(iam.HostRole).ID)
	if errors.Is(err, fault.ErrNotFound) || err == nil && !w.There {
		return w, &work.Error{Code: "superseded", Message: "The host was removed, decommissioned or declared lost.", NextStep: "Nothing: it needs no key any more."}
	}
	return w, err
}

func (s SSHKeys) logIn(ctx context.Context, w iam.KeyWork) error {
	private, err := w.Private(s.Keys)
	if err != nil {
		return err
	}
	err = s.LogIn(ctx, w.Host, private)
	if err != nil && !errors.Is(err, iam.ErrLoginRefused) && ctx.Err() == nil {
		return &work.Error{Code: "unreachable", Message: "The host can't be reached: " + err.Error() + ".", NextStep: "Bring the host back. The job is tried again by itself.", Heals: true}
	}
	return err
}

// add brings the newest key to the host, unless the host lets it in already.
func (s SSHKeys) add(ctx context.Context, a *work.Attempt) error {
	w, err := s.there(ctx, a)
	if err != nil || w.Proved {
		return err
	}
	switch err := s.logIn(ctx, w); {
	case err == nil:
		a.Log.Note("The host lets the newest key in already.")
		return nil
	case !errors.Is(err, iam.ErrLoginRefused):
		return err
	case !w.Fenced:
		return byHand(w, "Kloigos changes nothing on a host that it has not initialized.")
	}
	_, err = s.play(ctx, a, w, AdminKeyVars{User: w.AdminUser, Add: w.Add, Beside: w.Beside, Drop: []string{}})
	return err
}

func byHand(w iam.KeyWork, why string) error {
	return &work.Error{
		Code: "ssh_access_denied", Message: "The host does not let the newest SSH key of the organization in. " + why,
		NextStep: fmt.Sprintf("Put this line into ~/.ssh/authorized_keys of %s on the host, then retry the job: %s", w.AdminUser, w.Add[0]),
	}
}

func (s SSHKeys) play(ctx context.Context, a *work.Attempt, w iam.KeyWork, vars AdminKeyVars) (json.RawMessage, error) {
	return s.Play(ctx, a, HostPlay{Host: w.Host, Playbook: iam.AdminKeyPlaybook, File: mainFile, Vars: vars})
}

// prove logs in with the newest key. Only then the host is reached with it.
func (s SSHKeys) prove(ctx context.Context, a *work.Attempt) error {
	w, err := s.there(ctx, a)
	if err != nil || w.Proved {
		return err
	}
	if err := s.logIn(ctx, w); errors.Is(err, iam.ErrLoginRefused) {
		return byHand(w, "It was added where sshd reads keys, and still it is refused.")
	} else if err != nil {
		return err
	}
	a.Outcome("The host is reached with version %d of the SSH key.", w.Version)
	a.AtSuccess(func(ctx context.Context, tx *db.Tx) error { return w.ProvedKey(ctx, tx, a.Actor()) })
	return nil
}

// drop takes former keys from the host. It is logged in to with the newest one.
func (s SSHKeys) drop(ctx context.Context, a *work.Attempt) error {
	w, err := s.there(ctx, a)
	if err != nil {
		return err
	}
	if !w.Proved || len(w.Drop) == 0 {
		a.Outcome("The key is being replaced again: the next job about it removes former keys.")
		return nil
	}
	if _, err := s.play(ctx, a, w, AdminKeyVars{User: w.AdminUser, Add: []string{}, Beside: []string{}, Drop: w.Drop}); err != nil {
		return err
	}
	a.Outcome("No former SSH key of the organization is left on the host.")
	a.AtSuccess(func(ctx context.Context, tx *db.Tx) error { return w.DroppedKeys(ctx, tx, a.Actor()) })
	return nil
}

// Policy replaces keys: it asks for the jobs, a limited number at once, and uses the next key once every host has it.
func (s SSHKeys) Policy() reconcile.Policy {
	return reconcile.Policy{
		Name: SSHKeyPolicy, Why: "the replacement of an SSH key goes on with nobody logged in, and hosts that could not be reached are tried again",
		Interval: 5 * time.Minute, Jitter: 30 * time.Second, Timeout: 2 * time.Minute, Triggers: []string{iam.SSHKeyNoun}, Observes: true,
		Run: func(ctx context.Context, item reconcile.Item) (out reconcile.Outcome, err error) {
			replaced, err := iam.ReplacedSSHKeys(ctx, s.DB.Reader)
			if err != nil || item.Observe {
				return out, err
			}
			for _, id := range replaced {
				n, err := s.advance(ctx, id)
				if err != nil {
					return out, fmt.Errorf("replace the SSH key of organization %s: %w", id, err)
				}
				out.Changed += n
			}
			if len(replaced) > 0 {
				out.Again = keyLook
			}
			return out, nil
		},
	}
}

func (s SSHKeys) advance(ctx context.Context, organization uuid.UUID) (changed int64, err error) {
	atOnce, pause := keysAtOnce, keysPause
	if s.AtOnce > 0 {
		atOnce = s.AtOnce
	}
	if s.Pause > 0 {
		pause = s.Pause
	}
	err = s.DB.InTx(ctx, func(tx *db.Tx) error {
		changed = 0
		switched, err := iam.SwitchSSHKey(ctx, tx, audit.Actor{Kind: audit.Policy, Name: SSHKeyPolicy}, organization)
		if err != nil {
			return err
		}
		if switched {
			changed++
		}
		asked, err := iam.AskForKeyJobs(ctx, tx, s.Kinds, SSHKeyPolicy, organization, atOnce, int64(pause/time.Second))
		changed += int64(asked)
		return err
	})
	return changed, err
}
