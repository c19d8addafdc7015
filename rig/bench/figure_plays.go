package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// plays compares an allocation through Kloigos, from the request to the end of the job, with the same play under a bare
// ansible-playbook: tuned as Kloigos tunes it, and as Ansible comes. In turns; each run sets up a unit of its own.
func plays(ctx context.Context, b *Bed, scale Scale) (results []Result, err error) {
	g, err := b.newGround(ctx, 1, scale.Plays+1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.close(ctx)) }()
	tuned, err := g.newBare("tuned", true)
	if err != nil {
		return nil, err
	}
	plain, err := g.newBare("default", false)
	if err != nil {
		return nil, err
	}
	sides := []struct {
		name string
		run  func(context.Context) (time.Duration, error)
	}{
		{"Kloigos", func(ctx context.Context) (time.Duration, error) {
			begun := time.Now()
			err := g.allocate(ctx, firstHost)
			return time.Since(begun), err
		}},
		{"ansible-playbook, tuned", tuned.run},
		{"ansible-playbook, default settings", plain.run},
	}
	walls := make([][]time.Duration, len(sides))
	for round := range scale.Plays + 1 { // the first only warms up
		for i := range sides {
			side := (i + round) % len(sides)
			// What a run leaves to be done afterwards (Kloigos begins the next play ahead of time) is no cost of another's.
			time.Sleep(afterPlay)
			took, err := sides[side].run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sides[side].name, err)
			}
			b.say("   %-34s %.2f s", sides[side].name, took.Seconds())
			if round > 0 {
				walls[side] = append(walls[side], took)
			}
		}
	}
	ours, bare, slow := median(walls[0]), median(walls[1]), median(walls[2])
	what := "wall of an allocation over the same play under a bare `ansible-playbook`, "
	return []Result{
		{
			What: what + "tuned", Limit: Limit{Value: 1.05}, Measured: float64(ours) / float64(bare),
			Raw: fmt.Sprintf("%.2f s, bare %.2f s", ours.Seconds(), bare.Seconds()),
		},
		{
			What: what + "default settings", Limit: Limit{Value: 0.6}, Measured: float64(ours) / float64(slow),
			Raw: fmt.Sprintf("%.2f s, bare %.2f s", ours.Seconds(), slow.Seconds()),
		},
	}, nil
}

const (
	firstHost = "bench-00001"
	afterPlay = 3 * time.Second
)

// bare runs the play as a person would, from a directory with the playbook, an inventory and a key.
type bare struct {
	dir   string
	host  string
	tuned bool
	first int // UID of its first allocation
	runs  int
}

func (g *ground) newBare(name string, tuned bool) (*bare, error) {
	b := &bare{dir: g.bed.path(name), host: g.host.address, tuned: tuned, first: 600_000}
	if tuned {
		b.first = 700_000
	}
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory for the play: %w", err)
	}
	if err := unpackPlaybook(b.dir); err != nil {
		return nil, err
	}
	host := map[string]any{
		"ansible_host": g.host.address, "ansible_port": hostPort, "ansible_user": "root", "ansible_ssh_private_key_file": filepath.Join(b.dir, "key"),
		"ansible_ssh_common_args": "-o StrictHostKeyChecking=yes -o UserKnownHostsFile=" + filepath.Join(b.dir, "known_hosts"),
	}
	if tuned { // by default Ansible looks for one
		host["ansible_python_interpreter"] = "/usr/bin/python3"
	}
	inventory, err := json.Marshal(map[string]any{"all": map[string]any{"hosts": map[string]any{firstHost: host}}})
	if err != nil {
		return nil, fmt.Errorf("write the inventory: %w", err)
	}
	for file, text := range map[string]string{
		"inventory.yml": string(inventory), "key": g.key, "known_hosts": g.host.address + " " + g.host.key + "\n", "ansible.cfg": "[defaults]\n",
	} {
		if err := os.WriteFile(filepath.Join(b.dir, file), []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("write %s: %w", file, err)
		}
	}
	return b, nil
}

