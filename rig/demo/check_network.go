package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/rig/testhost"
)

// NetworkChecks are those of units with networks of their own. The installation's first unit has its address on
// the host, and from the first of the checks on all new units have networks of their own.
func (i *Installation) NetworkChecks() []Check {
	c := &checker{i: i}
	return []Check{
		{"setting: the backends give new units networks of their own", c.networksFromNow},
		{"a second tenant gets the other unit, with a network of its own", c.secondTenant},
		{"sftp: files go in and out of both kinds", c.wayInSFTP},
		{"command: a unit of either kind is held as it was promised, side by side on one host", c.wayInCommand},
		{"figures: throughput, logins and memory of a unit with its own network, beside the host's", c.figures},
		{"use: what went over the second unit's link is measured of it, and not of the first one, which has none", c.trafficMeasured},
		{"move: the first unit gets a network of its own, and its tenant keeps address, keys and files", c.moved},
		{"sftp: files go in and out", c.wayInSFTP},
		{"keys again: a second run changes nothing, and a check says that none would", c.networkTwice},
		{"command: as promised, in both units", c.wayInCommand},
		{"shell: the same with a terminal", c.wayInShell},
		{"user service: the same for what systemd --user starts", c.wayInService},
		{"view: one address, ping, ports below 1024, and names from a name server that is a unit itself", c.tenantsView},
		{"cron and at: refused", c.cronAndAt},
		{"second tenant: sees nothing of the first", c.strangers},
		{"attacks: a tenant is nobody else on the host, and reaches nothing of it and of the neighbour's loopback", c.attacks},
		{"everything taken: two tenants take all that there is at once, and the administrator logs in", c.everythingTaken},
		{"neighbours: a tenant sends to all of the unit's network, and the host reaches its own", c.neighbourFlood},
		{"restarts: a network, a filter or a service that goes comes back, and no unit has a link without its filter", c.networkComesBack},
		{"ssh.service stopped: tenants log in at their own sshd", c.hostSSHStopped},
		{"linger: after a reboot of the host the tenant's own service runs, held like before", c.afterReboot},
		{"after the reboot: logins, limits and addresses are as before", c.wayInCommand},
		{"deallocate, its backend dying after the play: another one runs it again, and the second run changes nothing", c.deallocate},
		{"deallocate: nothing of the tenant is left on the host", c.nothingLeft},
		{"relayout, through a plan: the free unit is cut anew, and its neighbour's network, limits, mount and processes stay", c.relaidOutBesideNetwork},
		{"decommission, through a plan, its backend dying after the play: the second run changes nothing but the fence under which it runs", c.decommission},
		{"decommission: files, accounts, units, networks, mounts, sysctls and disks are as before", c.asBefore},
		{"decommission: nothing of Kloigos is left on the host", c.clean},
	}
}

// networksFromNow starts all backends again with the setting.
func (c *checker) networksFromNow(ctx context.Context) error {
	c.i.options.UnitNetwork = "unit"
	for n, backend := range c.i.Backends {
		backend.env = append(slices.Clone(backend.env), "KLOIGOS_UNIT_NETWORK=unit")
		next, err := c.i.group.replace(backend)
		if err != nil {
			return err
		}
		c.i.Backends[n] = next
	}
	return c.i.proxy.await(ctx, readyTimeout, func(ctx context.Context) error { return c.i.refresh(ctx) })
}

// moved: the first tenant's unit gets a network of its own when that is asked for, and keeps all else.
func (c *checker) moved(ctx context.Context) error {
	before, err := c.i.Client.GetAllocation(ctx, c.first.a.ID)
	if err != nil {
		return fmt.Errorf("read the allocation: %w", err)
	}
	if before.UnitNetwork != "host" || !before.RestartNeeded || !c.second.ownNetwork() || c.second.a.RestartNeeded {
		return fmt.Errorf("the networks are %q and %q, a restart is needed: %t and %t", before.UnitNetwork, c.second.a.UnitNetwork, before.RestartNeeded, c.second.a.RestartNeeded)
	}
	_, job, err := c.i.Client.MoveNetwork(ctx, c.first.a.ID)
	if err != nil {
		return fmt.Errorf("move it: %w", err)
	}
	if err := c.i.follow(ctx, job); err != nil {
		return err
	}
	after, err := c.i.Client.GetAllocation(ctx, c.first.a.ID)
	if err != nil {
		return fmt.Errorf("read the allocation: %w", err)
	}
	if after.UnitNetwork != "unit" || after.RestartNeeded || after.Address != before.Address || after.UID != before.UID {
		return fmt.Errorf("it is now in a network of kind %q, at %s with UID %d; a restart is needed: %t", after.UnitNetwork, after.Address, after.UID, after.RestartNeeded)
	}
	if c.first, err = c.i.visit(ctx, after, c.first.keyFile); err != nil {
		return err
	}
	said, err := c.first.ssh(ctx, "", false, "cat ~/.hidden/mark; systemctl --user is-active kloigos-check-sleep")
	if !strings.HasPrefix(said, c.marker+"\n") {
		return fmt.Errorf("the tenant's file says %q: %w", said, err)
	}
	if strings.Contains(said, "\nactive") {
		return errors.New("a service of the tenant went on, outside of the unit's network")
	}
	return nil
}

