package demo

import (
	"bytes"
	"context"
	_ "embed" // the scripts
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"kloigos/backend/api"
	"kloigos/rig/testhost"
)

//go:embed guest/leftovers.py
var leftoversScript []byte

// sshTimeout bounds one login with what it runs: on a busy, emulated machine a session takes seconds to begin.
const sshTimeout = 5 * time.Minute

// insideScript looks around in a unit. It belongs to the playbooks, whose promises it can tell; see its own text for
// what it is asked and what it says.
const insideScript = "playbooks/tests/inside.py"

// question is what the script is asked.
type question struct {
	Way     string   `json:"way"`
	Target  string   `json:"target,omitempty"` // host:port for a plain connection
	Target6 string   `json:"target6,omitempty"`
	Others  []string `json:"other_addresses,omitempty"` // sources that must not work
	Paths   []string `json:"other_paths,omitempty"`     // what must not be readable
}

func (q question) text() string {
	text, err := json.Marshal(q)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(text)
}

// answer is what the script says.
type answer struct {
	UID         int64  `json:"uid"`
	GID         int64  `json:"gid"`
	Nproc       int    `json:"nproc"`
	CPUs        string `json:"cpus"`
	MemoryNodes string `json:"memory_nodes"`
	Cgroup      string `json:"cgroup"`
	Limits      struct {
		CPUs            string `json:"cpus"`
		MemoryNodes     string `json:"memory_nodes"`
		MemoryMaxBytes  int64  `json:"memory_max_bytes"`
		MemoryHighBytes int64  `json:"memory_high_bytes"`
		SwapMaxBytes    *int64 `json:"swap_max_bytes"`
		TasksMax        int    `json:"tasks_max"`
	} `json:"limits"`
	AppArmor struct {
		Profile string `json:"profile"`
		Mode    string `json:"mode"`
	} `json:"apparmor"`
	NoNewPrivileges bool `json:"no_new_privileges"`
	Home            struct {
		place
		Mode  string `json:"mode"`
		Owner int64  `json:"owner"`
	} `json:"home"`
	Writable     []place `json:"writable"`
	MessageQueue bool    `json:"message_queue"`
	Network      *struct {
		UDPSource string `json:"udp_source"`
		TCP       struct {
			Connected bool   `json:"connected"`
			Source    string `json:"source"`
			Error     string `json:"error"`
		} `json:"tcp"`
		Others []struct {
			Address string `json:"address"`
			sent
		} `json:"other_sources"`
		IPv6     sent `json:"ipv6"`
		Loopback bool `json:"loopback"`
	} `json:"network"`
	SSHD    []string `json:"sshd"`
	Cgroups struct {
		SideBySide int `json:"side_by_side"`
		Nested     int `json:"nested"`
	} `json:"cgroups"`
	Protocols []string `json:"protocols"`
	Processes struct {
		Others []int `json:"others"`
	} `json:"processes"`
	SocketsOfOthers  int      `json:"sockets_of_others"`
	Readable         []string `json:"readable"`
	SessionsOfOthers []string `json:"sessions_of_others"`
	Escapes          []struct {
		Try       string `json:"try"`
		Succeeded bool   `json:"succeeded"`
		Detail    string `json:"detail"`
	} `json:"escapes"`
}

type place struct {
	Path   string `json:"path"`
	Mount  string `json:"mount"`
	Device string `json:"device"`
	Fstype string `json:"fstype"`
}

type sent struct {
	UDP bool `json:"udp_sent"`
	TCP bool `json:"tcp_connected"`
}

// visitor is someone with a key to an allocation.
type visitor struct {
	i       *Installation
	keyFile string
	a       api.Allocation
	unit    api.ComputeUnit
	public  string // line of the key that logs in, where the check made it
}

// ownNetwork tells whether the unit has a network of its own.
func (v visitor) ownNetwork() bool { return v.a.UnitNetwork == "unit" }

// visit reads the unit's promises again: they are what the checks compare with.
func (i *Installation) visit(ctx context.Context, a api.Allocation, keyFile string) (visitor, error) {
	unit, err := i.Client.GetComputeUnit(ctx, a.UnitID)
	if err != nil {
		return visitor{}, fmt.Errorf("read the unit: %w", err)
	}
	return visitor{i: i, keyFile: keyFile, a: a, unit: unit}, nil
}

