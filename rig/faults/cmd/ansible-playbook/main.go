// Command ansible-playbook stands in for Ansible in the fault suite: real
// backends find it first on their PATH and run it under their real supervisor,
// in a real run directory. It reads the inventory and the variables that the
// runner wrote, logs in to the (stood-in) host with the key from there, has
// tasks run on it, and tells of them as the callback plugin does.
//
// Like Ansible it has children that a kill of it alone would leave behind.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"kloigos/rig/faults/host"
)

// lingers is the argument of a child that outlives whatever does not end it.
const lingers = "lingers"

// tellsOften is the name of a file beside this program: where it is, each event
// is told 2 to 10 times, in any order, when the play is over.
const tellsOften = "tells-often"

func main() {
	if len(os.Args) == 2 && os.Args[1] == lingers {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		time.Sleep(10 * time.Minute)
		return
	}
	code, err := play(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "ERROR!", err)
		code = 1
	}
	os.Exit(code)
}

// target is a host as the inventory has it.
type target struct {
	name        string
	Address     string `json:"ansible_host"`
	Port        int    `json:"ansible_port"`
	User        string `json:"ansible_user"`
	Interpreter string `json:"ansible_python_interpreter"`
	KeyFile     string `json:"ansible_ssh_private_key_file"`
}

// events writes to the pipe that the callback plugin would have.
type events struct {
	out     *os.File
	telling *sync.Mutex // hosts tell side by side
	// Of a play that tells everything several times and in no order: what it has
	// told so far.
	held *[][]byte
}

func newEvents() (e events, err error) {
	fd, err := strconv.Atoi(os.Getenv("KLOIGOS_EVENTS_FD"))
	if err != nil {
		return e, fmt.Errorf("no pipe for events: %w", err)
	}
	e.out, e.telling = os.NewFile(uintptr(fd), "events"), &sync.Mutex{}
	self, err := os.Executable()
	if err != nil {
		return e, err
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(self), tellsOften)); err == nil {
		e.held = &[][]byte{}
	}
	return e, nil
}

func (e events) tell(kind string, fields map[string]any) {
	line := map[string]any{"kind": kind, "time": float64(time.Now().UnixMicro()) / 1e6}
	for k, v := range fields {
		line[k] = v
	}
	raw, err := json.Marshal(line)
	e.telling.Lock()
	defer e.telling.Unlock()
	switch {
	case err != nil:
	case e.held == nil:
		_, _ = e.out.Write(append(raw, '\n')) // nobody listens any more: this is about to be ended
	default:
		for range 2 + rand.IntN(9) {
			*e.held = append(*e.held, append(raw, '\n'))
		}
	}
}

// close tells what was held back, in any order.
func (e events) close() {
	if e.held == nil {
		return
	}
	rand.Shuffle(len(*e.held), func(i, j int) { (*e.held)[i], (*e.held)[j] = (*e.held)[j], (*e.held)[i] })
	for _, line := range *e.held {
		_, _ = e.out.Write(line)
	}
}

func play(args []string) (code int, err error) {
	inventory, check := "", slices.Contains(args, "--check")
	book, vars := "", map[string]any{}
	for i := 0; i < len(args); i++ {
		option, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(option, "-") {
			book = args[i]
			continue
		}
		if takesValue := slices.Contains([]string{"--inventory", "--extra-vars", "--forks"}, option); takesValue && !joined && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch option {
		case "--inventory":
			inventory = value
		case "--extra-vars":
			if err := merge(vars, strings.TrimPrefix(value, "@")); err != nil {
				return 1, err
			}
		}
	}
	targets, err := targetsOf(inventory)
	if err != nil {
		return 1, err
	}
	tell, err := newEvents()
	if err != nil {
		return 1, err
	}
	defer tell.close()
	if err := leaveChildren(); err != nil {
		return 1, err
	}
	kind := kindOf(book, vars)
	tell.tell("play_started", map[string]any{"play": kind})
	stats, codes := make([]map[string]int, len(targets)), make([]int, len(targets))
	var all sync.WaitGroup
	for i, t := range targets {
		all.Go(func() {
			stats[i], codes[i] = runTask(t, host.Task{Playbook: kind, Parts: partsOf(kind, vars), Check: check, Vars: vars}, tell)
		})
	}
	all.Wait()
	told := map[string]any{}
	for i, t := range targets {
		told[t.name] = stats[i]
	}
	tell.tell("stats", map[string]any{"stats": told})
	return slices.Max(codes), nil
}

