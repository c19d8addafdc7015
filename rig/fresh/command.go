package fresh

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopsWithin is what a command has for ending after a Ctrl-C.
const stopsWithin = 2 * time.Minute

// run runs a command line in the clone and sees that it leaves no process behind.
func (p *plan) run(command Command) error {
	before, err := mounts()
	if err != nil {
		return err
	}
	if command.Until == "" {
		err = p.runWhole(command)
	} else {
		err = p.runUntil(command)
	}
	if err != nil {
		return err
	}
	if left := leftProcesses(5 * time.Second); len(left) > 0 {
		return fmt.Errorf("processes are left: %s", strings.Join(left, "; "))
	}
	after, err := mounts()
	if err != nil {
		return err
	}
	if left := slices.DeleteFunc(after, func(m string) bool { return slices.Contains(before, m) }); len(left) > 0 {
		return fmt.Errorf("mounts are left: %s", strings.Join(left, ", "))
	}
	return nil
}

// shell is a command line in the root, in a process group of its own, as a terminal starts one.
func (p *plan) shell(line string, out io.Writer) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", "exec "+line)
	cmd.Dir = p.clone()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// sh finds only what Debian's PATH has: not Go.
	cmd.Env = []string{"HOME=" + p.home(), "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games", "TERM=dumb", "NO_COLOR=1"}
	if p.User {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: userID, Gid: userID}
		cmd.Env = append(cmd.Env, "USER="+userName, "LOGNAME="+userName)
	} else {
		cmd.Env = append(cmd.Env, "USER=root", "LOGNAME=root")
		cmd.Env[1] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	for name, value := range p.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdout, cmd.Stderr = out, out
	return cmd
}

// testsDone is the line in which gotestsum sums up.
var testsDone = regexp.MustCompile(`(?m)^DONE \d+ tests.*$`)

func (p *plan) runWhole(command Command) error {
	var seen bytes.Buffer
	if err := p.shell(command.Line, io.MultiWriter(os.Stdout, &seen)).Run(); err != nil {
		return err
	}
	if !command.NoSkips {
		return nil
	}
	switch done := testsDone.FindString(seen.String()); {
	case done == "":
		return errors.New("no test was run")
	case strings.Contains(done, "skipped"):
		return fmt.Errorf("tests were skipped: %s", done)
	}
	return nil
}

// runUntil waits for the line, uses it if it is a login, presses Ctrl-C and waits for the end.
func (p *plan) runUntil(command Command) error {
	read, write := io.Pipe()
	cmd := p.shell(command.Line, write)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", command.Line, err)
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		_ = write.Close()
		ended <- err
	}()
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(read)
		for lines.Scan() {
			fmt.Println(lines.Text())
			if rest, ok := strings.CutPrefix(lines.Text(), command.Until); ok {
				select {
				case found <- strings.TrimSpace(rest):
				default:
				}
			}
		}
		_, _ = io.Copy(io.Discard, read)
	}()
	var failure error
	select {
	case err := <-ended:
		return fmt.Errorf("ended before it printed %q: %w", command.Until, err)
	case line := <-found:
		if strings.HasPrefix(line, "ssh ") {
			failure = p.login(line)
		}
	}
	fmt.Println("Ctrl-C")
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		return errors.Join(failure, fmt.Errorf("press Ctrl-C: %w", err))
	}
	select {
	case err := <-ended:
		fmt.Println("Ended, as a shell would see it:", err) // how it tells of a Ctrl-C is its own matter
		return failure
	case <-time.After(stopsWithin):
		return errors.Join(failure, fmt.Errorf("still runs %s after a Ctrl-C", stopsWithin))
	}
}

// login logs in as the line says. Nobody is there who could answer a question of ssh.
func (p *plan) login(line string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := p.shell(line+" -n id", os.Stdout)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start ssh: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("the line for ssh does not let anyone in: %w", err)
	}
	return nil
}

func mounts() ([]string, error) {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, fmt.Errorf("read the mounts: %w", err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), nil
}

// leftProcesses names the processes that run beside this one and the first one, after a while for those that are ending.
func leftProcesses(within time.Duration) []string {
	for deadline := time.Now().Add(within); ; {
		left := otherProcesses()
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func otherProcesses() []string {
	entries, _ := os.ReadDir("/proc")
	var others []string
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == 1 || pid == os.Getpid() {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil || len(text) == 0 { // it has ended
			continue
		}
		others = append(others, fmt.Sprintf("%d %s", pid, strings.TrimRight(strings.ReplaceAll(string(text), "\x00", " "), " ")))
	}
	return others
}
