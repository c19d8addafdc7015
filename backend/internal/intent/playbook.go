package intent

import (
	"context"
	"fmt"
	"time"
	"unicode"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// PlaybookUpload is a version from outside that has passed the gate.
type PlaybookUpload struct {
	Playbook     string
	SHA256       string
	TreeSHA256   string
	Content      []byte
	DecodedBytes int64
	Files        int
	Note         string
}

// AddPlaybookVersion stores a version. Files that are known make no new one:
// the version that has them is returned, and added is false. The default stays.
func (in *Intents) AddPlaybookVersion(ctx context.Context, call Call, u PlaybookUpload) (version int, added bool, err error) {
	if err := checkNote(u.Note); err != nil {
		return 0, false, err
	}
	err = in.do(ctx, call, func(tx *store.Tx) error {
		p, err := tx.Playbook(ctx, u.Playbook)
		if err != nil {
			return err
		}
		v := store.PlaybookVersion{
			Playbook: p.Name, SHA256: u.SHA256, TreeSHA256: &u.TreeSHA256, SizeBytes: int64(len(u.Content)), DecodedBytes: u.DecodedBytes,
			Files: u.Files, Note: u.Note, CreatedBy: call.Actor.Name,
		}
		id, number, isNew, err := tx.AddPlaybookVersion(ctx, v, u.Content)
		if err != nil {
			return err
		}
		version, added = number, isNew
		if isNew {
			err := tx.AddEvent(ctx, call.Actor, store.Audit{
				Workspace: domain.DefaultWorkspace, Action: "playbook.upload", ObjectKind: "playbook", ObjectName: p.Name,
				After: map[string]any{"version": number, "sha256": u.SHA256, "tree_sha256": u.TreeSHA256, "files": u.Files, "note": u.Note},
			})
			if err != nil {
				return err
			}
		}
		return recordMade(ctx, tx, call, "playbook_version", id, uuid.Nil)
	})
	return version, added, err
}

func checkNote(note string) error {
	var bad domain.Invalid
	if len(note) > 500 {
		bad.Add("note", "is longer than 500 bytes")
	}
	for _, c := range note {
		if unicode.IsControl(c) {
			bad.Add("note", "remove the control characters")
			break
		}
	}
	return bad.OrNil()
}

// SetDefaultPlaybookVersion makes a version the one that new jobs are bound
// to. Going to an earlier one is a roll back, and the event says so.
func (in *Intents) SetDefaultPlaybookVersion(ctx context.Context, call Call, playbook string, version int, ifMatch int64) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		p, err := tx.Playbook(ctx, playbook)
		if err != nil {
			return err
		}
		if err := checkVersion("playbook", p.Revision, ifMatch); err != nil {
			return err
		}
		to, err := tx.PlaybookVersion(ctx, p.Name, version)
		if err != nil {
			return err
		}
		if to.Default {
			return domain.Conflictf("is_default", "version %d is the default already", version)
		}
		from, err := tx.PlaybookVersion(ctx, p.Name, p.DefaultVersion)
		if err != nil {
			return fmt.Errorf("read the present default: %w", err)
		}
		open, err := tx.DeliveryOfPlaybook(ctx, p.Name)
		if err != nil {
			return fmt.Errorf("look for a delivery of %s: %w", p.Name, err)
		}
		if open != "" {
			return domain.Conflictf("playbook_delivery_open", "the delivery %s gives another version to hosts, and has not ended; wait for it, or roll it back first", open)
		}
		if err := tx.SetDefaultPlaybookVersion(ctx, p, version); err != nil {
			return err
		}
		action := "playbook.set_default"
		if version < p.DefaultVersion {
			action = "playbook.roll_back"
		}
		err = tx.AddEvent(ctx, call.Actor, store.Audit{
			Workspace: domain.DefaultWorkspace, Action: action, ObjectKind: "playbook", ObjectName: p.Name,
			Before: map[string]any{"default_version": from.Version, "sha256": from.SHA256},
			After:  map[string]any{"default_version": to.Version, "sha256": to.SHA256},
		})
		if err != nil {
			return err
		}
		return recordMade(ctx, tx, call, "playbook_version", to.ID, uuid.Nil)
	})
}

// LintTask is a version that the caller has taken up to lint.
type LintTask struct {
	Due     store.LintDue
	Content []byte
	started time.Time
}

// TakeLint takes up the newest version whose lint is due; domain.ErrNotFound
// if there is none. A caller that is not able has no tool, and only takes what
// nobody has looked at, to say so.
func (in *Intents) TakeLint(ctx context.Context, able bool) (LintTask, error) {
	due, err := in.db.LintDue(ctx, able) // mostly none, which costs no transaction
	if err != nil {
		return LintTask{}, err
	}
	t := LintTask{Due: due}
	err = in.db.InTx(ctx, func(tx *store.Tx) (err error) {
		t.started, err = tx.StartLint(ctx, due.ID)
		return err
	})
	if err == nil {
		t.Content, err = in.db.PlaybookContent(ctx, t.Due.ID)
	}
	return t, err
}

// EndLint stores what was found.
func (in *Intents) EndLint(ctx context.Context, call Call, t LintTask, l domain.Lint) error {
	return in.db.InTx(ctx, func(tx *store.Tx) error {
		if err := tx.EndLint(ctx, t.Due.ID, t.started, l); err != nil {
			return err
		}
		return tx.AddEvent(ctx, call.Actor, store.Audit{
			Workspace: domain.DefaultWorkspace, Action: "playbook.lint", ObjectKind: "playbook", ObjectName: t.Due.Playbook,
			After: map[string]any{"version": t.Due.Version, "lint": l.State, "tool": l.Tool, "findings": len(l.Findings)},
		})
	})
}