// runTask has the tasks of a play run on one host; it returns Ansible's counts for it,
// and the code that Ansible ends with where there is no other.
func runTask(t target, task host.Task, tell events) (counts map[string]int, code int) {
	counts = map[string]int{"ok": 0, "changed": 0, "failures": 0, "unreachable": 0, "skipped": 0, "rescued": 0, "ignored": 0}
	client, err := logIn(t)
	if err != nil {
		tell.tell("task_started", map[string]any{"play": task.Playbook, "task": "Reach the host"})
		tell.tell("unreachable", map[string]any{"play": task.Playbook, "task": "Reach the host", "host": t.name, "message": "Failed to connect to the host via ssh: " + err.Error()})
		counts["unreachable"] = 1
		return counts, 4
	}
	defer func() { _ = client.Close() }()
	for task.Part = 1; task.Part <= task.Parts; task.Part++ {
		fields := map[string]any{"play": task.Playbook, "task": fmt.Sprintf("Part %d of %d", task.Part, task.Parts), "action": "kloigos_stand_in"}
		tell.tell("task_started", fields)
		fields["host"] = t.name
		done := run(client, t.Interpreter, task, tell, fields)
		counts[done]++
		if done != "ok" {
			return counts, 2
		}
	}
	return counts, 0
}

// partsOf is how many tasks a play has: one to probe, one for each sample of a
// measurement, some for all else.
func partsOf(kind string, vars map[string]any) int {
	switch kind {
	case "host_probe":
		return 1
	case "host_measure":
		samples, _ := vars[kind+"_samples"].([]any)
		return len(samples)
	default:
		return 2 + rand.IntN(2)
	}
}

// run has one task run on the host and tells of it; it returns what is counted.
func run(client *ssh.Client, interpreter string, t host.Task, tell events, fields map[string]any) string {
	task, err := json.Marshal(t)
	if err != nil {
		return "failures"
	}
	session, err := client.NewSession()
	if err != nil {
		fields["message"] = "Failed to connect to the host via ssh: " + err.Error()
		tell.tell("unreachable", fields)
		return "unreachable"
	}
	defer func() { _ = session.Close() }()
	var stdout, stderr bytes.Buffer
	session.Stdin, session.Stdout, session.Stderr = bytes.NewReader(task), &stdout, &stderr
	err = session.Run("sudo -n " + interpreter)
	var exit *ssh.ExitError
	var answer host.Answer
	_ = json.Unmarshal(stdout.Bytes(), &answer) // empty where nothing was run
	switch {
	case err == nil:
	case errors.As(err, &exit):
		fields["message"], fields["stderr"] = answer.Message, stderr.String()
		if answer.Message == "" {
			fields["message"] = "MODULE FAILURE"
			fields["stderr"] = stderr.String() + fmt.Sprintf("\nthe module ended with %d", exit.ExitStatus())
		}
		tell.tell("failed", fields)
		return "failures"
	default:
		fields["message"] = "Failed to connect to the host via ssh: " + err.Error()
		tell.tell("unreachable", fields)
		return "unreachable"
	}
	for n := range answer.Lines {
		tell.tell("ok", map[string]any{"play": fields["play"], "task": fields["task"], "host": fields["host"], "item": strconv.Itoa(n), "message": "a line of many"})
	}
	if answer.Result != nil {
		if raw, err := json.Marshal(answer.Result); err == nil {
			tell.tell("result", map[string]any{"host": fields["host"], "result": string(raw)})
		}
	}
	kind := "ok"
	if fields["changed"] = answer.Changed; answer.Changed {
		kind = "changed"
	}
	tell.tell(kind, fields)
	return "ok"
}

