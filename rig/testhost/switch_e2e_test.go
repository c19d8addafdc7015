//go:build e2e

package testhost

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Two machines at a switch reach each other at their own addresses, and the second one reaches the world through the first.
func TestTwoMachinesShareANetwork(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	image, err := EnsureImage(ctx, "", t.Output())
	if err != nil {
		t.Fatal(err)
	}
	network, err := NewSwitch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	const address = "10.0.2.16"
	start := func(o Options) *VM {
		t.Helper()
		o.Image, o.Dir, o.CPUs, o.Nodes, o.MemoryMiB = image, filepath.Join(t.TempDir(), "vm"), 2, 1, 768
		vm, err := Start(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = vm.Stop() })
		return vm
	}
	first := start(Options{Hostname: "first", Switch: network.Path, Addresses: []string{address}})
	_, text, _ := net.SplitHostPort(first.Forward[address])
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	second := start(Options{Hostname: "second", Switch: network.Path, Address: address, Through: port})

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", LoopbackHost+":0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the world") })}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })

	const megabyte = `sudo systemd-run --quiet --unit answers python3 -c '
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"x" * (1 << 20))
http.server.HTTPServer(("0.0.0.0", 8000), H).serve_forever()'; for i in $(seq 60); do ss -ltn | grep -q :8000 && break; sleep 1; done`
	fetch := func(url string) string {
		return fmt.Sprintf(`python3 -c 'import urllib.request as u; d = u.urlopen("%s", timeout=60).read(); print(len(d), d[:9].decode())'`, url)
	}
	for _, step := range []struct {
		vm      *VM
		command string
		want    string
	}{
		{first, "hostname", "first"},
		{second, "hostname", "second"},
		{second, "ip -4 -br address show dev ens3 | awk '{print $3}'", address + "/24"},
		{first, "ping -c 3 -W 5 " + address + " | grep -o '3 received'", "3 received"},
		{second, "ping -c 3 -W 5 " + GuestAddress + " | grep -o '3 received'", "3 received"},
		{first, megabyte, ""},
		{second, fetch("http://" + GuestAddress + ":8000/"), "1048576 xxxxxxxxx"},
		{second, megabyte, ""},
		{first, fetch("http://" + address + ":8000/"), "1048576 xxxxxxxxx"},
		{second, fetch("http://" + guestGateway + ":" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port) + "/"), "9 the world"},
		{first, fetch("http://" + guestGateway + ":" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port) + "/"), "9 the world"},
	} {
		got, err := step.vm.Run(ctx, step.command)
		if err != nil {
			t.Fatal(err)
		}
		if got = strings.TrimSpace(got); got != step.want {
			t.Errorf("%s: %q, want %q", step.command, got, step.want)
		}
	}
}