func (c *checker) networkTwice(ctx context.Context) error {
	job, err := c.replaceKeys(ctx)
	if err != nil {
		return err
	}
	if err := c.i.follow(ctx, job); err != nil {
		return err
	}
	if err := c.unchanged(ctx, job); err != nil {
		return err
	}
	current, err := c.i.Client.GetAllocation(ctx, c.first.a.ID)
	if err != nil {
		return fmt.Errorf("read the allocation: %w", err)
	}
	plan, job, err := c.i.Client.PlanReplaceKeys(ctx, current.ID, api.ReplaceKeys{SSHKeys: current.SSHKeys})
	if err != nil {
		return fmt.Errorf("plan the same keys: %w", err)
	}
	if plan, err = c.planned(ctx, plan, job); err != nil {
		return err
	}
	if *plan.Counts != (api.PlanCounts{}) {
		return fmt.Errorf("a check would change %+v", plan.Changes)
	}
	return nil
}

// hostServices listen on the host, on all addresses and on its loopback.
const (
	hostPort, loopbackPort = 7790, 7791
	hostServices           = `sudo systemctl stop kloigos-check-7790 kloigos-check-7791 2>/dev/null
sudo systemd-run --quiet --unit=kloigos-check-7790 python3 -m http.server --directory /sys/kernel/mm 7790
sudo systemd-run --quiet --unit=kloigos-check-7791 python3 -m http.server --directory /sys/kernel/mm --bind 127.0.0.1 7791
for n in $(seq 60); do ss -ltn | grep -q :7790 && ss -ltn | grep -q 127.0.0.1:7791 && exit 0; sleep 1; done
echo "they do not listen" >&2; exit 1`
	hostServicesEnd = "sudo systemctl stop kloigos-check-7790 kloigos-check-7791"
)

// attackQuestion is what attacks.py is asked.
type attackQuestion struct {
	Mode          string   `json:"mode"`
	Host          string   `json:"host,omitempty"`
	Neighbours    []string `json:"neighbours,omitempty"`
	NeighbourUnit string   `json:"neighbour_unit,omitempty"`
	Target        string   `json:"target,omitempty"`
	HostPorts     []int    `json:"host_ports,omitempty"`
	LoopbackPorts []int    `json:"loopback_ports,omitempty"`
	Abstract      []string `json:"abstract,omitempty"`
	Foreign       []string `json:"foreign,omitempty"`
}

func (q attackQuestion) command() string {
	text, err := json.Marshal(q)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return "python3 ~/" + attacksInUnit + " '" + string(text) + "'"
}

// attacks has the second tenant attack the host and the first tenant, who holds all that he can.
func (c *checker) attacks(ctx context.Context) (err error) {
	if c.first.a.ID == "" || c.second.a.ID == "" {
		return errNoGround
	}
	heard, err := listen(ctx)
	if err != nil {
		return err
	}
	defer heard.stop()
	if _, err := c.i.VM.Run(ctx, hostServices); err != nil {
		return err
	}
	defer func() {
		_, ended := c.i.VM.Run(ctx, hostServicesEnd)
		err = errors.Join(err, ended)
	}()
	if err := c.bringAttacks(ctx); err != nil {
		return err
	}
	_, release, err := c.first.holding(ctx, c.second)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	text, err := c.second.ssh(ctx, "", false, attackQuestion{
		Mode: "try", Host: testhost.GuestAddress, Neighbours: []string{c.first.a.Address}, NeighbourUnit: c.first.unit.Name,
		Target:    fmt.Sprintf("%s:%d", c.i.Host.Facts.Uplink.Gateway, heard.port),
		HostPorts: []int{22, hostPort}, LoopbackPorts: []int{loopbackPort, attackPort}, Abstract: []string{"kloigos-attack-0"},
	}.command())
	if err != nil {
		return err
	}
	var said struct {
		Attacks []struct {
			Try       string `json:"try"`
			Succeeded bool   `json:"succeeded"`
			Detail    string `json:"detail"`
		} `json:"attacks"`
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return fmt.Errorf("read the attacks: %w", err)
	}
	d := &differences{}
	d.refuse(len(said.Attacks) < 40, "only %d attacks were tried", len(said.Attacks))
	for _, attack := range said.Attacks {
		d.refuse(attack.Succeeded, "%s: %s", attack.Try, attack.Detail)
	}
	time.Sleep(3 * time.Second) // whatever is on its way
	datagrams := heard.datagrams()
	d.refuse(!slices.Contains(datagrams, "honest"), "no datagram arrives: this shows nothing")
	for _, datagram := range datagrams {
		d.refuse(datagram != "honest", "a datagram arrived that says %q", datagram)
	}
	return errors.Join(d.found...)
}