// leaveChildren starts children as Ansible has them: one in the same group, and
// one that left group and session.
func leaveChildren() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, apart := range []bool{false, true} {
		cmd := exec.Command(self, lingers)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: apart}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("fork: %w", err)
		}
	}
	return nil
}

// merge reads a file of variables; what is marked as unsafe is data.
func merge(vars map[string]any, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var read map[string]any
	if err := json.Unmarshal(raw, &read); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(file), err)
	}
	for k, v := range read {
		vars[k] = plain(v)
	}
	return nil
}

func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if s, marked := v["__ansible_unsafe"]; marked {
			return s
		}
		for k, e := range v {
			v[k] = plain(e)
		}
	case []any:
		for i, e := range v {
			v[i] = plain(e)
		}
	}
	return v
}

// kindOf tells the playbook by what it is given, since every file is called
// playbook.yml.
func kindOf(book string, vars map[string]any) string {
	if filepath.Base(book) == "bootstrap.yml" {
		return "bootstrap"
	}
	for _, kind := range []string{"host_initialize", "host_decommission", "unit_allocate", "unit_deallocate"} {
		if vars[kind+"_host"] != nil {
			return kind
		}
	}
	if vars["host_measure_units"] != nil {
		return "host_measure"
	}
	return "host_probe"
}

// targetsOf reads the inventory.
func targetsOf(file string) ([]target, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var inventory struct {
		All struct {
			Hosts map[string]target `json:"hosts"`
		} `json:"all"`
	}
	if err := json.Unmarshal(raw, &inventory); err != nil {
		return nil, fmt.Errorf("read the inventory: %w", err)
	}
	var all []target
	for name, t := range inventory.All.Hosts {
		t.name = name
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, errors.New("the inventory has no hosts")
	}
	return all, nil
}

func logIn(t target) (*ssh.Client, error) {
	raw, err := os.ReadFile(t.KeyFile)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(raw)
	if err != nil {
		return nil, err
	}
	known, err := knownhosts.New(filepath.Join(filepath.Dir(t.KeyFile), "known_hosts"))
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.Atoi(os.Getenv("ANSIBLE_TIMEOUT"))
	if err != nil {
		return nil, fmt.Errorf("no timeout was set: %w", err)
	}
	timeout := time.Duration(seconds) * time.Second
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(t.Address, strconv.Itoa(t.Port)), timeout)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(timeout))
	c, channels, requests, err := ssh.NewClientConn(conn, conn.RemoteAddr().String(), &ssh.ClientConfig{
		User: t.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: known,
	})
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	client := ssh.NewClient(c, channels, requests)
	interval, most := sshOption("ServerAliveInterval"), sshOption("ServerAliveCountMax")
	if interval == 0 || most == 0 {
		return nil, errors.New("ssh would never notice that a host has fallen silent")
	}
	go keepAlive(client, time.Duration(interval)*time.Second, time.Duration(interval*most)*time.Second)
	return client, nil
}

// sshOption reads a number out of the arguments that Ansible is to give to ssh; 0 if it is not there.
func sshOption(name string) int {
	for field := range strings.FieldsSeq(os.Getenv("ANSIBLE_SSH_ARGS")) {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			n, _ := strconv.Atoi(value)
			return n
		}
	}
	return 0
}

// keepAlive asks every so often whether the host is still there, and cuts the
// connection when it has not said so within the patience.
func keepAlive(client *ssh.Client, every, patience time.Duration) {
	for {
		time.Sleep(every)
		tooLate := time.AfterFunc(patience, func() { _ = client.Close() })
		_, _, err := client.SendRequest("keepalive@openssh.com", true, nil)
		tooLate.Stop()
		if err != nil {
			return
		}
	}
}
