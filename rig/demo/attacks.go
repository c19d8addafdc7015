package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"kloigos/rig/testhost"
)

// attacksScript attacks the host and a neighbour from inside a unit; its own text says how.
const (
	attacksScript = "playbooks/tests/attacks.py"
	attacksInUnit = "kloigos-attacks.py"
	// attackPort is where it listens.
	attackPort = 7780
)

// holdings are what a tenant has taken.
type holdings struct {
	TCP        int      `json:"tcp"`
	UDP        int      `json:"udp"`
	Segments   int      `json:"segments"`
	Semaphores int      `json:"semaphores"`
	Queues     int      `json:"queues"`
	Terminals  int      `json:"terminals"`
	Abstract   int      `json:"abstract"`
	Listening  []string `json:"listening"`
}

// bringAttacks puts the script into both units.
func (c *checker) bringAttacks(ctx context.Context) error {
	for _, v := range []visitor{c.first, c.second} {
		if _, err := v.sftp(ctx, fmt.Sprintf("put %s %s\n", filepath.Join(c.i.options.Root, attacksScript), attacksInUnit)); err != nil {
			return err
		}
	}
	return nil
}

// holding has a tenant take all that he can, and listen at the other's address, until it is released.
func (v visitor) holding(ctx context.Context, other visitor) (held holdings, release func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*sshTimeout)
	q := attackQuestion{Mode: "hold", Foreign: []string{testhost.GuestAddress, other.a.Address}}
	cmd := exec.CommandContext(ctx, "ssh", append(v.i.sshArgs(v.keyFile, v.a), "-o", "BatchMode=yes", "-o", "ConnectTimeout=60",
		"-l", v.a.LoginUser, "--", v.a.SSHHost, q.command())...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return held, nil, fmt.Errorf("take all: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return held, nil, fmt.Errorf("take all: %w", err)
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return held, nil, fmt.Errorf("take all: %w", err)
	}
	release = func() error {
		defer cancel()
		_ = stdin.Close()
		time.AfterFunc(sshTimeout, cancel)
		return cmd.Wait()
	}
	var said struct {
		Held holdings `json:"held"`
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil {
		return held, nil, errors.Join(fmt.Errorf("take all: %w: %s", err, line), release())
	}
	return said.Held, release, nil
}
