package dns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// NamingChange is one step of bringing the names of an object about. One transaction does it.
type NamingChange struct {
	Name string // of the record set, for people
	Do   func(ctx context.Context, tx *intent.Tx) error
}

// Changes compares the record sets that an object has with those it is to have.
func (k NamedNoun) Changes(n Named, zones []NamingZone, have []ManagedSet) []NamingChange {
	owner := n.owner()
	var changes []NamingChange
	var kept []int
	for _, wanted := range n.Wanted(zones) {
		i := slices.IndexFunc(have, func(m ManagedSet) bool {
			return m.State != SetDeleting && m.ZoneID == wanted.Zone.ID && string(m.Type) == wanted.Draft.Type && sameName(wanted.Draft.Name, m.Name)
		})
		if i < 0 && wanted.Zone.Ended {
			if wanted.Zone.NamesAllocations {
				changes = append(changes, NamingChange{wanted.Draft.Name, func(context.Context, *intent.Tx) error { return ErrGrantEnded }})
			}
			continue
		}
		if i < 0 {
			changes = append(changes, NamingChange{wanted.Draft.Name, func(ctx context.Context, tx *intent.Tx) error {
				return k.create(ctx, tx, n, wanted)
			}})
			continue
		}
		set, problems := wanted.Draft.Check(wanted.Zone.Name)
		if have[i].GrantEnded && problems == nil && !slices.Equal(set.Values, have[i].Contents) {
			continue // it can't change any more, and must not lead to an address that another may get
		}
		kept = append(kept, i)
		if problems == nil && !slices.Equal(set.Values, have[i].Contents) {
			changes = append(changes, NamingChange{wanted.Draft.Name, func(ctx context.Context, tx *intent.Tx) error {
				_, err := ChangeRecordSet(ctx, tx, owner, have[i].owned(), have[i].Version, func(c *Content) {
					c.Values = wanted.Draft.Values
				})
				return err
			}})
		}
	}
	// What is not wanted goes first: its name may be wanted by another.
	var gone []NamingChange
	for i, m := range have {
		if m.State == SetDeleting || slices.Contains(kept, i) {
			continue
		}
		gone = append(gone, NamingChange{m.Name.Display(), func(ctx context.Context, tx *intent.Tx) error {
			_, err := DeleteRecordSet(ctx, tx, owner, m.owned(), m.Version)
			return err
		}})
	}
	return append(gone, changes...)
}

func sameName(text string, name Name) bool {
	parsed, err := ParseName(text)
	return err == nil && parsed == name
}

// create writes a record set of an object that is still what it was when the change was decided.
func (k NamedNoun) create(ctx context.Context, tx *intent.Tx, n Named, wanted WantedSet) error {
	now, err := k.keep(ctx, tx.Tx, n.ID)
	if err != nil {
		return fmt.Errorf("load %s %s: %w", k.Noun, n.ID, err)
	}
	if !now.same(n) {
		return movedMeanwhile(k.Noun)
	}
	_, err = CreateRecordSet(ctx, tx, wanted.Zone.naming(), n.owner(), wanted.Draft)
	return err
}

// NamingRefused is what a person reads of a change that a zone or a person's record set does not allow; "" for other errors.
func NamingRefused(err error) string {
	var conflict *fault.Conflict
	var invalid *fault.Invalid
	switch {
	case errors.As(err, &conflict):
		return conflict.Detail
	case errors.As(err, &invalid):
		return invalid.Error()
	}
	return ""
}
