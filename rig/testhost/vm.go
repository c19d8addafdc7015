package testhost

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// bootTimeout bounds the wait for SSH after a start: a boot takes half a
	// minute on two emulated, busy cores.
	bootTimeout = 5 * time.Minute
	// firstBootTimeout is that of the first of two starts in emulation; see VM.Silent.
	firstBootTimeout = 150 * time.Second
	// kvmBootTimeout is far more than a boot takes where KVM works; after it the
	// machine is started again without.
	kvmBootTimeout = 60 * time.Second
	stopTimeout    = 10 * time.Second
	// portAttempts bounds the search for free ports: between our look and
	// QEMU's own, another program may take one.
	portAttempts = 5
)

// VM is a running test host.
type VM struct {
	SSHHost    string // LoopbackHost
	SSHPort    int
	User       string // User
	PrivateKey []byte // PEM, of User
	PublicKey  string // authorized_keys form, without a comment
	HostKey    string // "ssh-ed25519 AAAA..."
	// Forward maps a guest address to the loopback address that its port 22 is
	// forwarded to: "10.0.2.101" to "127.0.0.1:40101".
	Forward     map[string]string
	Dir         string
	Accelerator string // "kvm" or "tcg"
	// Silent says where a first start stood that gave no greeting in time, with its console and its processors; "" if there
	// was none. Such a machine is started once more: the emulator was seen to hang on a machine that was busy otherwise, before
	// anything of the guest's own ran. Whoever starts a machine shows it.
	Silent string

	process *process
	signer  ssh.Signer
	hostKey ssh.PublicKey
}

// state is the content of vm.json. Keys are named, not held.
type state struct {
	SSHHost        string            `json:"ssh_host"`
	SSHPort        int               `json:"ssh_port"`
	User           string            `json:"user"`
	PrivateKeyFile string            `json:"private_key_file"`
	PublicKey      string            `json:"public_key"`
	HostKey        string            `json:"host_key"`
	KnownHostsFile string            `json:"known_hosts_file"`
	Forward        map[string]string `json:"forward"`
	ConsoleLog     string            `json:"console_log"`
	Accelerator    string            `json:"accelerator"`
	Image          string            `json:"image"`
	UUID           string            `json:"uuid"`
	PID            int               `json:"pid"`
}

// Start boots a machine in o.Dir and returns when it answers SSH. A directory
// that was used before keeps its disks, keys and, where they are free, its
// ports: starting there again is switching the same machine on. When Start
// fails or ctx ends, no process is left.
func Start(ctx context.Context, o Options) (*VM, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("start a test host: %w", err)
	}
	if err := missing(runRequirements); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("start a test host: %w", err)
	}
	o.Dir, o.tscKHz = dir, tscKHz()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the machine's directory: %w", err)
	}
	// Held until the machine is up, so that two starts in one directory don't meet.
	unlock, err := lockFile(ctx, filepath.Join(dir, ".lock"))
	if err != nil {
		return nil, fmt.Errorf("lock the machine's directory: %w", err)
	}
	defer unlock()
	if running, err := loadProcess(dir); err != nil {
		return nil, err
	} else if running != nil && running.alive() {
		return nil, fmt.Errorf("a machine runs in %s already, as process %d", dir, running.PID)
	}
	before, err := loadState(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if before.Image != "" && before.Image != o.Image.Hash {
		return nil, fmt.Errorf("the machine in %s was made from the image %s, not %s: remove the directory to start afresh",
			dir, before.Image, o.Image.Hash)
	}
	vm, err := prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	accelerator := o.Accelerator
	if accelerator == "" {
		accelerator = chooseAccelerator(ctx, o.Image)
	}
	err = vm.boot(ctx, o, accelerator, before)
	if err != nil && accelerator == accelKVM && o.Accelerator == "" && ctx.Err() == nil {
		rememberAccelerator(o.Image, accelTCG)
		accelerator, err = accelTCG, vm.boot(ctx, o, accelTCG, before)
	}
	if errors.Is(err, context.DeadlineExceeded) && accelerator == accelTCG && ctx.Err() == nil {
		vm.Silent = err.Error()
		err = vm.boot(ctx, o, accelTCG, before)
	}
	if err != nil {
		return nil, err
	}
	return vm, nil
}

