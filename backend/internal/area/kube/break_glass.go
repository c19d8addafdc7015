package kube

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// Administrators is the group that kubeadm binds to cluster-admin. The signer of the certificates API refuses system:masters, which
// no binding could take its rights either.
const Administrators = "kubeadm:cluster-admins"

// Bounds of a file of an administrator.
const (
	LongestBreakGlass  = time.Hour
	shortestReason     = 10
	longestReason      = 500
	shortestBreakGlass = 10 * time.Minute // of what the certificates API signs
)

// BreakGlass writes who gets a file of an administrator, until when and why. It is committed before the cluster is asked to sign: no
// certificate goes out that no event tells of.
func BreakGlass(ctx context.Context, tx *intent.Tx, ref scope.Ref[Cluster], user, reason string, valid time.Duration) error {
	var bad fault.Invalid
	reason, plain := plainReason(reason)
	if n := utf8.RuneCountInString(reason); !plain || n < shortestReason || n > longestReason {
		bad.Add("reason", "Say in %d to %d plain characters why: it stands in the event and on the page of the cluster.", shortestReason, longestReason)
	}
	if valid < shortestBreakGlass || valid > LongestBreakGlass {
		bad.Add("minutes", "Use %d to %d.", int(shortestBreakGlass/time.Minute), int(LongestBreakGlass/time.Minute))
	}
	if err := bad.OrNil(); err != nil {
		return err
	}
	c, err := holdCluster(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	if err := c.CanConnect(); err != nil {
		return err
	}
	until := time.Now().Add(valid)
	tx.Touch(ClusterNoun, c.ID)
	if !c.OpenGlass() || until.After(*c.BreakGlassUntil) { // the one that is good for longest is shown
		if err := tx.One(ctx, movedMeanwhile(ClusterNoun), sqlBreakGlass, c.ID, tx.Call().Actor.Name, reason, until); err != nil {
			return fmt.Errorf("write who gets a file of an administrator: %w", err)
		}
	}
	facts := map[string]any{"user": user, "group": Administrators, "reason": reason, "until": until.UTC().Format(time.RFC3339)}
	if err := tx.Event(ctx, c.entry("break_glass", nil, facts)); err != nil {
		return err
	}
	return tx.Made(ctx, ClusterNoun, c.ID, uuid.Nil)
}

// plainReason is a reason in one line; not plain if it has what no person types, or what turns the words around it.
func plainReason(reason string) (string, bool) {
	if len(reason) > 4*longestReason || !utf8.ValidString(reason) {
		return "", false
	}
	reason = strings.Join(strings.Fields(reason), " ")
	return reason, !strings.ContainsFunc(reason, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
}

// OpenGlass tells whether a file of an administrator is good now.
func (c Cluster) OpenGlass() bool {
	return c.BreakGlassUntil != nil && time.Now().Before(*c.BreakGlassUntil)
}
