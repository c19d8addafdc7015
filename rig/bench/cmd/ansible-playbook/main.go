// Command ansible-playbook stands in for Ansible where ./task bench asks only when it is started: it notes the time in the
// pipe `starts` beside its own binary, tells of a host on which nothing was to be done, and ends. While there is a file
// `hang` beside it, it goes on.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	begun := time.Now()
	self, err := os.Executable()
	if err == nil {
		err = play(begun, filepath.Dir(self))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ERROR!", err)
		os.Exit(1)
	}
}

func play(begun time.Time, dir string) error {
	starts, err := os.OpenFile(filepath.Join(dir, "starts"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(starts, begun.UnixNano()); err != nil {
		return err
	}
	for range 1200 {
		if _, err := os.Stat(filepath.Join(dir, "hang")); err != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	host, err := theHost(os.Args[1:])
	if err != nil {
		return err
	}
	fd, err := strconv.Atoi(os.Getenv("KLOIGOS_EVENTS_FD"))
	if err != nil {
		return fmt.Errorf("no pipe for events: %w", err)
	}
	return json.NewEncoder(os.NewFile(uintptr(fd), "events")).Encode(map[string]any{
		"kind": "stats", "time": float64(time.Now().UnixMicro()) / 1e6, "stats": map[string]any{host: map[string]int{"ok": 1}},
	})
}

// theHost is the one of the inventory.
func theHost(args []string) (string, error) {
	for i, arg := range args {
		file, joined := strings.CutPrefix(arg, "--inventory=")
		if arg == "--inventory" && i+1 < len(args) {
			file, joined = args[i+1], true
		}
		if !joined {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		var inventory struct {
			All struct {
				Hosts map[string]any `json:"hosts"`
			} `json:"all"`
		}
		if err := json.Unmarshal(raw, &inventory); err != nil {
			return "", err
		}
		for name := range inventory.All.Hosts {
			return name, nil
		}
	}
	return "", fmt.Errorf("no inventory in %q", args)
}
