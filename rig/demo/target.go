package demo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"kloigos/backend/api"
)

// Target is a host of the caller's. Nothing is done to it before the caller has said yes, and no disk is taken that the
// caller has not named.
type Target struct {
	User, Host string
	Port       int
	Devices    []string // by-id names of empty disks; none where the volume group is there
	Address    string   // for the unit, free in the host's network
	Yes        bool     // the answer to every question but those after names
}

// ParseTarget reads user@address[:port].
func ParseTarget(text string) (*Target, error) {
	user, host, port, err := splitTarget(text)
	if err != nil {
		return nil, err
	}
	return &Target{User: user, Host: host, Port: port}, nil
}

const defaultVolumeGroup = "kloigos-vg"

var notFileName = regexp.MustCompile(`[^A-Za-z0-9.-]`)

func (t *Target) fileName() string {
	return notFileName.ReplaceAllString(fmt.Sprintf("%s-%d", t.Host, t.Port), "_")
}

// authorizeKeyScript adds a line from its input to the user's keys, once.
const authorizeKeyScript = `umask 077; mkdir -p ~/.ssh; read -r line; grep -qxF "$line" ~/.ssh/authorized_keys 2>/dev/null || printf '%s\n' "$line" >>~/.ssh/authorized_keys`

// authorizeOnTarget says what will happen, asks, and lets the control plane in with the caller's own SSH access.
func (i *Installation) authorizeOnTarget(ctx context.Context) error {
	target := i.options.Target
	system, err := i.Client.GetSystem(ctx)
	if err != nil {
		return fmt.Errorf("ask for the control plane's key: %w", err)
	}
	for _, line := range []string{
		fmt.Sprintf("This changes %s, as %s with sudo:", target.Host, target.User),
		"  - the control plane's public key goes into that user's authorized_keys, with your own SSH access",
		"  - it is probed, which changes nothing; then you name the disks that it may take, if any",
		"  - initialize: packages (lvm2, nftables, apparmor, ...), /etc/kloigos, one nftables table, systemd drop-ins named",
		"    50-kloigos.conf that keep the system on its own CPUs, the volume group " + defaultVolumeGroup + " and its volumes",
		"  - allocate: a user with a home on a volume, its limits, its AppArmor profile, an address on the uplink",
		"Everything but packages, logs and the content of the disks is taken back by `decommission`, from its page or the API.",
	} {
		i.stages.Note("%s", line)
	}
	if err := i.mustAgree("Go on?"); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "ssh", "-p", strconv.Itoa(target.Port), "-l", target.User, "--", target.Host, authorizeKeyScript)
	cmd.Stdin = strings.NewReader(system.PublicKey + "\n")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("log in to %s: %w: %s", target.Host, err, strings.TrimSpace(string(output)))
	}
	return nil
}

// registerTarget registers the host, or takes up the one of an earlier demo.
func (i *Installation) registerTarget(ctx context.Context) error {
	target := i.options.Target
	for host, err := range i.Client.AllHosts(ctx, api.HostFilter{}) {
		if err != nil {
			return fmt.Errorf("look for the host: %w", err)
		}
		if host.Address == target.Host && host.Port == target.Port && host.State != "decommissioned" && host.State != "lost" {
			i.stages.Note("known from an earlier demo as %s, %s", host.Name, host.State)
			i.Host = host
			if host.State == "ready" {
				return nil
			}
			_, job, err := i.Client.ProbeHost(ctx, host.ID)
			if err != nil {
				return fmt.Errorf("probe the host: %w", err)
			}
			if err := i.follow(ctx, job); err != nil {
				return err
			}
			return i.confirmKey(ctx)
		}
	}
	if err := i.registerAs(ctx, api.RegisterHost{Name: hostName, Address: target.Host, Port: target.Port, AdminUser: target.User, Profile: "minimal"}); err != nil {
		return err
	}
	return i.confirmKey(ctx)
}

// confirmKey lets a person compare the host's key, and probes with it.
func (i *Installation) confirmKey(ctx context.Context) error {
	if err := i.refresh(ctx); err != nil {
		return err
	}
	if i.Host.State != "awaiting_host_key" {
		return nil
	}
	i.stages.Note("its SSH host key is %s", i.Host.OfferedPrint)
	i.stages.Note("compare with: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub (on the host)")
	if err := i.mustAgree("Is it this key?"); err != nil {
		return err
	}
	_, job, err := i.Client.ConfirmHostKey(ctx, i.Host.ID, api.ConfirmHostKey{Fingerprint: i.Host.OfferedPrint})
	if err != nil {
		return fmt.Errorf("confirm the host key: %w", err)
	}
	if err := i.follow(ctx, job); err != nil {
		return err
	}
	return i.refresh(ctx)
}

// targetLayout asks which disks may be taken, and makes two units of what the first core leaves.
func (i *Installation) targetLayout(ctx context.Context) (api.SetLayout, error) {
	target, facts := i.options.Target, i.Host.Facts
	if facts == nil {
		return api.SetLayout{}, errors.New("the host was not probed")
	}
	const units = 2
	layout := api.SetLayout{Count: units, CPUsEach: max(1, (len(facts.CPUs)-2)/units), VolumeGroup: defaultVolumeGroup, Devices: target.Devices}
	has := false
	for _, group := range facts.VolumeGroups {
		has = has || group.Name == defaultVolumeGroup
	}
	if !has && len(layout.Devices) == 0 {
		i.stages.Note("it has no volume group %s; these disks are empty:", defaultVolumeGroup)
		for _, device := range facts.Devices {
			if len(device.Signatures) == 0 && !device.Mounted && device.Partitions == 0 && !device.ReadOnly && device.ByID != "" {
				i.stages.Note("  %s (%d GiB, %s)", device.ByID, device.SizeBytes>>30, device.Model)
			}
		}
		answer, err := i.ask("Which of them may be taken (separated by spaces)?")
		if err != nil {
			return api.SetLayout{}, err
		}
		if layout.Devices = strings.Fields(answer); len(layout.Devices) == 0 {
			return api.SetLayout{}, errors.New("no disk was named (--device /dev/disk/by-id/...)")
		}
	}
	preview, err := i.Client.PreviewLayout(ctx, i.Host.ID, layout)
	if err != nil {
		return api.SetLayout{}, fmt.Errorf("compute the layout: %w", err)
	}
	i.stages.Note("system CPUs %s; %d units of %d CPUs; disks %s", preview.SystemCPUs, len(preview.Units), layout.CPUsEach, strings.Join(layout.Devices, " "))
	if err := i.mustAgree("Set this layout and initialize the host?"); err != nil {
		return api.SetLayout{}, err
	}
	if target.Address == "" {
		if target.Address, err = i.ask("A free IPv4 address of the host's network, for the unit?"); err != nil {
			return api.SetLayout{}, err
		}
	}
	return layout, nil
}

func (i *Installation) mustAgree(question string) error {
	if i.options.Target.Yes {
		return nil
	}
	answer, err := i.ask(question + " [y/N]")
	if err != nil {
		return err
	}
	if word := strings.ToLower(answer); word != "y" && word != "yes" {
		return errors.New("not agreed; nothing further was done")
	}
	return nil
}

func (i *Installation) ask(question string) (string, error) {
	i.stages.Note("%s", question)
	line, err := i.answers.ReadString('\n')
	if err != nil && line == "" {
		return "", fmt.Errorf("nobody answers %q", question)
	}
	return strings.TrimSpace(line), nil
}