// prepare makes the machine's disks and keys where they are missing.
func prepare(ctx context.Context, o Options) (*VM, error) {
	at := func(name string) string { return filepath.Join(o.Dir, name) }
	host, err := ensureKey(at(hostKeyFile), o.Hostname)
	if err != nil {
		return nil, err
	}
	user, err := ensureKey(at(userKeyFile), User+"@"+o.Hostname)
	if err != nil {
		return nil, err
	}
	if err := writeFile(at(hostnameFile), []byte(o.Hostname+"\n"), 0o644); err != nil {
		return nil, fmt.Errorf("write the host's name: %w", err)
	}
	if err := writeFile(at(interfacesFile), []byte(interfaces(o.Address)), 0o644); err != nil {
		return nil, fmt.Errorf("write the host's address: %w", err)
	}
	if _, err := os.Stat(at(rootDisk)); errors.Is(err, os.ErrNotExist) {
		// Made under another name: a half-written overlay must not be booted later.
		out, err := exec.CommandContext(ctx, program("qemu-img"), "create", "-q", "-f", "qcow2",
			"-F", "raw", "-b", o.Image.Root, at(rootDisk+".new")).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("make the root disk: %w: %s", err, strings.TrimSpace(string(out)))
		}
		if err := os.Rename(at(rootDisk+".new"), at(rootDisk)); err != nil {
			return nil, fmt.Errorf("make the root disk: %w", err)
		}
	}
	if _, err := os.Stat(at(secondDisk)); errors.Is(err, os.ErrNotExist) {
		file, err := os.OpenFile(at(secondDisk), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("make the second disk: %w", err)
		}
		defer file.Close()
		if err := file.Truncate(int64(o.DiskGiB) << 30); err != nil {
			return nil, fmt.Errorf("make the second disk: %w", err)
		}
	}
	return &VM{
		SSHHost: LoopbackHost, User: User,
		PrivateKey: user.private, PublicKey: user.public, HostKey: host.public,
		Dir: o.Dir, signer: user.signer, hostKey: host.signer.PublicKey(),
	}, nil
}

// boot starts QEMU and waits for SSH.
func (vm *VM) boot(ctx context.Context, o Options, accelerator string, before state) error {
	vm.Accelerator = accelerator
	uuid := before.UUID
	if uuid == "" {
		uuid = newUUID()
	}
	if o.Through != 0 { // nothing is forwarded here
		return vm.launch(ctx, o, accelerator, uuid, map[string]int{GuestAddress: o.Through})
	}
	wanted := before.ports()
	var err error
	for range portAttempts {
		var ports map[string]int
		if ports, err = choosePorts(append([]string{GuestAddress}, o.Addresses...), wanted); err != nil {
			return err
		}
		wanted = nil
		if err = vm.launch(ctx, o, accelerator, uuid, ports); err == nil {
			return nil
		}
		if ctx.Err() != nil || !strings.Contains(readLog(o.Dir), "host forwarding rule") {
			break
		}
	}
	return err
}

// launch starts QEMU once and waits for SSH. It leaves no process when it fails.
func (vm *VM) launch(ctx context.Context, o Options, accelerator, uuid string, ports map[string]int) error {
	var err error
	if vm.process, err = spawn(o.Dir, qemuArgs(o, accelerator, uuid, ports), o.Detach); err != nil {
		return err
	}
	vm.setPorts(ports)
	if err = vm.save(o, uuid); err == nil {
		err = vm.waitBoot(ctx)
	}
	if err != nil {
		return errors.Join(err, vm.Stop())
	}
	return nil
}