func (b *bare) run(ctx context.Context) (time.Duration, error) {
	b.runs++
	vars, err := json.Marshal(b.vars())
	if err != nil {
		return 0, fmt.Errorf("write the variables: %w", err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "vars.json"), vars, 0o600); err != nil {
		return 0, fmt.Errorf("write the variables: %w", err)
	}
	cmd := exec.CommandContext(ctx, "ansible-playbook", "--inventory", "inventory.yml", "--extra-vars", "@vars.json", "playbook.yml")
	cmd.Dir = b.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "LANG=C.UTF-8", "ANSIBLE_CONFIG=" + filepath.Join(b.dir, "ansible.cfg")}
	sockets := ""
	if b.tuned {
		// As long as Kloigos' own: a connection that is kept within the run, and begun anew with it.
		if sockets, err = os.MkdirTemp("", "kb"); err != nil {
			return 0, fmt.Errorf("make a directory for the socket: %w", err)
		}
		defer func() { _ = os.RemoveAll(sockets) }()
		cmd.Env = append(cmd.Env, "ANSIBLE_PIPELINING=true", "ANSIBLE_GATHERING=explicit", "ANSIBLE_INVENTORY_ENABLED=yaml",
			"ANSIBLE_SSH_ARGS=-F none -o BatchMode=yes -o PreferredAuthentications=publickey -o IdentitiesOnly=yes -o LogLevel=ERROR"+
				" -o ControlMaster=auto -o ControlPersist=600s -o ControlPath="+sockets+"/%C",
			"ANSIBLE_SSH_TRANSFER_METHOD=piped", "ANSIBLE_RETRY_FILES_ENABLED=false", "ANSIBLE_NOCOWS=true")
	}
	begun := time.Now()
	output, err := cmd.CombinedOutput()
	took := time.Since(begun)
	if sockets != "" {
		b.disconnect(sockets)
	}
	if err != nil {
		return 0, fmt.Errorf("%w:\n%s", err, output)
	}
	if !strings.Contains(string(output), "changed=") || !strings.Contains(string(output), "failed=0") {
		return 0, fmt.Errorf("the play did not change the host:\n%s", output)
	}
	return took, nil
}

// disconnect ends the connections that were kept.
func (b *bare) disconnect(sockets string) {
	found, _ := filepath.Glob(filepath.Join(sockets, "*"))
	for _, socket := range found {
		_ = exec.Command("ssh", "-F", "none", "-o", "ControlPath="+socket, "-O", "exit", b.host).Run()
	}
}

// vars are those that the worker gives to unit_allocate, of a unit that only this run has.
func (b *bare) vars() map[string]any {
	uid := b.first + b.runs
	ordinal := uid/100%10_000 + b.runs // far from those that the fleet has
	volume := "cu" + strconv.Itoa(ordinal)
	mount := "/mnt/kloigos/" + firstHost + "/" + volume
	const gib = 1 << 30
	return map[string]any{
		"unit_allocate_host": map[string]any{"id": uuid.NewString(), "name": firstHost},
		"unit_allocate_unit": map[string]any{
			"id": uuid.NewString(), "name": firstHost + "-" + volume, "ordinal": ordinal, "cpus": "8-15", "memory_nodes": "0",
			"memory_max_bytes": 8 * gib, "memory_high_bytes": 7 * gib, "tasks_max": 2048, "volume_bytes": 10 * gib, "mount": mount, "volume": volume,
		},
		"unit_allocate_volume_group": "kloigos-vg",
		"unit_allocate_uplink":       "bench0",
		"unit_allocate_allocation": map[string]any{
			"id": uuid.NewString(), "login_user": fmt.Sprintf("user-%08x", uid), "uid": uid, "address": fmt.Sprintf("10.1.%d.%d", uid/250%250, uid%250+1),
			"gateway": "10.0.0.1", "prefix": 8, "ssh_keys": []string{someKey},
		},
	}
}