// mostTerminals is how many pseudo-terminals a unit has.
const mostTerminals = 256

// everythingTaken: each of two tenants gets all that one could take alone, and root and the administrator get theirs.
func (c *checker) everythingTaken(ctx context.Context) (err error) {
	if c.first.a.ID == "" || c.second.a.ID == "" {
		return errNoGround
	}
	if err := c.bringAttacks(ctx); err != nil {
		return err
	}
	heard, err := listen(ctx)
	if err != nil {
		return err
	}
	defer heard.stop()
	d := &differences{}
	for at, v := range []visitor{c.first, c.second} {
		held, release, err := v.holding(ctx, []visitor{c.second, c.first}[at])
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		c.i.stages.Note("%s holds %+v", v.a.LoginUser, held)
		d.refuse(held.TCP < 28000 || held.UDP < 28000, "%s takes %d TCP and %d UDP ports of 28,232", v.a.LoginUser, held.TCP, held.UDP)
		d.refuse(held.Segments < 4000 || held.Semaphores < 31000 || held.Queues < 1000, "%s takes %+v", v.a.LoginUser, held)
		d.refuse(held.Terminals == 0 || held.Terminals > mostTerminals, "%s takes %d terminals", v.a.LoginUser, held.Terminals)
		d.refuse(held.Abstract < 100 || len(held.Listening) < 2, "%s takes %+v", v.a.LoginUser, held)
	}
	if len(d.found) > 0 {
		return errors.Join(d.found...)
	}
	said, err := c.i.VM.Run(ctx, fmt.Sprintf("sudo python3 -c '%s' %s %d %s %s", rootStillWorks, c.i.Host.Facts.Uplink.Gateway, heard.port, c.first.a.Address, c.second.a.Address))
	if err != nil {
		return err
	}
	d.want("what root gets", strings.Join(strings.Fields(said), " "), "connected segment semaphore terminal foreign-refused listens listens")
	shown, err := output(ctx, "", "ssh", append([]string{"-tt"}, c.i.VM.SSHArgs("tty")...)...)
	if err != nil {
		return fmt.Errorf("the administrator logs in: %w", err)
	}
	d.refuse(!strings.HasPrefix(shown, "/dev/pts/"), "the administrator gets the terminal %q", shown)
	return errors.Join(d.found...)
}

// rootStillWorks runs as root on the host: a connection out, a segment, a semaphore and a terminal; a tenant who listens at
// another's address is not reached there, and each listens at the same port of his own.
const rootStillWorks = `
import ctypes, os, socket, sys
gateway, port, first, second = sys.argv[1:]
libc = ctypes.CDLL(None)
socket.create_connection((gateway, int(port)), 20).recv(1)
print("connected")
segment = libc.shmget(0, 4096, 0o1600)
print("segment" if segment >= 0 and libc.shmctl(segment, 0, None) == 0 else "no segment")
semaphore = libc.semget(0, 1, 0o1600)
print("semaphore" if semaphore >= 0 and libc.semctl(semaphore, 0, 0) == 0 else "no semaphore")
os.openpty()
print("terminal")
try:
    socket.create_connection((second, 7781), 10)
    print("foreign")
except ConnectionRefusedError:
    print("foreign-refused")
for address in (first, second):
    socket.create_connection((address, 7780), 20)
    print("listens")
`

// backAgain are ways to take networks away from units. Each ends with all that it stopped running again.
var backAgain = []struct{ what, command string }{
	{"nft flush ruleset", "nft flush ruleset"},
	{"nftables started, reloaded and stopped", "systemctl start nftables && systemctl reload nftables && systemctl stop nftables"},
	{"kloigos-nft restarted", "systemctl restart kloigos-nft"},
	{"a chain deleted", "nft flush chain inet kloigos units_to_host"},
	{"ssh restarted", "systemctl restart ssh"},
	{"networking restarted", "systemctl restart networking"},
	{"ifdown and ifup", "ifdown --force %[1]s; sleep 1; ifup %[1]s"},
	{"networkctl reload", "systemctl start systemd-networkd && networkctl reload && sleep 2 && systemctl restart systemd-networkd && systemctl stop systemd-networkd.socket systemd-networkd"},
	{"the pairs deleted", "for link in $(ls /sys/class/net | grep ^klu); do ip link del $link; done"},
	{"rules and routes flushed", "ip rule flush; ip rule add priority 32766 lookup main; ip rule add priority 32767 lookup default; ip route flush table 1263292233"},
}