func (vm *VM) waitBoot(ctx context.Context) error {
	limit := bootTimeout
	switch {
	case vm.Accelerator == accelKVM:
		limit = kvmBootTimeout
	case vm.Silent == "":
		limit = firstBootTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return vm.WaitSSH(ctx)
}

func (vm *VM) setPorts(ports map[string]int) {
	vm.SSHPort = ports[GuestAddress]
	vm.Forward = map[string]string{}
	for address, port := range ports {
		if address != GuestAddress {
			vm.Forward[address] = net.JoinHostPort(LoopbackHost, strconv.Itoa(port))
		}
	}
}

// choosePorts finds a free loopback port for each address, the wanted one if
// it is free.
func choosePorts(addresses []string, wanted map[string]int) (map[string]int, error) {
	ports := map[string]int{}
	// All are held open until all are found, so that none is chosen twice.
	for _, address := range addresses {
		if _, again := ports[address]; again {
			return nil, fmt.Errorf("the address %s is forwarded twice", address)
		}
		listener, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", LoopbackHost, wanted[address]))
		if err != nil {
			listener, err = net.Listen("tcp4", LoopbackHost+":0")
		}
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()
		ports[address] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// save records the running machine: its process first, so that it can be ended
// whatever happens next.
func (vm *VM) save(o Options, uuid string) error {
	if err := vm.process.save(o.Dir); err != nil {
		return fmt.Errorf("record the machine's process: %w", err)
	}
	at := func(name string) string { return filepath.Join(o.Dir, name) }
	known := fmt.Sprintf("[%s]:%d %s\n", LoopbackHost, vm.SSHPort, vm.HostKey)
	for _, forward := range vm.Forward {
		host, port, _ := net.SplitHostPort(forward)
		known += fmt.Sprintf("[%s]:%s %s\n", host, port, vm.HostKey)
	}
	if err := writeFile(at(knownHostsFile), []byte(known), 0o644); err != nil {
		return fmt.Errorf("record the machine's host key: %w", err)
	}
	content, err := json.MarshalIndent(state{
		SSHHost: vm.SSHHost, SSHPort: vm.SSHPort, User: vm.User,
		PrivateKeyFile: at(userKeyFile), PublicKey: vm.PublicKey, HostKey: vm.HostKey,
		KnownHostsFile: at(knownHostsFile), Forward: vm.Forward, ConsoleLog: at(consoleLog),
		Accelerator: vm.Accelerator, Image: o.Image.Hash, UUID: uuid, PID: vm.process.PID,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("record the machine: %w", err)
	}
	if err := writeFile(at(stateFile), append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("record the machine: %w", err)
	}
	return nil
}

func loadState(dir string) (state, error) {
	content, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return state{}, fmt.Errorf("read the machine's record: %w", err)
	}
	var s state
	if err := json.Unmarshal(content, &s); err != nil {
		return state{}, fmt.Errorf("read the machine's record: %w", err)
	}
	return s, nil
}

func (s state) ports() map[string]int {
	ports := map[string]int{}
	if s.SSHPort != 0 {
		ports[GuestAddress] = s.SSHPort
	}
	for address, forward := range s.Forward {
		if _, port, err := net.SplitHostPort(forward); err == nil {
			if number, err := strconv.Atoi(port); err == nil {
				ports[address] = number
			}
		}
	}
	return ports
}

// Open returns the machine that runs in a directory, started by any process.
func Open(dir string) (*VM, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	running, err := loadProcess(dir)
	if err != nil {
		return nil, err
	}
	if running == nil || !running.alive() {
		return nil, fmt.Errorf("no machine runs in %s", dir)
	}
	s, err := loadState(dir)
	if err != nil {
		return nil, err
	}
	user, err := loadKey(filepath.Join(dir, userKeyFile))
	if err != nil {
		return nil, err
	}
	host, err := loadKey(filepath.Join(dir, hostKeyFile))
	if err != nil {
		return nil, err
	}
	return &VM{
		SSHHost: s.SSHHost, SSHPort: s.SSHPort, User: s.User,
		PrivateKey: user.private, PublicKey: user.public, HostKey: host.public,
		Forward: s.Forward, Dir: dir, Accelerator: s.Accelerator,
		process: running, signer: user.signer, hostKey: host.signer.PublicKey(),
	}, nil
}

// Stop switches the machine off, as pulling its plug would, and waits until its
// process is gone. What the guest wrote stays on its disks. Stopping twice is
// the same as once.
func (vm *VM) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return vm.process.kill(ctx)
}

// StopDir stops the machine of a directory. No machine there is no error.
func StopDir(dir string) error {
	running, err := loadProcess(dir)
	if err != nil || running == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return running.kill(ctx)
}

// RemoveDir stops the machine of a directory and deletes the directory. It
// refuses one that holds no machine.
func RemoveDir(dir string) error {
	_, err := os.Stat(filepath.Join(dir, hostKeyFile))
	if err != nil {
		return fmt.Errorf("remove a machine: %w", err)
	}
	if err := StopDir(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove a machine: %w", err)
	}
	return nil
}

// Done is closed when the machine ends by itself or is stopped; nil for one
// that this process did not start.
func (vm *VM) Done() <-chan struct{} { return vm.process.done }

// PID is QEMU's process id.
func (vm *VM) PID() int { return vm.process.PID }

// Signal sends QEMU a signal: SIGSTOP and SIGCONT make a host that hangs and
// comes back.
func (vm *VM) Signal(signal syscall.Signal) error {
	if !vm.process.alive() {
		return os.ErrProcessDone
	}
	return syscall.Kill(vm.process.PID, signal)
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
