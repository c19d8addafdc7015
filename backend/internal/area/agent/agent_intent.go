package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
)

// ErrRefused is of a token, a proof or a credential that is good for nothing. It says no more, since a stranger reads it.
var ErrRefused = errors.New("the agent is refused")

var errNoRow = errors.New("the database did not answer a count")

// ErrForm is of something that is not of the form of the protocol.
var ErrForm = errors.New("the form is not that of the protocol")

// ErrQuarantined is of a key that was seen twice.
var ErrQuarantined = errors.New("the agent is quarantined")

// Issued is a token that was just made. It is shown once.
type Issued struct {
	ID        uuid.UUID
	Host      Host
	Token     string
	ExpiresAt time.Time
}

// IssueToken makes a token that enrols one agent on a host within a time.
func IssueToken(ctx context.Context, tx *intent.Tx, ref scope.Ref[Host], valid time.Duration) (Issued, error) {
	if ref.IsZero() {
		return Issued{}, fault.ErrNotFound
	}
	return issue(ctx, tx, ref.ID(), valid)
}

// jobTokenTime is how long a token is valid that a job brings to a host: it is used within the job, or never.
const jobTokenTime = 10 * time.Minute

// TokenForJob makes a token for a job that installs the agent of a host; "" where an agent speaks for the host already.
func TokenForJob(ctx context.Context, engine intent.Engine, host uuid.UUID, backend string) (string, error) {
	enrolled, err := enrolledOn(ctx, engine.DB.Reader, host)
	if err != nil {
		return "", err
	}
	h, err := HostByID(ctx, engine.DB.Reader, host)
	if err != nil {
		return "", err
	}
	for _, a := range enrolled {
		if a.Incarnation == h.Incarnation && (a.Liveness() == OnTime || a.Liveness() == Late) {
			return "", nil
		}
	}
	var issued Issued
	call := intent.Call{Actor: audit.Actor{Kind: audit.Backend, Name: backend}, Workspace: h.WorkspaceID}
	err = engine.Do(ctx, call, func(tx *intent.Tx) (err error) {
		issued, err = issue(ctx, tx, host, jobTokenTime)
		return err
	})
	return issued.Token, err
}

func issue(ctx context.Context, tx *intent.Tx, id uuid.UUID, valid time.Duration) (Issued, error) {
	host, err := HostByID(ctx, tx.Reader, id)
	if err != nil {
		return Issued{}, err
	}
	if host.Gone {
		return Issued{}, fault.Conflictf("host_gone", "The host is %s.", host.State)
	}
	issued := Issued{ID: uuid.New(), Host: host, Token: newToken()}
	err = tx.QueryRow(ctx, sqlInsertToken, issued.ID, hashToken(issued.Token), host.WorkspaceID, host.ID, host.Incarnation, int64(valid.Seconds())).Scan(&issued.ExpiresAt)
	if err != nil {
		return Issued{}, fmt.Errorf("insert an enrolment token: %w", err)
	}
	err = tx.Event(ctx, audit.Entry{
		Workspace: host.WorkspaceID, Action: "agent.issue_token", ObjectKind: HostNoun, ObjectID: host.ID, ObjectName: host.Name,
		After: map[string]any{"token": issued.ID, "expires_at": issued.ExpiresAt},
	})
	if err != nil {
		return Issued{}, err
	}
	return issued, tx.Made(ctx, "agent_token", issued.ID, uuid.Nil)
}

// event writes the event of a change of an agent.
func (a Agent) event(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	return tx.Event(ctx, audit.Entry{
		Workspace: a.WorkspaceID, Action: "agent." + action, ObjectKind: Noun, ObjectID: a.ID, ObjectName: a.HostName, Before: before, After: after,
	})
}

