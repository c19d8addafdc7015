package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/inventory/testhost"
)

// Options is what a person can ask of the demo.
type Options struct {
	Check     bool     // do the whole job without a person, and look
	Host      string   // user@address[:port] of a real host instead of the VM
	Addresses []string // for the units of a real host
	Devices   []string // of a real host, by-id; none: its volume group must be there
	Yes       bool     // don't ask before touching a real host
	Backends  int
	Webapps   int
	Port      int
	Root      string // the repository
	Dir       string // of the installation; emptied at each start
	Cache     string // of the VM's image
	In        io.Reader
	Out       io.Writer
}

// Demo is a running demo.
type Demo struct {
	*Installation
	Steps
	VM     *testhost.VM // nil with a real host
	Host   api.Host
	Tenant Tenant
	First  api.Allocation
}

// Run sets everything up, shows where it is, and stays until ctx is done; with
// Check it looks at everything instead, and returns.
func Run(ctx context.Context, o Options) (err error) {
	stages := NewStages(o.Out)
	if err := stages.Do("Look for the programs that are needed", func() error { return install(ctx, o, stages) }); err != nil {
		return err
	}
	d, err := Start(ctx, stages, o)
	defer func() { err = errors.Join(err, d.Stop()) }()
	if err != nil {
		return err
	}
	if o.Check {
		return d.Check(ctx, o.Out)
	}
	if err := d.show(o.Out); err != nil {
		return err
	}
	stages.Line("\nSet up in %s. It stays until you press Ctrl-C. Logs are in %s.", seconds(stages.Took()), filepath.Join(o.Dir, "log"))
	for {
		select {
		case <-ctx.Done():
			stages.Line("\nStopping.")
			return nil
		case p := <-d.Group.Died():
			stages.Line("%s (process %d) ended; the others go on. The end of %s:\n%s", p.Name, p.PID, p.Log, p.Tail())
		}
	}
}

// install installs what is missing; the script says what and why first.
func install(ctx context.Context, o Options, stages *Stages) error {
	cmd := exec.CommandContext(ctx, filepath.Join(o.Root, "inventory", "install-packages"), "demo")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.In, stages.Writer(), stages.Writer()
	return cmd.Run()
}

// Start starts an installation and its host, and allocates a first unit. The
// machine boots while the rest is built.
func Start(ctx context.Context, stages *Stages, o Options) (*Demo, error) {
	d := &Demo{}
	both, setup := errgroup.WithContext(ctx)
	if o.Host == "" {
		both.Go(func() (err error) {
			d.VM, err = bootVM(ctx, stages, o)
			return err
		})
	}
	both.Go(func() (err error) {
		d.Installation, err = StartInstallation(setup, stages, Setup{Root: o.Root, Dir: o.Dir, Backends: o.Backends, Webapps: o.Webapps, Port: o.Port})
		return err
	})
	if o.Host == "" {
		stages.Note("meanwhile a virtual machine is built (once) and booted")
	}
	if err := both.Wait(); err != nil {
		return d, err
	}
	d.Steps = Steps{API: d.Client, Stages: stages}
	return d, d.cut(ctx, o)
}

func bootVM(ctx context.Context, stages *Stages, o Options) (*testhost.VM, error) {
	dir := o.Dir + "-vm"
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("empty the machine's directory: %w", err)
	}
	image, err := testhost.EnsureImage(ctx, o.Cache, io.Discard)
	if err != nil {
		return nil, err
	}
	vm, err := testhost.Start(ctx, testhost.Options{Image: image, Dir: dir, Hostname: "demo1"})
	if err == nil {
		stages.Note("the virtual machine is up (%s)", vm.Accelerator)
	}
	return vm, err
}

// cut takes the host from its registration to its first allocation.
func (d *Demo) cut(ctx context.Context, o Options) (err error) {
	var target Target
	stages := d.Stages
	return errors.Join(firstError([]func() error{
		func() error {
			return stages.Do("Let the control plane in: its public key for the admin user", func() (err error) {
				target, err = d.target(ctx, o)
				return err
			})
		},
		func() error {
			return stages.Do("Register "+target.Name+" and probe it", func() (err error) {
				if err = d.AddAddresses(ctx, target); err == nil {
					d.Host, err = d.Register(ctx, target)
				}
				return err
			})
		},
		func() error {
			return stages.Do("Lay it out along its NUMA nodes", func() (err error) {
				d.Host, err = d.Layout(ctx, d.Host, target.Layout)
				return err
			})
		},
		func() error { return d.confirm(o) },
		func() error {
			return stages.Do("Initialize it", func() error { return d.Initialize(ctx, d.Host.ID) })
		},
		func() error {
			return stages.Do("Allocate a unit with a fresh SSH key", func() (err error) {
				if d.Tenant, err = NewTenant(o.Dir, "tenant"); err != nil {
					return err
				}
				d.First, err = d.Allocate(ctx, api.CreateAllocation{CPUs: 1, LoginUser: "alice", SSHKeys: []string{d.Tenant.PublicKey}})
				return err
			})
		},
	}))
}

