package demo

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The figures of a unit's own network, each beside the same of the host or of an older unit in the same run: on an emulated machine
// only their ratios say something.
const (
	figureRounds  = 5
	figureSeconds = 3
	// The aim is 0.9. Where the processor is emulated it limits all, and a unit's packets take a second way through the kernel: there a
	// unit had 0.67 (docs/benchmarks.md). Less than this is a fault.
	leastOfHost = 0.5
)

// transferScript sends or takes for some seconds and says how many bytes a second that were.
const transferScript = `
import socket, sys, time
address, port, way, length = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
s = socket.create_connection((address, port), 60)
s.sendall(way.encode())
block, count, began = bytes(1 << 17), 0, time.monotonic()
while time.monotonic() < began + length:
    count += s.send(block) if way == "s" else len(s.recv(1 << 17))
print(int(count / (time.monotonic() - began)))
`

// pump takes all that comes after an "s", and sends without end after an "r".
func pump(ctx context.Context) (port int, stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, fmt.Errorf("listen for transfers: %w", err)
	}
	serve := func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		var way [1]byte
		if _, err := io.ReadFull(conn, way[:]); err != nil {
			return
		}
		if way[0] == 's' {
			_, _ = io.Copy(io.Discard, conn)
			return
		}
		block := make([]byte, 1<<17)
		for {
			if _, err := conn.Write(block); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port, func() { _ = listener.Close() }, nil
}

// figures measures throughput, logins and memory while the first unit is of the old kind and the second of the new one.
func (c *checker) figures(ctx context.Context) error {
	if c.first.a.ID == "" || c.second.a.ID == "" {
		return errNoGround
	}
	d := &differences{}
	for _, measure := range []func(context.Context, *differences) error{c.throughput, c.logins, c.idleMemory} {
		if err := measure(ctx, d); err != nil {
			return err
		}
	}
	if len(d.found) > 0 {
		return fmt.Errorf("%w", d.found[0])
	}
	return nil
}

// throughput compares the host's own stack with a unit's network, one after the other in each round.
func (c *checker) throughput(ctx context.Context, d *differences) error {
	port, stop, err := pump(ctx)
	if err != nil {
		return err
	}
	defer stop()
	for _, way := range []string{"s", "r"} {
		command := fmt.Sprintf("%s %d %s %d", c.i.Host.Facts.Uplink.Gateway, port, way, figureSeconds)
		places := []struct {
			name string
			run  func() (string, error)
		}{
			{"the host", func() (string, error) {
				return output(ctx, transferScript, "ssh", c.i.VM.SSHArgs("python3 - "+command)...)
			}},
			{"a unit on the host's network", func() (string, error) { return c.first.ssh(ctx, transferScript, false, "python3 - "+command) }},
			{"a unit with its own network", func() (string, error) { return c.second.ssh(ctx, transferScript, false, "python3 - "+command) }},
		}
		found := make([][]float64, len(places))
		for range figureRounds {
			for at, place := range places {
				said, err := place.run()
				if err != nil {
					return fmt.Errorf("throughput of %s: %w", place.name, err)
				}
				rate, err := strconv.ParseFloat(strings.TrimSpace(said), 64)
				if err != nil {
					return fmt.Errorf("throughput of %s: %w", place.name, err)
				}
				found[at] = append(found[at], rate)
			}
		}
		host, older, own := median(found[0]), median(found[1]), median(found[2])
		what := map[string]string{"s": "sends", "r": "receives"}[way]
		c.i.stages.Line("figure  a unit with its own network %s %.1f MB/s, one on the host's network %.1f, the host itself %.1f: %.2f and %.2f of the host",
			what, own/1e6, older/1e6, host/1e6, own/host, older/host)
		d.refuse(own/host < leastOfHost, "a unit %s at %.2f of the host's speed", what, own/host)
	}
	return nil
}

// logins compares a login at the unit's own sshd with one at the host's, of tenants both.
func (c *checker) logins(ctx context.Context, _ *differences) error {
	took := make([][]float64, 2)
	for range 2 * figureRounds {
		for at, v := range []visitor{c.first, c.second} {
			from := time.Now()
			if _, err := v.ssh(ctx, "", false, "true"); err != nil {
				return err
			}
			took[at] = append(took[at], time.Since(from).Seconds())
		}
	}
	host, own := median(took[0]), median(took[1])
	c.i.stages.Line("figure  a login in a unit with its own network takes %.2f s, in one on the host's network %.2f s: %+.0f ms, %.2f times", own, host, 1000*(own-host), own/host)
	return nil
}

// memoryScript says what the sshd of a unit has, and what namespaces, pair and terminals of one more unit cost the kernel.
const memoryScript = `
import json, subprocess, sys, time
unit, count = json.loads(sys.argv[1]), 40
def sh(command):
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout
def kernel():
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("3")
    time.sleep(1)
    fields = dict(line.split(":") for line in open("/proc/meminfo"))
    return sum(int(fields[name].split()[0]) for name in ("Slab", "Percpu", "KernelStack", "PageTables"))
sshd = int(sh("systemctl show --property=MemoryCurrent --value kloigos-sshd@%s.service" % unit))
sh("ip netns add kloigos-figure; ip netns del kloigos-figure")
before = kernel()
for n in range(count):
    sh("ip netns add kfig%d; ip link add kfig%d type veth peer name eth0 netns kfig%d; mkdir -p /run/kfig/%d; mount -t devpts -o newinstance none /run/kfig/%d; touch /run/kfig/i%d; unshare --ipc=/run/kfig/i%d true"
       % ((n,) * 7))
after = kernel()
for n in range(count):
    sh("umount /run/kfig/%d /run/kfig/i%d; ip link del kfig%d; ip netns del kfig%d" % ((n,) * 4))
sh("rm -r /run/kfig")
print(sshd // 1024, (after - before) // count)
`

func (c *checker) idleMemory(ctx context.Context, d *differences) error {
	said, err := c.i.onHost(ctx, []byte(memoryScript), c.second.unit.Name)
	if err != nil {
		return err
	}
	var sshd, kernel int
	if _, err := fmt.Sscan(said, &sshd, &kernel); err != nil {
		return fmt.Errorf("read the memory: %w", err)
	}
	c.i.stages.Line("figure  an idle unit with its own network has %d KiB more: %d of its sshd, %d of the kernel", sshd+kernel, sshd, kernel)
	d.refuse(sshd+kernel > 2048, "an idle unit has %d KiB more", sshd+kernel)
	return nil
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
