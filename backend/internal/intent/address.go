package intent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/network"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// AddressRange is one address or one range to add to a pool.
type AddressRange struct {
	Range    string // 10.0.0.5 or 10.0.0.5-10.0.0.20
	Endpoint string // host:port, for a single address behind NAT
}

// AddAddresses adds all the addresses to the pool of a network, or none.
func (in *Intents) AddAddresses(ctx context.Context, call Call, pool string, ranges []AddressRange) (ids []uuid.UUID, err error) {
	total, err := checkAddresses(pool, ranges)
	if err != nil {
		return nil, err
	}
	err = in.do(ctx, call, func(tx *store.Tx) error {
		kept, err := network.Keep(ctx, tx.Tx, call.Workspace, pool)
		if err != nil {
			return err
		}
		if err := allOfNetwork(kept[0], ranges); err != nil {
			return err
		}
		if err := noneOfHosts(ctx, tx, ranges); err != nil {
			return err
		}
		made := make([]uuid.UUID, 0, total)
		for _, r := range ranges {
			all, err := domain.ExpandAddresses(r.Range)
			if err != nil {
				return err
			}
			added, err := tx.InsertAddresses(ctx, store.AddressPool{Workspace: call.Workspace, Network: kept[0].ID, Name: pool}, all, r.Endpoint)
			if err != nil {
				return err
			}
			made = append(made, added...)
		}
		ids = made
		text := make([]string, len(ranges))
		for i, r := range ranges {
			text[i] = r.Range
		}
		err = tx.AddEvent(ctx, call.Actor, store.Audit{
			Workspace: call.Workspace, Action: "address.add", ObjectKind: "address_pool", ObjectName: pool,
			After: map[string]any{"ranges": text, "addresses": total},
		})
		if err != nil {
			return err
		}
		return recordMade(ctx, tx, call, "address_pool", uuid.Nil, uuid.Nil)
	})
	return ids, err
}

// allOfNetwork refuses addresses that can't be handed out of the range of their network.
func allOfNetwork(n network.Network, ranges []AddressRange) error {
	var bad domain.Invalid
	for i, r := range ranges {
		all, err := domain.ExpandAddresses(r.Range)
		if err != nil {
			return err
		}
		if k := slices.IndexFunc(all, func(a netip.Addr) bool { return !n.Holds(a) }); k >= 0 {
			bad.Add(fmt.Sprintf("addresses[%d].range", i), "%s is outside of %s, the range of the network %s, or its first or last address", all[k], n.CIDR, n.Name)
		}
	}
	return bad.OrNil()
}

// noneOfHosts refuses addresses that are hosts' own: a unit that had one would
// cut its host off when it is given back.
func noneOfHosts(ctx context.Context, tx *store.Tx, ranges []AddressRange) error {
	var bad domain.Invalid
	for i, r := range ranges {
		all, err := domain.ExpandAddresses(r.Range)
		if err != nil {
			return err
		}
		text := make([]string, len(all))
		for k, a := range all {
			text[k] = a.String()
		}
		found, err := tx.AddressesOfHosts(ctx, text)
		if err != nil {
			return fmt.Errorf("look for addresses of hosts: %w", err)
		}
		if len(found) > 0 {
			bad.Add(fmt.Sprintf("addresses[%d].range", i), "%s is the address of host %s", found[0].Address, found[0].Host)
		}
	}
	return bad.OrNil()
}

// CheckAddresses tells what is wrong with ranges, as AddAddresses would.
func CheckAddresses(network string, ranges []AddressRange) error {
	_, err := checkAddresses(network, ranges)
	return err
}

func checkAddresses(network string, ranges []AddressRange) (total int, err error) {
	var bad domain.Invalid
	bad.Check("network", domain.CheckPlace(network))
	if len(ranges) == 0 {
		bad.Add("addresses", "give at least one address or range")
	}
	for i, r := range ranges {
		if total > domain.MaxAddressRange {
			break
		}
		field := fmt.Sprintf("addresses[%d]", i)
		all, err := domain.ExpandAddresses(r.Range)
		bad.Check(field+".range", err)
		if r.Endpoint != "" {
			bad.Check(field+".endpoint", checkEndpoint(r.Endpoint, len(all)))
		}
		total += len(all)
	}
	if total > domain.MaxAddressRange {
		bad.Add("addresses", "give at most %d at once", domain.MaxAddressRange)
	}
	return total, bad.OrNil()
}

func checkEndpoint(s string, addresses int) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("must be host:port")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("has a port that is not from 1 to 65535")
	}
	if err := domain.CheckHostAddress(host, domain.TargetPolicy{AllowLoopback: true}); err != nil {
		return err
	}
	if addresses > 1 {
		return fmt.Errorf("give it for single addresses only, not for a range")
	}
	return nil
}

// RemoveAddress takes an address that nobody has out of its pool.
func (in *Intents) RemoveAddress(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) error {
	return in.onAddress(ctx, call, id, ifMatch, "address.remove", func(tx *store.Tx, p store.Address) error {
		return tx.DeleteAddress(ctx, p.ID)
	})
}

// CloseAddress keeps a free address from being given out.
func (in *Intents) CloseAddress(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) error {
	return in.moveAddress(ctx, call, id, ifMatch, domain.Closed, "address.close")
}

// OpenAddress lets a closed address be given out again.
func (in *Intents) OpenAddress(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) error {
	return in.onAddress(ctx, call, id, ifMatch, "address.open", func(tx *store.Tx, p store.Address) error {
		found, err := tx.AddressesOfHosts(ctx, []string{p.Address})
		if err != nil {
			return fmt.Errorf("look for addresses of hosts: %w", err)
		}
		if len(found) > 0 {
			return domain.Conflictf("address_of_host", "%s is the address of host %s", p.Address, found[0].Host)
		}
		_, err = tx.MoveAddress(ctx, p.ID, p.State, domain.Opened)
		return err
	})
}

// ReleaseAddress takes an address out of quarantine: a person made sure that
// the lost host no longer answers on it.
func (in *Intents) ReleaseAddress(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) error {
	return in.moveAddress(ctx, call, id, ifMatch, domain.Released, "address.release")
}

func (in *Intents) moveAddress(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, on domain.Event, action string) error {
	return in.onAddress(ctx, call, id, ifMatch, action, func(tx *store.Tx, p store.Address) error {
		_, err := tx.MoveAddress(ctx, p.ID, p.State, on)
		return err
	})
}

func (in *Intents) onAddress(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, action string, f func(*store.Tx, store.Address) error) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		if err := holdVersion(ctx, "address", id, ifMatch, tx.HoldAddress); err != nil {
			return err
		}
		p, err := tx.Address(ctx, id)
		if err != nil {
			return err
		}
		if err := f(tx, p); err != nil {
			return err
		}
		err = tx.AddEvent(ctx, call.Actor, store.Audit{
			Workspace: p.WorkspaceID, Action: action, ObjectKind: "address", ObjectID: p.ID, ObjectName: p.Address,
			Before: map[string]any{"state": p.State},
		})
		if err != nil {
			return err
		}
		return recordMade(ctx, tx, call, "address", p.ID, uuid.Nil)
	})
}