func firstError(steps []func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// target says what the host is, after letting the control plane's key in.
func (d *Demo) target(ctx context.Context, o Options) (Target, error) {
	system, err := d.Client.GetSystem(ctx)
	if err != nil {
		return Target{}, err
	}
	if d.VM != nil {
		if err := d.VM.AuthorizeKey(ctx, system.PublicKey); err != nil {
			return Target{}, err
		}
		return Target{Name: "demo1", Address: d.VM.SSHHost, Port: d.VM.SSHPort, User: d.VM.User, HostKey: d.VM.HostKey,
			Networks: []string{"default"}, Addresses: d.VM.Forward, Layout: api.SetLayout{Count: 2, CPUsEach: 3, SystemCPUs: "0,4"}}, nil
	}
	t, err := realTarget(o)
	if err != nil {
		return t, err
	}
	d.Stages.Note("This key must be in ~/.ssh/authorized_keys of %s on the host, which needs passwordless sudo:", t.User)
	d.Stages.Line("%s", system.PublicKey)
	return t, ask(o, "Is it there?")
}

func realTarget(o Options) (Target, error) {
	user, rest, ok := strings.Cut(o.Host, "@")
	if !ok {
		return Target{}, fmt.Errorf("--host %q is not user@address", o.Host)
	}
	t := Target{Name: "host1", Address: rest, Port: 22, User: user, Networks: []string{"default"}, Addresses: map[string]string{},
		Layout: api.SetLayout{Count: 1, CPUsEach: 1, Devices: o.Devices}}
	if host, port, err := net.SplitHostPort(rest); err == nil {
		t.Address = host
		if t.Port, err = strconv.Atoi(port); err != nil {
			return Target{}, fmt.Errorf("--host %q has no sensible port", o.Host)
		}
	}
	if len(o.Addresses) == 0 {
		return Target{}, errors.New("name at least one free address of the host's network with --address; a unit gets it")
	}
	for _, a := range o.Addresses {
		t.Addresses[a] = ""
	}
	return t, nil
}

// confirm shows what will be done to a real host, and asks.
func (d *Demo) confirm(o Options) error {
	if d.VM != nil {
		return nil
	}
	l := d.Host.Layout
	d.Stages.Line(`
This will be done to %s (%s, %s):
  - packages that are missing are installed (lvm2, nftables, apparmor, dbus-user-session, libpam-systemd)
  - its system and its administrators keep to CPUs %s
  - volume group %s is made of %s, and a volume of %s in it
  - a user, a systemd slice, an AppArmor profile, nftables rules and an address for the unit
  - other users' processes are hidden (hidepid), cron and at are denied to units
Decommissioning the host in the web app takes all of it away again, but for packages and logs.`,
		d.Host.Address, d.Host.Facts.OS.Name, d.Host.Fingerprint, l.SystemCPUs, l.VolumeGroup, strings.Join(l.Devices, ", "), mebibytes(l.Units[0].VolumeBytes))
	return ask(o, "Go on?")
}

func ask(o Options, question string) error {
	if o.Yes {
		return nil
	}
	if _, err := fmt.Fprintf(o.Out, "%s [y/N] ", question); err != nil {
		return err
	}
	answer, _ := bufio.NewReader(o.In).ReadString('\n')
	if strings.ToLower(strings.TrimSpace(answer)) != "y" {
		return errors.New("stopped, as you did not say y")
	}
	return nil
}

// show prints plain lines for people and programs.
func (d *Demo) show(out io.Writer) error {
	ssh, err := d.Tenant.SSH(d.First)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nweb: %s/\naccount: %s\npassword: %s\napi: %s/api/v1\ntoken: %s\nca: %s\nssh: %s\n", d.URL, d.Account, d.Password,
		d.URL, d.Token, d.CAFile, ssh)
	return err
}

// Stop stops everything that was started.
func (d *Demo) Stop() error {
	var err error
	if d.VM != nil {
		err = d.VM.Stop()
	}
	if d.Installation != nil {
		err = errors.Join(err, d.Installation.Stop())
	}
	return err
}