// watchHalf says whenever a unit's link is up and the filter is not there for longer than a look of kloigos-watch takes.
const watchHalf = `#!/bin/sh
since=0
while [ -e /run/kloigos-check-half ]; do
	now=$(cut -d. -f1 /proc/uptime)
	if nft list chain inet kloigos units_to_host 2>/dev/null | grep -q reject || ! grep -qs up /sys/class/net/klu*/operstate; then since=0
	elif [ $since = 0 ]; then since=$now
	elif [ $((now - since)) -gt 20 ]; then echo "a link without a filter for $((now - since)) s" >>/run/kloigos-check-half; fi
	sleep 0.5
done
`

func (c *checker) networkComesBack(ctx context.Context) error {
	if c.first.a.ID == "" || c.second.a.ID == "" {
		return errNoGround
	}
	uplink := c.i.Host.Facts.Uplink.Interface
	if _, err := c.i.VM.Run(ctx, "sudo touch /run/kloigos-check-half; sudo systemd-run --quiet --unit=kloigos-check-half sh -c '"+strings.ReplaceAll(watchHalf, "'", `'\''`)+"'"); err != nil {
		return err
	}
	var wrong []error
	for _, way := range backAgain {
		command := way.command
		if strings.Contains(command, "%") {
			command = fmt.Sprintf(command, uplink)
		}
		// In a service of its own: the connection may break under it.
		if _, err := c.i.VM.Run(ctx, "sudo systemctl reset-failed kloigos-check-take 2>/dev/null; sudo systemd-run --quiet --unit=kloigos-check-take sh -ec '"+command+"'"); err != nil {
			return fmt.Errorf("%s: %w", way.what, err)
		}
		if err := c.complete(ctx); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", way.what, err))
		}
	}
	half, err := c.i.VM.Run(ctx, "sudo cat /run/kloigos-check-half; sudo rm /run/kloigos-check-half")
	if err != nil {
		wrong = append(wrong, err)
	} else if half != "" {
		wrong = append(wrong, errors.New(half))
	}
	for _, v := range []visitor{c.first, c.second} {
		if _, err := v.ssh(ctx, "", false, "true"); err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// complete waits until nothing of either unit is missing, some seconds after what was asked last.
func (c *checker) complete(ctx context.Context) error {
	command := "sleep 4; while systemctl -q is-active kloigos-check-take; do sleep 1; done; " +
		"systemctl -q is-failed kloigos-check-take && { echo it was not taken away; exit 1; }; for n in $(seq 60); do lacks=''; "
	for _, v := range []visitor{c.first, c.second} {
		command += fmt.Sprintf("lacks=\"$lacks$(sudo /usr/local/lib/kloigos/unit-net status %s 2>&1)\"; ", v.unit.Name)
	}
	said, err := c.i.VM.Run(ctx, command+`[ -z "$lacks" ] && exit 0; sleep 2; done; echo "$lacks"; exit 1`)
	if err != nil {
		return fmt.Errorf("it does not come back: %s: %w", said, err)
	}
	return nil
}

// hostSSHStopped stops the host's sshd for a while: its end takes /run/sshd along, which every sshd needs.
func (c *checker) hostSSHStopped(ctx context.Context) error {
	if c.first.a.ID == "" {
		return errNoGround
	}
	const stop = "sudo systemd-run --quiet --collect --unit=kloigos-check-ssh sh -c 'systemctl stop ssh; touch /run/kloigos-check-stopped; " +
		"while [ -e /run/kloigos-check-stopped ] && [ $((n += 1)) -lt 200 ]; do sleep 1; done; systemctl start ssh'"
	if _, err := c.i.VM.Run(ctx, stop); err != nil {
		return err
	}
	time.Sleep(10 * time.Second)
	if _, err := output(ctx, "", "ssh", append([]string{"-o", "ConnectTimeout=5"}, c.i.VM.SSHArgs("true")...)...); err == nil {
		return errors.New("the host's sshd still runs: this shows nothing")
	}
	said, err := c.first.ssh(ctx, "", false, "echo in")
	if err == nil && strings.TrimSpace(said) != "in" {
		err = fmt.Errorf("said %q", said)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 6*time.Minute)
	defer cancel()
	return errors.Join(err, c.i.VM.WaitSSH(ctx))
}