// ssh runs a command in the unit, with a terminal if asked for.
func (v visitor) ssh(ctx context.Context, stdin string, terminal bool, command ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, sshTimeout)
	defer cancel()
	args := append(v.i.sshArgs(v.keyFile, v.a), "-o", "BatchMode=yes", "-o", "ConnectTimeout=60")
	if terminal {
		args = append(args, "-tt")
	}
	args = append(append(args, "-l", v.a.LoginUser, "--", v.a.SSHHost), command...)
	return output(ctx, stdin, "ssh", args...)
}

// sftp runs a batch of sftp's commands in the unit.
func (v visitor) sftp(ctx context.Context, batch string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, sshTimeout)
	defer cancel()
	args := append(v.i.sshArgs(v.keyFile, v.a), "-o", "BatchMode=yes", "-o", "ConnectTimeout=60", "-q", "-b", "-", "--", v.a.LoginUser+"@"+v.a.SSHHost)
	return output(ctx, batch, "sftp", args...)
}

func output(ctx context.Context, stdin, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

const scriptInUnit = "kloigos-inside.py"

// ask runs the script through one way in; run gets its command line and returns what it printed.
func (v visitor) ask(q question, run func(command string) (string, error)) (answer, error) {
	text, err := run("python3 ~/" + scriptInUnit + " '" + q.text() + "'")
	if err != nil {
		return answer{}, err
	}
	return parseAnswer(text)
}

// terminal is what a shell says to a terminal and nobody should read: modes, titles.
var terminal = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\a]*\a`)

// parseAnswer takes the last object whose braces stand alone: a terminal adds greetings and echoes.
func parseAnswer(text string) (said answer, err error) {
	lines := strings.Split(strings.ReplaceAll(terminal.ReplaceAllString(text, ""), "\r", ""), "\n")
	end := -1
	for at, line := range slices.Backward(lines) {
		switch {
		case line == "}" && end < 0:
			end = at
		case line == "{" && end >= 0:
			if err := json.Unmarshal([]byte(strings.Join(lines[at:end+1], "\n")), &said); err != nil {
				return said, fmt.Errorf("read the answer: %w", err)
			}
			return said, nil
		}
	}
	return said, fmt.Errorf("no answer in the last of %q", text[max(0, len(text)-500):])
}

// held compares what a process sees with what its unit was promised, and names every difference.
func (v visitor) held(said answer) error {
	d := &differences{}
	d.want("uid", said.UID, v.a.UID)
	d.want("gid", said.GID, v.a.UID)
	d.want("nproc", said.Nproc, v.unit.CPUCount)
	d.want("allowed CPUs", said.CPUs, v.unit.CPUs)
	d.want("effective cpuset", said.Limits.CPUs, v.unit.CPUs)
	d.want("memory nodes", said.MemoryNodes, v.unit.MemoryNodes)
	d.want("effective memory nodes", said.Limits.MemoryNodes, v.unit.MemoryNodes)
	// The kernel counts whole pages.
	const page = 4096
	d.want("memory.max", said.Limits.MemoryMaxBytes/page, v.unit.MemoryMaxBytes/page)
	d.want("memory.high", said.Limits.MemoryHighBytes/page, v.unit.MemoryHighBytes/page)
	d.refuse(said.Limits.SwapMaxBytes == nil || *said.Limits.SwapMaxBytes != 0, "may swap")
	d.want("tasks", said.Limits.TasksMax, v.unit.TasksMax)
	d.want("AppArmor", said.AppArmor.Profile+" "+said.AppArmor.Mode, "kloigos-"+v.unit.Name+" enforce")
	d.refuse(!said.NoNewPrivileges, "programs can gain privileges")
	slice := fmt.Sprintf("/user.slice/user-%d.slice/", v.a.UID)
	d.refuse(!strings.HasPrefix(said.Cgroup, slice), "cgroup is %s, not below %s", said.Cgroup, slice)
	for _, escape := range said.Escapes {
		d.refuse(escape.Succeeded, "gets out by %s: %s", escape.Try, escape.Detail)
	}
	d.refuse(len(said.Escapes) == 0, "tried no way out")
	d.refuse(len(said.Processes.Others) > 0, "sees processes of others: %v", said.Processes.Others)
	d.refuse(said.SocketsOfOthers > 0, "sees %d sockets of others", said.SocketsOfOthers)
	d.refuse(len(said.SessionsOfOthers) > 0, "sees sessions of others: %q", said.SessionsOfOthers)
	d.refuse(len(said.Readable) > 0, "can read %q", said.Readable)
	sshd := said.SSHD
	if v.ownNetwork() { // and with it an sshd of its own, on all its addresses
		sshd = slices.DeleteFunc(slices.Clone(sshd), func(address string) bool { return address != testhost.GuestAddress })
	}
	d.refuse(len(sshd) > 0, "reaches sshd at %q", sshd)
	d.refuse(said.Cgroups.SideBySide == 0 || said.Cgroups.SideBySide > 1024, "makes %d cgroups", said.Cgroups.SideBySide)
	d.refuse(said.Cgroups.Nested > 16, "makes %d cgroups in each other", said.Cgroups.Nested)
	d.refuse(len(said.Protocols) > 0, "opens sockets of %q", said.Protocols)
	v.heldFiles(d, said)
	v.heldNetwork(d, said)
	return errors.Join(d.found...)
}

// heldFiles: home on the unit's volume, and nothing else to write but what is there or charged to the unit's memory.
func (v visitor) heldFiles(d *differences, said answer) {
	home := said.Home
	d.refuse(!strings.HasPrefix(home.Path, v.unit.Mount+"/"), "home is %s, not below %s", home.Path, v.unit.Mount)
	d.want("home is on", home.Mount, v.unit.Mount)
	d.want("owner of home", home.Owner, v.a.UID)
	d.want("mode of home", home.Mode, "0700")
	runtime := fmt.Sprintf("/run/user/%d", v.a.UID)
	for _, w := range said.Writable {
		onVolume := w.Mount == v.unit.Mount || (w.Mount == "/tmp" || w.Mount == "/var/tmp") && w.Device == home.Device
		inMemory := (w.Mount == "/dev/shm" || w.Mount == runtime) && w.Fstype == "tmpfs"
		d.refuse(!onVolume && !inMemory, "can write %s, on %s at %s", w.Path, w.Device, w.Mount)
	}
	d.refuse(len(said.Writable) == 0, "can write nowhere")
	d.refuse(said.MessageQueue, "can make a POSIX message queue")
}

// heldNetwork: the unit's own address on plain connections, and no other possible.
func (v visitor) heldNetwork(d *differences, said answer) {
	network := said.Network
	if network == nil {
		return
	}
	d.refuse(!network.TCP.Connected, "no plain connection: %s", network.TCP.Error)
	d.want("source of a plain connection", network.TCP.Source, v.a.Address)
	d.want("source of a datagram", network.UDPSource, v.a.Address)
	for _, other := range network.Others {
		// A datagram leaves the unit's own network, and the host drops it: the attacks look whether it arrives.
		d.refuse(other.TCP || other.UDP && !v.ownNetwork(), "can send from %s", other.Address)
	}
	d.refuse(network.IPv6.TCP || network.IPv6.UDP, "can send with IPv6")
	d.refuse(!network.Loopback, "loopback does not work")
}

// differences between what is and what was promised.
type differences struct{ found []error }

func (d *differences) want(what string, got, want any) {
	d.refuse(fmt.Sprint(got) != fmt.Sprint(want), "%s is %v, not %v", what, got, want)
}

func (d *differences) refuse(bad bool, format string, args ...any) {
	if bad {
		d.found = append(d.found, fmt.Errorf(format, args...))
	}
}

// onHost runs a script as root on the VM and returns its output.
func (i *Installation) onHost(ctx context.Context, script []byte, argument any) (string, error) {
	text, err := json.Marshal(argument)
	if err != nil {
		return "", fmt.Errorf("write the script's argument: %w", err)
	}
	return i.VM.Run(ctx, fmt.Sprintf("echo %s | base64 -d >/tmp/kloigos-check.py && sudo python3 /tmp/kloigos-check.py \"$(echo %s | base64 -d)\"; rm -f /tmp/kloigos-check.py",
		base64.StdEncoding.EncodeToString(script), base64.StdEncoding.EncodeToString(text)))
}

// ear is what the units' plain connections and datagrams go to, through QEMU's gateway: it answers each connection with a byte.
type ear struct {
	port int
	stop func()

	mu    sync.Mutex
	heard []string // datagrams
}

// datagrams are those that have come so far.
func (e *ear) datagrams() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

func listen(ctx context.Context) (*ear, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the units: %w", err)
	}
	packets, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", listener.Addr().String())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for the units: %w", err), listener.Close())
	}
	e := &ear{port: listener.Addr().(*net.TCPAddr).Port, stop: func() { _ = errors.Join(listener.Close(), packets.Close()) }}
	go func() {
		buffer := make([]byte, 1<<10)
		for {
			n, _, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			e.mu.Lock()
			e.heard = append(e.heard, string(buffer[:n]))
			e.mu.Unlock()
		}
	}()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("k"))
			_ = conn.Close()
		}
	}()
	return e, nil
}
