package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/dnsserver"

	mdns "github.com/miekg/dns"
)

// foreign is a record that nobody asked for here: no synchronization may touch it.
const foreign, foreignValue = "foreign.example.org.", "192.0.2.99"

// calledZone is the failpoint between a synchronization of a zone and its record.
const calledZone = "call_done.zone_sync"

// zones has record sets written to a real name server while something goes wrong in between: backends end between a call
// and its record and at random, the name server is killed and freezes, and another hand changes a record of ours.
func zones(ctx context.Context, w *World) error {
	server, err := dnsserver.New(dnsserver.Options{Records: []string{"foreign A " + foreignValue}})
	if err != nil {
		return err
	}
	defer server.Close()
	z := &zoneWorld{World: w, server: server, wants: map[string]string{}}
	if err := z.add(ctx); err != nil {
		return err
	}
	for _, goesWrong := range []struct {
		how string
		do  func(context.Context) error
	}{
		{"a backend ends between the call and its record", z.killedAfterCall},
		{"backends end at random", z.killedAtRandom},
		{"the name server is killed", z.serverAway},
		{"another hand changes a record", z.changedByHand},
	} {
		err := goesWrong.do(ctx)
		if err == nil {
			err = z.inLine(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", goesWrong.how, err)
		}
	}
	return nil
}

// zoneWorld is a world with a zone, and what clients were told that stands in it.
type zoneWorld struct {
	*World
	server *dnsserver.Server
	id     string
	wants  map[string]string // address by name
}

func (z *zoneWorld) add(ctx context.Context) error {
	in := api.CreateDNSZone{
		Name: z.server.Zone, Server: z.server.Address, AllowPrivate: true,
		KeyName: z.server.SHA256.Name, KeyAlgorithm: z.server.SHA256.Algorithm, KeySecret: z.server.SHA256.Secret,
	}
	zone, err := retried(ctx, z.World, func(c *client.Client) (api.DNSZone, error) { return c.CreateDNSZone(ctx, in) })
	if err != nil {
		return fmt.Errorf("add a zone: %w", err)
	}
	z.id = zone.ID
	return nil
}

// record asks for one more record set, always under one key, until a backend answers.
func (z *zoneWorld) record(ctx context.Context) error {
	n := len(z.wants) + 1
	in := api.CreateDNSRecordSet{Zone: z.id, Name: fmt.Sprintf("r%d", n), Type: "A", Values: []string{fmt.Sprintf("192.0.2.%d", n)}}
	_, _, err := ask(ctx, z.World, func(c *client.Client, key client.Option) (api.DNSRecordSet, string, error) {
		set, err := c.CreateDNSRecordSet(ctx, in, key)
		return set, "", err
	})
	if err != nil {
		return fmt.Errorf("add record set %s: %w", in.Name, err)
	}
	z.wants[in.Name+"."+z.server.Zone] = in.Values[0]
	return nil
}

func (z *zoneWorld) killedAfterCall(ctx context.Context) error {
	for range z.times(2) {
		err := z.killAt(ctx, func(ctx context.Context) error { return errors.Join(z.record(ctx), z.inLine(ctx)) }, calledZone)
		if err != nil {
			return err
		}
	}
	return nil
}

func (z *zoneWorld) killedAtRandom(ctx context.Context) error {
	for range z.times(4) {
		if err := z.record(ctx); err != nil {
			return err
		}
		if !sleep(ctx, z.between(0, 300*time.Millisecond)) {
			return ctx.Err()
		}
		if err := z.alive().Kill(); err != nil {
			return err
		}
		if err := z.revive(ctx); err != nil {
			return err
		}
	}
	return nil
}

// serverAway kills the name server while record sets are asked for. It comes back with an empty journal or with what it
// had written: either way the zone gets what clients were told.
func (z *zoneWorld) serverAway(ctx context.Context) error {
	for range z.times(2) {
		if err := z.record(ctx); err != nil {
			return err
		}
		z.server.Stop()
		if err := z.record(ctx); err != nil {
			return err
		}
		if !sleep(ctx, z.between(time.Second, 3*time.Second)) {
			return ctx.Err()
		}
		if err := z.server.StartAgain(); err != nil {
			return err
		}
	}
	return nil
}

func (z *zoneWorld) changedByHand(ctx context.Context) error {
	name := "r1." + z.server.Zone
	if err := z.server.Change("-"+name+" 300 IN A "+z.wants[name], "+"+name+" 300 IN A 198.51.100.1"); err != nil {
		return err
	}
	_, _, err := ask(ctx, z.World, func(c *client.Client, key client.Option) (api.DNSZone, string, error) {
		return c.SyncDNSZone(ctx, z.id, key)
	})
	return err
}

// inLine waits until the name server tells of each name what a client was told, and of the foreign one what it told
// before.
func (z *zoneWorld) inLine(ctx context.Context) error {
	var off string
	err := await(ctx, "the zone to be in line", patience, func() bool {
		off = z.off(ctx)
		return off == ""
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, off)
	}
	return nil
}

// off is what is not in line yet; "" if all is.
func (z *zoneWorld) off(ctx context.Context) string {
	told, err := z.server.Values(foreign, mdns.TypeA)
	if err != nil {
		return err.Error()
	}
	if !slices.Equal(told, []string{foreignValue}) {
		z.sees("the foreign record %s is %v", foreign, told)
	}
	for name, value := range z.wants {
		told, err := z.server.Values(name, mdns.TypeA)
		if err != nil || !slices.Equal(told, []string{value}) {
			return fmt.Sprintf("%s is %v and not %s (%v)", name, told, value, err)
		}
	}
	zone, err := retried(ctx, z.World, func(c *client.Client) (api.DNSZone, error) { return c.GetDNSZone(ctx, z.id) })
	if err != nil || zone.State != "live" {
		return strings.TrimSpace(fmt.Sprintf("the zone is %s: %s %v", zone.State, zone.Message, err))
	}
	return ""
}
