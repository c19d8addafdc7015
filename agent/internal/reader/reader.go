// Package reader owns what is read on a host for a report: load, pressure, memory, file systems, failed units of Kloigos. It
// runs as root, takes no arguments, reads nothing from whoever asks, and writes JSON.
//
// It refuses to change anything, and needs no network.
package reader

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"kloigos/backend/api"
)

const (
	// unitsEvery is how old the list of failed units may be before systemd is asked for it alone: that starts a process.
	unitsEvery  = 2 * time.Minute
	unitsWithin = 5 * time.Second
	sendWithin  = 2 * time.Second
)

// firstListener is the first file that systemd hands over (sd_listen_fds(3)).
const firstListener = 3

// Serve answers each connection with one report, where systemd handed over a socket. Otherwise it writes one to out.
func Serve(ctx context.Context, out io.Writer) error {
	r := &Reader{Root: "/"}
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) || os.Getenv("LISTEN_FDS") != "1" {
		r.Look(ctx)
		return json.NewEncoder(out).Encode(r.reading(ctx))
	}
	listener, err := net.FileListener(os.NewFile(firstListener, "socket"))
	if err != nil {
		return fmt.Errorf("take the socket from systemd: %w", err)
	}
	r.asked = time.Now() // each look tells of failed units too
	var looking sync.WaitGroup
	defer looking.Wait()
	looking.Go(func() { r.keepLooking(ctx) })
	return r.Answer(ctx, listener)
}

// Reader reads one host.
type Reader struct {
	Root string // "/", or a copy for tests
	// Ask and Network answer in place of the host's programs and its kernel, for tests.
	Ask     func(program string, args ...string) ([]byte, error)
	Network *network

	mu     sync.Mutex
	asked  time.Time
	failed []string

	stateMu sync.Mutex
	state   []api.AgentPart // of the last look that had all answers
	half    int             // looks since then
}

// Answer gives each connection one report until ctx is done.
func (r *Reader) Answer(ctx context.Context, listener net.Listener) error {
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		reading := r.reading(ctx)
		_ = conn.SetDeadline(time.Now().Add(sendWithin))
		_ = json.NewEncoder(conn).Encode(reading) // whoever asked and went away asks again
		_ = conn.Close()
	}
}

// reading is all that the reader tells.
func (r *Reader) reading(ctx context.Context) api.AgentReading {
	return api.AgentReading{AgentReport: r.Read(ctx), Parts: r.State()}
}

// Read reads the host. What cannot be read is zero.
func (r *Reader) Read(ctx context.Context) api.AgentReport {
	out := api.AgentReport{Disks: []api.AgentDisk{}, FailedUnits: r.failedUnits(ctx), CPUs: r.cpus()}
	if fields := r.fields("proc/uptime"); len(fields) > 0 {
		seconds, _ := strconv.ParseFloat(fields[0], 64)
		out.UptimeSeconds = int64(seconds)
	}
	if fields := r.fields("proc/loadavg"); len(fields) >= len(out.Load) {
		for i := range out.Load {
			out.Load[i], _ = strconv.ParseFloat(fields[i], 64)
		}
	}
	out.MemoryTotal, out.MemoryAvailable = r.memory()
	out.Pressure.CPUSome, _ = r.pressure("cpu")
	out.Pressure.MemorySome, out.Pressure.MemoryFull = r.pressure("memory")
	out.Pressure.IOSome, out.Pressure.IOFull = r.pressure("io")
	out.Disks = append(out.Disks, r.disks()...)
	for _, mark := range []string{"run/reboot-required", "var/run/reboot-required"} {
		if _, err := os.Stat(filepath.Join(r.Root, mark)); err == nil {
			out.RebootRequired = true
		}
	}
	return out
}

func (r *Reader) text(name string) string {
	content, err := os.ReadFile(filepath.Join(r.Root, name))
	if err != nil {
		return ""
	}
	return string(content)
}

func (r *Reader) fields(name string) []string { return strings.Fields(r.text(name)) }

// cpus counts the processors that are online, as "0-3,8" says them.
func (r *Reader) cpus() (n int64) {
	for part := range strings.SplitSeq(strings.TrimSpace(r.text("sys/devices/system/cpu/online")), ",") {
		first, last, several := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		to := from
		if several {
			to, _ = strconv.Atoi(last)
		}
		n += int64(max(0, to-from+1))
	}
	return n
}

func (r *Reader) memory() (total, available int64) {
	for line := range strings.SplitSeq(r.text("proc/meminfo"), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "MemTotal:":
			total = kib << 10
		case "MemAvailable:":
			available = kib << 10
		}
	}
	return total, available
}

// pressure is the share of the last minute, in percent (Documentation/accounting/psi.rst of the kernel).
func (r *Reader) pressure(of string) (some, full float64) {
	for line := range strings.SplitSeq(r.text("proc/pressure/"+of), "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		for field := range strings.FieldsSeq(rest) {
			value, ok := strings.CutPrefix(field, "avg60=")
			if !ok {
				continue
			}
			share, _ := strconv.ParseFloat(value, 64)
			switch kind {
			case "some":
				some = share
			case "full":
				full = share
			}
		}
	}
	return some, full
}

// ours are the file systems of units. A tenant may fill its own: that is no fault of the host.
const ours = "/mnt/kloigos/"

// disks are the file systems on a device, each once.
func (r *Reader) disks() (found []api.AgentDisk) {
	seen := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(r.text("proc/self/mountinfo")))
	for lines.Scan() {
		// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw (proc_pid_mountinfo(5))
		fields := strings.Fields(lines.Text())
		end := 6
		for end < len(fields) && fields[end] != "-" {
			end++
		}
		if len(fields) < end+4 || seen[fields[2]] || !strings.HasPrefix(fields[end+2], "/dev/") || strings.HasPrefix(fields[4], ours) {
			continue
		}
		if fields[end+1] == "squashfs" || fields[end+1] == "iso9660" { // always full
			continue
		}
		path := unescape.Replace(fields[4])
		var stat syscall.Statfs_t
		if err := syscall.Statfs(filepath.Join(r.Root, path), &stat); err != nil || stat.Blocks == 0 {
			continue
		}
		seen[fields[2]] = true
		used := stat.Blocks - stat.Bfree
		found = append(found, api.AgentDisk{
			Path: path, Total: int64(used+stat.Bavail) * stat.Bsize, Free: int64(stat.Bavail) * stat.Bsize,
			InodesTotal: int64(stat.Files), InodesFree: int64(stat.Ffree),
		})
		if len(found) == api.AgentMaxDisks {
			break
		}
	}
	return found
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// failedUnits asks systemd for units of Kloigos that failed.
func (r *Reader) failedUnits(ctx context.Context) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked) < unitsEvery {
		return r.failed
	}
	names, err := listFailed(ctx)
	if err != nil && !errors.Is(err, exec.ErrNotFound) {
		return append([]string{}, r.failed...) // the last answer counts until there is another one
	}
	r.asked, r.failed = time.Now(), append([]string{}, names...)
	return r.failed
}

func listFailed(ctx context.Context) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, unitsWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", "list-units", "--failed", "--plain", "--no-legend", "--no-pager", "--full", "kloigos*").Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); name != "" && len(names) < api.AgentMaxUnits {
			names = append(names, name[:min(len(name), api.AgentMaxName)])
		}
	}
	return names, nil
}
