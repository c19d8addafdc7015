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
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"kloigos/backend/api"
)

//go:embed guest/inside.py
var insideScript []byte

//go:embed guest/leftovers.py
var leftoversScript []byte

// sshTimeout bounds one login with what it runs: on a busy, emulated machine a session takes seconds to begin.
const sshTimeout = 2 * time.Minute

// question is what guest/inside.py is asked.
type question struct {
	Gateway string   `json:"gateway,omitempty"`
	Port    int      `json:"port,omitempty"`
	Others  []string `json:"others,omitempty"` // source addresses that must not work
	Closed  []string `json:"closed,omitempty"` // paths that must not be readable
	Marker  string   `json:"marker,omitempty"` // of another tenant
}

func (q question) text() string {
	text, err := json.Marshal(q)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return string(text)
}

// answer is what guest/inside.py says.
type answer struct {
	UID              int64             `json:"uid"`
	GID              int64             `json:"gid"`
	Nproc            int               `json:"nproc"`
	CPUs             string            `json:"cpus"`
	Cpuset           string            `json:"cpuset"`
	Nodes            string            `json:"nodes"`
	NoNewPrivs       string            `json:"no_new_privs"`
	Capabilities     string            `json:"capabilities"`
	Cgroup           string            `json:"cgroup"`
	MemoryMax        int64             `json:"memory_max"`
	MemoryHigh       int64             `json:"memory_high"`
	TasksMax         int               `json:"tasks_max"`
	AppArmor         string            `json:"apparmor"`
	Home             string            `json:"home"`
	Mounts           map[string]mount  `json:"mounts"`
	ForeignProcesses []string          `json:"foreign_processes"`
	Readable         []string          `json:"readable"`
	Source           string            `json:"source"`
	Sources          map[string]string `json:"sources"`
	IPv6             string            `json:"ipv6"`
	Marked           []string          `json:"marked"`
}

type mount struct {
	Source string `json:"source"`
	Point  string `json:"point"`
}

// visitor is someone with a key to an allocation.
type visitor struct {
	i       *Installation
	keyFile string
	a       api.Allocation
	unit    api.ComputeUnit
}

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
	args := append(v.i.sshArgs(v.keyFile, v.a), "-o", "BatchMode=yes", "-o", "ConnectTimeout=60", "-b", "-", "--", v.a.LoginUser+"@"+v.a.SSHHost)
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

const scriptInUnit = ".kloigos-check.py"

// ask runs the script through one way in; run gets its command line and returns what it printed.
func (v visitor) ask(q question, run func(command string) (string, error)) (answer, error) {
	text, err := run("python3 $HOME/" + scriptInUnit + " '" + q.text() + "'")
	if err != nil {
		return answer{}, err
	}
	return parseAnswer(text)
}

// parseAnswer takes the last line that is JSON: a terminal adds greetings and echoes.
func parseAnswer(text string) (said answer, err error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, `{"uid"`) {
			if err := json.Unmarshal([]byte(line), &said); err != nil {
				return said, fmt.Errorf("read the answer: %w", err)
			}
			return said, nil
		}
	}
	return said, fmt.Errorf("no answer in %q", text)
}

// held compares what a process sees with what its unit was promised, and names every difference.
func (v visitor) held(said answer) error {
	var wrong []error
	want := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			wrong = append(wrong, fmt.Errorf("%s is %v, not %v", what, got, want))
		}
	}
	want("uid", said.UID, v.a.UID)
	want("gid", said.GID, v.a.UID)
	want("nproc", said.Nproc, v.unit.CPUCount)
	want("allowed CPUs", said.CPUs, v.unit.CPUs)
	want("effective cpuset", said.Cpuset, v.unit.CPUs)
	want("memory nodes", said.Nodes, v.unit.MemoryNodes)
	// The kernel counts whole pages.
	const page = 4096
	want("memory.max", said.MemoryMax/page, v.unit.MemoryMaxBytes/page)
	want("memory.high", said.MemoryHigh/page, v.unit.MemoryHighBytes/page)
	want("tasks", said.TasksMax, v.unit.TasksMax)
	want("AppArmor profile", said.AppArmor, "kloigos-"+v.unit.Name+" (enforce)")
	want("capabilities", strings.Trim(said.Capabilities, "0"), "")
	want("no_new_privs", said.NoNewPrivs, "1")
	if slice := "/user.slice/user-" + strconv.FormatInt(v.a.UID, 10) + ".slice/"; !strings.HasPrefix(said.Cgroup, slice) {
		wrong = append(wrong, fmt.Errorf("cgroup is %s, not below %s", said.Cgroup, slice))
	}
	if !strings.HasPrefix(said.Home, v.unit.Mount+"/") {
		wrong = append(wrong, fmt.Errorf("home is %s, not below %s", said.Home, v.unit.Mount))
	}
	volume := said.Mounts[said.Home]
	if !strings.HasSuffix(volume.Source, v.unit.Name[strings.LastIndex(v.unit.Name, "-")+1:]) || volume.Point == "/" {
		wrong = append(wrong, fmt.Errorf("home is on %s at %s, not on the unit's volume", volume.Source, volume.Point))
	}
	for _, path := range []string{"/tmp", "/var/tmp"} {
		want(path+" is on", said.Mounts[path].Source, volume.Source)
	}
	if got := said.Mounts["/dev/shm"]; got.Point != "/dev/shm" {
		wrong = append(wrong, fmt.Errorf("/dev/shm is the host's own"))
	}
	if len(said.ForeignProcesses) > 0 {
		wrong = append(wrong, fmt.Errorf("sees %d processes of others, such as %s", len(said.ForeignProcesses), said.ForeignProcesses[0]))
	}
	if len(said.Readable) > 0 {
		wrong = append(wrong, fmt.Errorf("can read %s", strings.Join(said.Readable, ", ")))
	}
	if len(said.Marked) > 0 {
		wrong = append(wrong, fmt.Errorf("finds another tenant's bytes in %s", strings.Join(said.Marked, ", ")))
	}
	if said.Source != "" {
		want("source of a plain connection", said.Source, v.a.Address)
		for source, got := range said.Sources {
			if !strings.HasPrefix(got, "!") {
				wrong = append(wrong, fmt.Errorf("can connect from %s", source))
			}
		}
		if !strings.HasPrefix(said.IPv6, "!") {
			wrong = append(wrong, fmt.Errorf("can connect with IPv6, from %s", said.IPv6))
		}
	}
	return errors.Join(wrong...)
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

// listen answers each connection with a byte: what the units' plain connections go to, through QEMU's gateway.
func listen(ctx context.Context) (port int, stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, fmt.Errorf("listen for the units: %w", err)
	}
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
	return listener.Addr().(*net.TCPAddr).Port, func() { _ = listener.Close() }, nil
}

func writeTemp(dir, name string, content []byte) (string, error) {
	path := dir + "/" + name
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return path, nil
}