// move moves an agent that is held, and forgets what only an enrolled one has.
func move(ctx context.Context, tx *intent.Tx, a Agent, on lifecycle.Event, action, message string) error {
	to, err := Lifecycle.Next(a.State, on)
	if err != nil {
		return err
	}
	moved := fault.Conflictf("agent_state", "Another request changed it at the same time. Reload it.")
	if err := tx.One(ctx, moved, sqlMove, a.ID, a.State, to, message); err != nil {
		return fmt.Errorf("move an agent: %w", err)
	}
	tx.Touch(Noun, a.ID)
	if a.State == Enrolled {
		for _, sql := range []db.Statement{sqlForgetCredential, sqlForgetLiveness, sqlForgetReport, sqlForgetStates} {
			if _, err := tx.Exec(ctx, sql, a.ID); err != nil {
				return fmt.Errorf("forget what an agent had: %w", err)
			}
		}
		if err := setHealth(ctx, tx.Tx, []judged{{Host: a.HostID}}); err != nil {
			return err
		}
	}
	if to == Enrolled {
		if _, err := tx.Exec(ctx, sqlBeginLiveness, a.ID, a.HostID); err != nil {
			return fmt.Errorf("begin the liveness of an agent: %w", err)
		}
	}
	return a.event(ctx, tx, action, map[string]any{"state": a.State}, map[string]any{"state": to, "message": message})
}

// act moves an agent on a person's word.
func act(ctx context.Context, tx *intent.Tx, ref scope.Ref[Agent], version int64, can func(Agent) error, on lifecycle.Event, action, message string) error {
	if ref.IsZero() {
		return fault.ErrNotFound
	}
	a, err := hold(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	if err := errors.Join(fault.CheckVersion("agent", a.Version, version), can(a)); err != nil {
		return err
	}
	if err := move(ctx, tx, a, on, action, message); err != nil {
		return err
	}
	return tx.Made(ctx, Noun, a.ID, uuid.Nil)
}

// Revoke refuses the key of an agent for good.
func Revoke(ctx context.Context, tx *intent.Tx, ref scope.Ref[Agent], version int64) error {
	return act(ctx, tx, ref, version, Agent.CanRevoke, PersonRevoked, "revoke", "Revoked by "+tx.Call().Actor.Name+".")
}

// Quarantine takes an agent out of use until somebody releases or revokes it.
func Quarantine(ctx context.Context, tx *intent.Tx, ref scope.Ref[Agent], version int64, reason string) error {
	return act(ctx, tx, ref, version, Agent.CanQuarantine, PersonDoubted, "quarantine", reason)
}

// Release takes an agent back into use. Its host must have no other one.
func Release(ctx context.Context, tx *intent.Tx, ref scope.Ref[Agent], version int64) error {
	a, err := ByID(ctx, tx.Reader, ref.ID())
	if err != nil {
		return err
	}
	others, err := enrolledOn(ctx, tx.Reader, a.HostID)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return fault.Conflictf("agent_exists", "Another agent of host %s is enrolled. Revoke it first.", a.HostName)
	}
	return act(ctx, tx, ref, version, Agent.CanRelease, PersonReleased, "release", "")
}

// RevokeGone revokes an agent whose host is gone, on behalf of a policy.
func RevokeGone(ctx context.Context, engine intent.Engine, a Agent, by, why string) error {
	call := intent.Call{Actor: audit.Actor{Kind: audit.Policy, Name: by}, Workspace: a.WorkspaceID}
	return engine.Do(ctx, call, func(tx *intent.Tx) error {
		held, err := hold(ctx, tx.Tx, a.ID)
		if err != nil {
			return err
		}
		if err := held.CanRevoke(); err != nil {
			return err
		}
		return move(ctx, tx, held, PersonRevoked, "revoke", why)
	})
}

// Hello is what an agent says of itself when it enrols or renews.
type Hello struct {
	MachineID, BootID, Version string
}

func (h Hello) check() error {
	if !machineID.MatchString(h.MachineID) || !bootID.MatchString(h.BootID) || !version.MatchString(h.Version) {
		return ErrRefused
	}
	return nil
}

// Enrolment is a request to enrol. Proof is the text that the signature is of.
type Enrolment struct {
	Hello
	Token                       string
	PublicKey, Signature, Proof []byte
}

// Credential is what an agent sends with its heartbeats.
type Credential struct {
	Agent  uuid.UUID
	Secret string
}

func caller(workspace uuid.UUID, host, client string) intent.Call {
	return intent.Call{Actor: audit.Actor{Kind: audit.Backend, Name: "agent of " + host, Address: client}, Workspace: workspace}
}

