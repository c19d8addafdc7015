package demo

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/testhost"
)

const (
	hostName = "demo"
	// The VM has CPUs 0-3 on one node and 4-7 on the other: the system keeps one of each, a unit has the rest of a node.
	vmSystemCPUs = "0,4"
	vmUnits      = 2
	vmUnitCPUs   = 3
	// Half of the disk: a wipe and the search for what it left read every byte, in emulation.
	vmVolume = 2 << 30
	tenant   = "alice"
)

// awaitHost waits for the VM and lets the control plane in.
func (i *Installation) awaitHost(ctx context.Context) error {
	if i.options.Target != nil {
		return i.authorizeOnTarget(ctx)
	}
	i.stages.Note("a Debian VM; it has been starting since the packages were there (the image is built once)")
	select {
	case got := <-i.machine:
		i.booting = false
		if got.err != nil {
			return got.err
		}
		i.VM, i.vmOptions = got.vm, got.options
	case <-ctx.Done():
		return ctx.Err()
	}
	if i.VM.Silent != "" {
		i.stages.Note("a first machine gave no greeting and was started again: %s", i.VM.Silent)
	}
	accelerator := "KVM"
	if i.VM.Accelerator != "kvm" {
		accelerator = "emulation, KVM is missing or does not work"
	}
	i.stages.Note("up, with %s", accelerator)
	system, err := i.Client.GetSystem(ctx)
	if err != nil {
		return fmt.Errorf("ask for the control plane's key: %w", err)
	}
	return i.VM.AuthorizeKey(ctx, system.PublicKey)
}

// register registers the host and waits for the first probe.
func (i *Installation) register(ctx context.Context) error {
	if i.options.Target != nil {
		return i.registerTarget(ctx)
	}
	return i.registerAs(ctx, api.RegisterHost{
		Name: hostName, Address: i.VM.SSHHost, Port: i.VM.SSHPort, AdminUser: i.VM.User, HostKey: i.VM.HostKey,
		Region: "demo", Zone: "a", Labels: map[string]string{"kind": "vm"}, Profile: "minimal",
	})
}

func (i *Installation) registerAs(ctx context.Context, request api.RegisterHost) error {
	host, job, err := i.Client.RegisterHost(ctx, request)
	if err != nil {
		return fmt.Errorf("register the host: %w", err)
	}
	i.Host = host
	if err := i.follow(ctx, job); err != nil {
		return err
	}
	if err := i.refresh(ctx); err != nil {
		return err
	}
	if facts := i.Host.Facts; facts != nil {
		i.stages.Note("%s, Linux %s, %d CPUs on %d nodes, %d MiB of memory, %d disks", facts.OS.Name, facts.Kernel, len(facts.CPUs),
			len(facts.Nodes), facts.MemoryBytes>>20, len(facts.Devices))
	}
	return nil
}

// layOut cuts the VM along its nodes; a real host, as its owner says.
func (i *Installation) layOut(ctx context.Context) (err error) {
	if i.Host.State == "ready" {
		i.stages.Note("it is laid out already")
		return nil
	}
	layout := api.SetLayout{SystemCPUs: vmSystemCPUs, Count: vmUnits, CPUsEach: vmUnitCPUs, VolumeBytes: vmVolume}
	if i.options.Target != nil {
		if layout, err = i.targetLayout(ctx); err != nil {
			return err
		}
	} else {
		at := slices.IndexFunc(i.Host.Facts.Devices, func(d api.HostDevice) bool { return d.Serial == testhost.DiskSerial })
		if at < 0 {
			return errors.New("the probe did not see the VM's second disk")
		}
		layout.Devices = []string{i.Host.Facts.Devices[at].ByID}
	}
	if i.Host, err = i.Client.SetLayout(ctx, i.Host.ID, layout, client.IfMatch(i.Host.Version)); err != nil {
		return fmt.Errorf("set the layout: %w", err)
	}
	i.stages.Note("the system keeps CPUs %s", i.Host.Layout.SystemCPUs)
	for n, unit := range i.Host.Layout.Units {
		i.stages.Note("unit %d: CPUs %s of node %s, %d MiB of memory, %d MiB of disk", n+1, unit.CPUs, unit.MemoryNodes,
			unit.MemoryMaxBytes>>20, unit.VolumeBytes>>20)
	}
	return nil
}

func (i *Installation) initializeHost(ctx context.Context) error {
	if i.Host.State == "ready" {
		i.stages.Note("it is initialized already")
		return nil
	}
	if i.options.Check && i.VM != nil {
		if err := i.lookBefore(ctx); err != nil {
			return err
		}
	}
	_, job, err := i.Client.InitializeHost(ctx, i.Host.ID)
	if err != nil {
		return fmt.Errorf("initialize the host: %w", err)
	}
	if err := i.follow(ctx, job); err != nil {
		return err
	}
	return i.refresh(ctx)
}

// allocate makes a key, an address pool, and an allocation.
func (i *Installation) allocate(ctx context.Context) error {
	pool := api.AddAddresses{}
	if i.options.Target != nil {
		if i.options.Target.Address == "" {
			return errors.New("a unit needs an address of its own")
		}
		pool.Addresses = []api.AddRange{{Range: i.options.Target.Address}}
	} else {
		for address, endpoint := range i.VM.Forward {
			pool.Addresses = append(pool.Addresses, api.AddRange{Range: address, Endpoint: endpoint})
		}
	}
	if _, err := i.Client.AddAddresses(ctx, pool); err != nil && !isConflict(err) {
		return fmt.Errorf("add addresses: %w", err)
	}
	i.KeyFile = i.path("id_ed25519")
	public, err := makeKey(i.KeyFile, tenant)
	if err != nil {
		return err
	}
	i.Allocation, err = i.allocateTo(ctx, api.CreateAllocation{Host: i.Host.ID, CPUs: 1, LoginUser: i.loginUser(), SSHKeys: []string{public}})
	return err
}

