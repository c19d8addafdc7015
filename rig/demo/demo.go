// Package demo sets up a whole installation on one machine, for a person to try and for the end-to-end test to look at:
// a database, backends and web apps (two of each, or as many as are asked for) behind HAProxy on one TLS origin, and a
// host cut into units, one of them handed out.
//
// It owns one directory and the processes it starts, and leaves none of them behind. It talks to the installation as
// anyone else would: over the API, SSH and nothing more.
package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/crdb/localdb"
	"kloigos/rig/testhost"
)

// Options say what to set up. Out and In must be set.
type Options struct {
	Out io.Writer
	In  io.Reader // answers questions, where there are any

	// Root is the source tree; empty means the one around the working directory.
	Root string
	// Dir is for everything that the demo writes; empty means DefaultDir.
	Dir string
	// Backends and Webapps say how many of each run behind the proxy; 0 means two, so that every promise about several
	// is met in the demo too.
	Backends, Webapps int
	// Port is wanted for the origin; another is taken if it is in use.
	Port int
	// Target is a host of the caller's, instead of a throwaway VM.
	Target *Target
	// Check sets up for Checks: a short lease, and failpoints, since backends are killed on purpose.
	Check bool
	// Ask waits for an answer after each failed check, with everything still running.
	Ask bool
	// Machine is the shape of the throwaway VM; its image and directory are the demo's.
	Machine testhost.Options
	// UnitNetwork is the backends' KLOIGOS_UNIT_NETWORK; empty means their default.
	UnitNetwork string
	// Bare ends the setup when the VM lets the control plane in: nothing is registered.
	Bare bool
	// SkipPackages leaves the machine's packages alone.
	SkipPackages bool
}

// Installation is a running demo.
type Installation struct {
	Web, API          string
	CAFile            string
	Account, Password string
	Token             string
	Client            *client.Client // as the administrator
	session           *client.Client // that made the token: an API token makes no other
	Host              api.Host
	Allocation        api.Allocation
	KeyFile           string // private key of the allocation
	VM                *testhost.VM
	Backends, Webapps []*Process
	Dir               string

	stages    *Stages
	options   Options
	group     *Group
	database  *localdb.Server
	proxy     *Process
	vmOptions testhost.Options
	lock      *os.File
	machine   chan machine
	booting   bool            // the machine's start was begun and its outcome not taken yet
	env       []string        // of every program
	workers   map[string]bool // backends that were seen doing jobs
	answers   *bufio.Reader
	before    picture // of the VM, before it was initialized; only for the checks
}

// machine is the VM and how it was started, or why there is none.
type machine struct {
	vm      *testhost.VM
	options testhost.Options
	err     error
}

// DefaultDir is where the demo of this user lives.
func DefaultDir() (string, error) {
	if os.Geteuid() == 0 {
		// Not in root's home: PostgreSQL runs as another user and must get there.
		return "/var/lib/kloigos-demo", nil
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "kloigos-demo"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find your home directory: %w", err)
	}
	return filepath.Join(home, ".local", "state", "kloigos-demo"), nil
}

