package playbooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// attacksScript has bob attack the host and alice, who holds all that she can. Then both hold all, and the host's root and a login at
// its sshd still get theirs.
const attacksScript = `
tenant cu01 alice 70001
tenant cu02 bob 70002
for user in alice bob; do
	cp /run/key.pub /etc/kloigos/unit-keys/$user && chown root:$user /etc/kloigos/unit-keys/$user && chmod 640 /etc/kloigos/unit-keys/$user
done
mkdir -p -m 700 /root/.ssh && cp /run/key.pub /root/.ssh/authorized_keys && chmod 600 /root/.ssh/authorized_keys
# As unit_network_base has it.
chmod 700 /etc/kloigos/networks /etc/kloigos/sshd /etc/kloigos/nft
systemctl daemon-reload
systemctl start dbus.service systemd-logind.service
for unit in h1-cu01 h1-cu02; do systemctl start kloigos-sshd@$unit.service; done
printf 'PidFile none\nUsePAM yes\nPort 22\nPermitRootLogin prohibit-password\n' | cat - /etc/kloigos/host-sshd.conf >/run/new && mv /run/new /etc/kloigos/host-sshd.conf
systemctl start host-sshd.service
systemd-run --quiet --unit=all python3 -m http.server --directory /run/kloigos/shm 7790
systemd-run --quiet --unit=loopback python3 -m http.server --directory /run/kloigos/shm --bind 127.0.0.1 7791
ip netns exec far python3 /out/ear.py >/out/heard &
ear=$!
login() { timeout 120 ip netns exec far ssh $options "$@"; }
# hold USER ADDRESS: until the file goes.
touch /run/hold
hold() {
	(while [ -e /run/hold ]; do sleep 1; done) | login $1@$2 "python3 /out/attacks.py '{\"mode\": \"hold\", \"foreign\": [\"10.9.0.15\", \"$3\"]}'" >/out/held-$1 2>&1 &
	for n in $(seq 60); do [ -s /out/held-$1 ] && return; sleep 1; done
}
hold alice 10.9.0.101 10.9.0.102
say "neighbour at a foreign address" "$(reached 10.9.0.102 7781)"
login bob@10.9.0.102 "python3 /out/attacks.py '$(cat /out/question)'" >/out/attacks 2>/out/attacks-errors
sleep 1
hold bob 10.9.0.102 10.9.0.101
for address in 10.9.0.101 10.9.0.102; do say "listens at $address" "$(reached $address 7780)"; done
say "root" "$(python3 /out/root.py)"
say "administrator" "$(login -tt root@10.9.0.15 tty)"
rm /run/hold
kill $ear
wait
`

// attackReached tells whether something answers a connection.
const attackReached = `reached() { python3 -c "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 10); print('yes')" $1 $2 2>&1 | tail -n1; }
`

// attackEar is the machine far on the uplink, to which all is sent.
const attackEar = `
import socket, threading
server = socket.create_server(("10.9.0.2", 4711))
def take():
    while True:
        server.accept()[0].close()
threading.Thread(target=take, daemon=True).start()
packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
packets.bind(("10.9.0.2", 4711))
while True:
    data, (address, _port) = packets.recvfrom(100)
    print(data.decode(), "from", address, flush=True)
`

// attackRoot is what root on the host wants for himself.
const attackRoot = `
import ctypes, os, socket
libc = ctypes.CDLL(None)
socket.create_connection(("10.9.0.2", 4711), 10)
with socket.socket(socket.AF_UNIX) as abstract:
    abstract.bind("\0kloigos-attack-0")
segment, semaphore = libc.shmget(0, 4096, 0o1600), libc.semget(0, 1, 0o1600)
for number in range(300):
    os.openpty()
print("out", "segment" if segment >= 0 else "none", "semaphore" if semaphore >= 0 else "none", "terminals")
`

// A tenant with a network of his own is nobody else on the host, and keeps nobody out: playbooks/tests/attacks.py, on a real systemd
// with a real sshd for each unit.
func TestTenantsAreNobodyElse(t *testing.T) {
	t.Parallel()
	needLogins(t)
	dir := putLogins(t, "h1-cu01:alice:70001:10.9.0.101", "h1-cu02:bob:70002:10.9.0.102")
	attacks, err := os.ReadFile("tests/attacks.py")
	if err != nil {
		t.Fatal(err)
	}
	question, err := json.Marshal(map[string]any{
		"mode": "try", "host": "10.9.0.15", "neighbours": []string{"10.9.0.101"}, "neighbour_unit": "h1-cu01", "target": "10.9.0.2:4711",
		"host_ports": []int{22, 7790}, "loopback_ports": []int{7791, 7780}, "abstract": []string{"kloigos-attack-0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"attacks.py": string(attacks), "question": string(question), "ear.py": attackEar, "root.py": attackRoot} {
		if err := os.WriteFile(filepath.Join(dir, "out", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, log := onSystemd(t, dir, map[string]string{"host-sshd.service": hostSSHD}, attackReached+tenantsScript+attacksScript)
	want := map[string]string{
		"neighbour at a foreign address": "ConnectionRefusedError: [Errno 111] Connection refused",
		"listens at 10.9.0.101":          "yes", "listens at 10.9.0.102": "yes", "root": "out segment semaphore terminals", "administrator": "/dev/pts/0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, log)
	}
	read := func(name string, into any) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, "out", name))
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s\n%s", name, err, text, log)
		}
	}
	var tried struct {
		Attacks []struct {
			Try, Detail string
			Succeeded   bool
		}
	}
	read("attacks", &tried)
	if len(tried.Attacks) < 40 {
		t.Errorf("only %d attacks were tried", len(tried.Attacks))
	}
	for _, attack := range tried.Attacks {
		if attack.Succeeded {
			t.Errorf("%s: %s", attack.Try, attack.Detail)
		}
	}
	heard, err := os.ReadFile(filepath.Join(dir, "out/heard"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(heard)), "\n")
	if slices.Sort(lines); !slices.Equal(slices.Compact(lines), []string{"honest from 10.9.0.102"}) {
		t.Errorf("datagrams that arrived: %q", lines)
	}
	// Both begin at the same port, and take what the limit of open files leaves them.
	for _, user := range []string{"alice", "bob"} {
		var said struct {
			Held struct{ TCP, Segments, Semaphores, Queues, Terminals, Abstract int }
		}
		read("held-"+user, &said)
		if h := said.Held; h.TCP < 10000 || h.Segments < 4000 || h.Semaphores < 31000 || h.Queues < 1000 || h.Abstract != 100 || h.Terminals < 200 || h.Terminals > 256 {
			t.Errorf("%s holds %+v", user, h)
		}
	}
}