// Enrol makes an agent of whoever shows a token and proves its key. A machine or a key that is seen twice is quarantined, and
// the error is ErrQuarantined.
func Enrol(ctx context.Context, engine intent.Engine, e Enrolment, client string) (Credential, error) {
	hash := hashToken(e.Token)
	if hash == nil || e.check() != nil || !signed(e.PublicKey, e.Proof, e.Signature) {
		return Credential{}, ErrRefused
	}
	shown, err := tokenByHash(ctx, engine.DB.Reader, hash)
	if err != nil {
		return Credential{}, err
	}
	host, err := HostByID(ctx, engine.DB.Reader, shown.HostID)
	if err != nil {
		return Credential{}, err
	}
	if host.Gone || host.Incarnation != shown.Incarnation || host.MachineID != nil && *host.MachineID != e.MachineID {
		return Credential{}, ErrRefused
	}
	id := uuid.New()
	made := Credential{}
	quarantined := false
	err = engine.Do(ctx, caller(host.WorkspaceID, host.Name, client), func(tx *intent.Tx) error {
		made, quarantined = Credential{}, false
		if err := tx.One(ctx, ErrRefused, sqlUseToken, shown.ID, id); err != nil {
			return err
		}
		copied, err := copies(ctx, tx, host, e)
		if err != nil {
			return err
		}
		if quarantined = len(copied) > 0; quarantined {
			return quarantine(ctx, tx, copied, id, host, e)
		}
		made, err = enrol(ctx, tx, id, host, e)
		return err
	})
	if err == nil && quarantined {
		err = ErrQuarantined
	}
	return made, err
}

// copies are the agents that have the key, or speak for the same machine as another host.
func copies(ctx context.Context, tx *intent.Tx, host Host, e Enrolment) (found []Agent, err error) {
	if found, err = withKey(ctx, tx.Reader, e.PublicKey); err != nil || len(found) > 0 {
		return found, err
	}
	same, err := enrolledOnMachine(ctx, tx.Reader, e.MachineID)
	for _, a := range same {
		if a.HostID != host.ID {
			found = append(found, a)
		}
	}
	return found, err
}

// quarantine takes all agents of a copied machine out of use, the new one too.
func quarantine(ctx context.Context, tx *intent.Tx, copied []Agent, id uuid.UUID, host Host, e Enrolment) error {
	why := fmt.Sprintf("The machine %s asked to enrol as host %s too: it was copied, or its machine-id was.", e.MachineID, host.Name)
	for _, found := range copied {
		a, err := hold(ctx, tx.Tx, found.ID)
		if err != nil {
			return err
		}
		if string(a.PublicKey) == string(e.PublicKey) {
			why = fmt.Sprintf("The key asked to enrol again, as host %s: the disk was copied.", host.Name)
			id = uuid.Nil // it has its row
		}
		if _, err := Lifecycle.Next(a.State, CopyFound); err == nil {
			if err := move(ctx, tx, a, CopyFound, "quarantine", why); err != nil {
				return err
			}
		} else if err := a.event(ctx, tx, "refuse", nil, map[string]any{"message": why}); err != nil {
			return err
		}
	}
	if id == uuid.Nil {
		return nil
	}
	if _, err := tx.Exec(ctx, sqlInsert, id, host.WorkspaceID, host.ID, host.Incarnation, e.PublicKey, e.MachineID, Quarantined, why); err != nil {
		return fmt.Errorf("insert a quarantined agent: %w", err)
	}
	tx.Touch(Noun, id)
	made, err := ByID(ctx, tx.Reader, id)
	if err != nil {
		return err
	}
	return made.event(ctx, tx, "quarantine", nil, made.facts())
}

func enrol(ctx context.Context, tx *intent.Tx, id uuid.UUID, host Host, e Enrolment) (Credential, error) {
	before, err := enrolledOn(ctx, tx.Reader, host.ID)
	if err != nil {
		return Credential{}, err
	}
	for _, found := range before {
		a, err := hold(ctx, tx.Tx, found.ID)
		if err != nil {
			return Credential{}, err
		}
		if err := move(ctx, tx, a, AnotherEnrolled, "replace", "The host enrolled another key."); err != nil {
			return Credential{}, err
		}
	}
	if _, err := tx.Exec(ctx, sqlInsert, id, host.WorkspaceID, host.ID, host.Incarnation, e.PublicKey, e.MachineID, Enrolled, ""); err != nil {
		return Credential{}, fmt.Errorf("insert an agent: %w", err)
	}
	tx.Touch(Noun, id)
	if _, err := tx.Exec(ctx, sqlBeginLiveness, id, host.ID); err != nil {
		return Credential{}, fmt.Errorf("begin the liveness of an agent: %w", err)
	}
	credential, hash := newCredential(id)
	if _, err := tx.Exec(ctx, sqlPutCredential, id, hash[:], int64(CredentialTime.Seconds()), time.Unix(0, 0), e.BootID); err != nil {
		return Credential{}, fmt.Errorf("store a credential: %w", err)
	}
	made, err := ByID(ctx, tx.Reader, id)
	if err != nil {
		return Credential{}, err
	}
	return Credential{id, credential}, made.event(ctx, tx, "enrol", nil, made.facts())
}