// loginUser: on a kept installation the last run's allocation may still be there, so a fresh name is generated.
func (i *Installation) loginUser() string {
	if i.options.Target != nil {
		return ""
	}
	return tenant
}

// allocateTo allocates, waits, and returns the allocation as it then is.
func (i *Installation) allocateTo(ctx context.Context, request api.CreateAllocation) (api.Allocation, error) {
	made, job, err := i.Client.CreateAllocation(ctx, request)
	if err != nil {
		return made, fmt.Errorf("allocate: %w", err)
	}
	if err := i.follow(ctx, job); err != nil {
		return made, err
	}
	if made, err = i.Client.GetAllocation(ctx, made.ID); err != nil {
		return made, fmt.Errorf("read the allocation: %w", err)
	}
	i.stages.Note("%s has %s: CPUs %s, %d MiB, address %s", made.LoginUser, made.Unit, made.CPUs, made.MemoryBytes>>20, made.Address)
	return made, i.knowHost(made)
}

// follow shows a job's tasks as they end, and fails if the job does.
func (i *Installation) follow(ctx context.Context, id string) error {
	for event, err := range i.Client.StreamJobLog(ctx, id, 0) {
		if err != nil {
			return fmt.Errorf("follow job %s: %w", id, err)
		}
		if event.Job != nil && event.Job.Worker != "" {
			i.workers[event.Job.Worker] = true
		}
		if event.Log == nil || event.Log.Task == "" {
			continue
		}
		switch entry := event.Log; entry.Kind {
		case "ok", "changed":
			i.stages.Note("%-7s %5.1f s  %s", entry.Kind, float64(entry.DurationMS)/1000, entry.Task)
		case "failed", "unreachable":
			i.stages.Note("%-7s %5.1f s  %s: %s", entry.Kind, float64(entry.DurationMS)/1000, entry.Task, entry.Message)
		}
	}
	job, err := i.Client.GetJob(ctx, id)
	if err != nil {
		return fmt.Errorf("read job %s: %w", id, err)
	}
	if job.State == "succeeded" {
		return nil
	}
	if job.Error == nil {
		return fmt.Errorf("job %s is %s: %s", job.Kind, job.State, job.Outcome)
	}
	return fmt.Errorf("job %s %s at task %q: %s. %s", job.Kind, job.State, job.Error.Task, job.Error.Message, job.Error.NextStep)
}

func (i *Installation) refresh(ctx context.Context) error {
	host, err := i.Client.GetHost(ctx, i.Host.ID)
	if err != nil {
		return fmt.Errorf("read the host: %w", err)
	}
	i.Host = host
	return nil
}

func isConflict(err error) bool {
	var problem *api.Problem
	return errors.As(err, &problem) && problem.Status == 409
}

// makeKey writes a new key and returns its public line.
func makeKey(file, comment string) (string, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make an SSH key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return "", fmt.Errorf("write an SSH key: %w", err)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		return "", fmt.Errorf("write an SSH key: %w", err)
	}
	line, err := ssh.NewPublicKey(public)
	if err != nil {
		return "", fmt.Errorf("write an SSH key: %w", err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(line))) + " " + comment, nil
}

// knowHost adds the key that a client should expect of an allocation.
func (i *Installation) knowHost(a api.Allocation) error {
	return i.know(a.SSHHost, a.SSHPort, a.HostKey)
}

func (i *Installation) know(name string, port int, key string) error {
	if port != 22 {
		name = "[" + name + "]:" + strconv.Itoa(port)
	}
	file, err := os.OpenFile(i.path("known_hosts"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("write known_hosts: %w", err)
	}
	if _, err := fmt.Fprintf(file, "%s %s\n", name, key); err != nil {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}

// sshArgs are the arguments of ssh and sftp that log in to an allocation. Nothing of the user's own configuration counts.
func (i *Installation) sshArgs(keyFile string, a api.Allocation) []string {
	return []string{
		"-F", "/dev/null", "-i", keyFile, "-o", "IdentitiesOnly=yes", "-o", "UserKnownHostsFile=" + i.path("known_hosts"),
		"-o", "Port=" + strconv.Itoa(a.SSHPort), "-o", "StrictHostKeyChecking=yes", "-o", "LogLevel=ERROR",
	}
}

func (i *Installation) sshCommand() string {
	return fmt.Sprintf("ssh -i %s -o IdentitiesOnly=yes -o UserKnownHostsFile=%s -p %d %s@%s", i.KeyFile, i.path("known_hosts"),
		i.Allocation.SSHPort, i.Allocation.LoginUser, i.Allocation.SSHHost)
}

// splitTarget reads user@address[:port].
func splitTarget(text string) (user, address string, port int, err error) {
	user, rest, found := strings.Cut(text, "@")
	if !found || user == "" || rest == "" || strings.HasPrefix(user, "-") || strings.HasPrefix(rest, "-") {
		return "", "", 0, fmt.Errorf("%q is not user@address", text)
	}
	address, portText, err := net.SplitHostPort(rest)
	if err != nil {
		return user, strings.Trim(rest, "[]"), 22, nil //nolint:nilerr // there is no port in it
	}
	if port, err = strconv.Atoi(portText); err != nil || port < 1 || port > 65535 {
		return "", "", 0, fmt.Errorf("%q has no valid port", text)
	}
	return user, address, port, nil
}