// Up sets everything up and returns when a unit is handed out. What it started is stopped again if it fails.
func Up(ctx context.Context, options Options) (_ *Installation, err error) {
	i := &Installation{stages: NewStages(options.Out), options: options, machine: make(chan machine, 1), workers: make(map[string]bool)}
	i.answers = bufio.NewReader(options.In)
	if err := i.prepare(); err != nil {
		return nil, err
	}
	// The machine boots beside the rest, and must not outlive it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() {
		if err != nil {
			i.KeepHostJournal()
			cancel()
			i.stages.Line("stopping what was started")
			err = errors.Join(err, i.Down())
		}
	}()
	if !options.SkipPackages {
		if err := i.stages.Do("Packages", func() error { return i.installPackages(ctx) }); err != nil {
			return nil, err
		}
	}
	if options.Target == nil {
		i.booting = true
		go i.startMachine(ctx)
	}
	for _, stage := range i.setup() {
		if err := i.stages.Do(stage.name, func() error { return stage.run(ctx) }); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// step is one stage of the setup.
type step struct {
	name string
	run  func(context.Context) error
}

func (i *Installation) setup() []step {
	all := []step{
		{"Build", i.build},
		{"Database", i.startDatabase},
		{"Init", i.initialize},
		{"Control plane", i.startControlPlane},
		{"Log in", i.logIn},
		{"Host", i.awaitHost},
	}
	if i.options.Bare {
		return all
	}
	return append(all, []step{
		{"Register and probe", i.register},
		{"Layout", i.layOut},
		{"Initialize", i.initializeHost},
		{"Allocate", i.allocate},
	}...)
}

// Stages shows what happens.
func (i *Installation) Stages() *Stages { return i.stages }

// most is how many backends, or web apps, one machine is asked to run: each takes memory and connections to the database.
const most = 16

// replicas fills in how many of each there are.
func (o *Options) replicas() error {
	for _, n := range []struct {
		of    string
		count *int
	}{{"backends", &o.Backends}, {"web apps", &o.Webapps}} {
		if *n.count == 0 {
			*n.count = 2
		}
		if *n.count < 1 || *n.count > most {
			return fmt.Errorf("%d %s: from 1 to %d can be started", *n.count, n.of, most)
		}
	}
	if o.Check && o.Backends < 2 {
		return errors.New("the checks kill a backend and need another one: at least two")
	}
	return nil
}

// prepare takes the directory, and clears it unless a real host's records are in it.
func (i *Installation) prepare() (err error) {
	o := &i.options
	if err := o.replicas(); err != nil {
		return err
	}
	if o.Root == "" {
		if o.Root, err = sourceRoot(); err != nil {
			return err
		}
	}
	if o.Dir == "" {
		if o.Dir, err = DefaultDir(); err != nil {
			return err
		}
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return fmt.Errorf("find the demo's directory: %w", err)
	}
	i.Dir = filepath.Join(o.Dir, "vm")
	if o.Target != nil {
		i.Dir = filepath.Join(o.Dir, "host-"+o.Target.fileName())
	}
	if err := os.MkdirAll(o.Dir, 0o711); err != nil {
		return fmt.Errorf("make the demo's directory: %w", err)
	}
	// One demo a directory: a second one would clear the first one's feet away.
	i.lock, err = os.OpenFile(i.Dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open the demo's lock: %w", err)
	}
	if err := syscall.Flock(int(i.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = i.lock.Close()
		return fmt.Errorf("another demo runs in %s", i.Dir)
	}
	if o.Target == nil {
		// The machine is thrown away, and the records of it with it.
		if err := os.RemoveAll(i.Dir); err != nil {
			return fmt.Errorf("clear the last demo: %w", err)
		}
	}
	for _, dir := range []string{i.Dir, filepath.Join(i.Dir, "logs"), filepath.Join(i.Dir, "home")} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return fmt.Errorf("make the demo's directory: %w", err)
		}
	}
	i.group = NewGroup(filepath.Join(i.Dir, "logs"))
	i.env = []string{
		"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "HOME=" + filepath.Join(i.Dir, "home"), "LC_ALL=C.UTF-8", "TZ=" + os.Getenv("TZ"),
	}
	return nil
}

// Lines are what a person needs, as plain `name: value`.
func (i *Installation) Lines() []string {
	return []string{
		"web: " + i.Web,
		"account: " + i.Account,
		"password: " + i.Password,
		"api: " + i.API,
		"ca: " + i.CAFile,
		"token: " + i.Token,
		"ssh: " + i.sshCommand(),
		"processes: " + strings.Join(i.processes(), ", "),
	}
}

// KeepHostJournal puts the end of the VM's journal beside the other logs: what failed on a host is told there.
func (i *Installation) KeepHostJournal() {
	if i.VM == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	text, err := i.VM.Run(ctx, "sudo journalctl --no-pager --boot --lines 400 --output short-precise")
	if err != nil {
		text += "\n" + err.Error()
	}
	_ = os.WriteFile(i.path("logs", "host-journal.log"), []byte(text), 0o600)
}

// Down stops everything, the proxy first and the database last.
func (i *Installation) Down() error {
	var errs []error
	errs = append(errs, i.group.Stop())
	if i.booting {
		// Its start was cancelled, and ends with all that it started.
		i.VM = (<-i.machine).vm
	}
	if i.VM != nil {
		errs = append(errs, i.VM.Stop())
	}
	if i.database != nil {
		errs = append(errs, i.database.Stop())
	}
	if i.lock != nil {
		errs = append(errs, i.lock.Close())
	}
	return errors.Join(errs...)
}

// sourceRoot finds go.mod upward from the working directory.
func sourceRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the source tree: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == "/" {
			return "", errors.New("run this inside of the source tree")
		}
	}
}