// Renewal is a request for another credential. Proof is the text that the signature is of.
type Renewal struct {
	Hello
	Agent            uuid.UUID
	Challenge        string
	Signature, Proof []byte
}

// Renew gives an agent that proves its key another credential; the one before is worth nothing from then on. A key that two
// machines use is quarantined.
func Renew(ctx context.Context, engine intent.Engine, keys *secret.Keyset, r Renewal, client string) (Credential, error) {
	made, ok := challengeMade(keys, r.Agent, r.Challenge, time.Now())
	if !ok || r.check() != nil {
		return Credential{}, ErrRefused
	}
	a, err := ByID(ctx, engine.DB.Reader, r.Agent)
	if errors.Is(err, fault.ErrNotFound) {
		return Credential{}, ErrRefused
	}
	if err != nil {
		return Credential{}, err
	}
	if !signed(a.PublicKey, r.Proof, r.Signature) {
		return Credential{}, ErrRefused
	}
	switch why, err := twice(ctx, engine.DB.Reader, a, r.Hello); {
	case err != nil:
		return Credential{}, err
	case why != "":
		return Credential{}, errors.Join(ErrQuarantined, quarantineTwice(ctx, engine, a, why, client))
	case a.State == Quarantined:
		return Credential{}, ErrQuarantined
	case a.State != Enrolled:
		return Credential{}, ErrRefused
	}
	credential, hash := newCredential(a.ID)
	err = engine.DB.InTx(ctx, func(tx *db.Tx) error { // a renewal is no event: it comes every 40 minutes from every host
		held, err := hold(ctx, tx, a.ID)
		if err != nil {
			return err
		}
		if held.State != Enrolled {
			return ErrRefused
		}
		if err := tx.One(ctx, ErrRefused, sqlPutCredential, a.ID, hash[:], int64(CredentialTime.Seconds()), made, r.BootID); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, sqlRestartSequence, a.ID)
		return err
	})
	if err != nil {
		return Credential{}, fmt.Errorf("store a credential: %w", err)
	}
	return Credential{a.ID, credential}, nil
}

// twice says how a key shows that two machines have it; "" if it does not.
func twice(ctx context.Context, q db.Reader, a Agent, h Hello) (string, error) {
	switch a.State {
	case Replaced:
		return "The host enrolled another key, and this one is still used: two machines have the same disk.", nil
	case Enrolled:
	default:
		return "", nil
	}
	if a.MachineID != h.MachineID {
		return fmt.Sprintf("The machine %s uses the key of machine %s: the disk was copied.", h.MachineID, a.MachineID), nil
	}
	rows, err := credentialOf(ctx, q, a.ID)
	if err != nil {
		return "", err
	}
	if len(rows) == 1 && h.BootID != rows[0].BootID && h.BootID == rows[0].PreviousBootID {
		return "Two machines use the key in turn, each since its own start: the disk was copied.", nil
	}
	return "", nil
}

// quarantineTwice takes an agent out of use whose key two machines have, and the one that replaced it.
func quarantineTwice(ctx context.Context, engine intent.Engine, a Agent, why, client string) error {
	return engine.Do(ctx, caller(a.WorkspaceID, a.HostName, client), func(tx *intent.Tx) error {
		all := []Agent{a}
		if a.State == Replaced {
			others, err := enrolledOn(ctx, tx.Reader, a.HostID)
			if err != nil {
				return err
			}
			all = append(all, others...)
		}
		for _, each := range all {
			held, err := hold(ctx, tx.Tx, each.ID)
			if err != nil {
				return err
			}
			if err := move(ctx, tx, held, CopyFound, "quarantine", why); err != nil {
				return err
			}
		}
		return nil
	})
}
