package app_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
	"kloigos/backend/internal/testkit/site"
)

// backendProcess is a real backend in a process of its own.
type backendProcess struct {
	cmd     *exec.Cmd
	address string
}

func startBackend(t *testing.T, binary string, env []string) *backendProcess {
	t.Helper()
	p := &backendProcess{address: freeAddress(t), cmd: exec.Command(binary, "serve")}
	p.cmd.Env = append(slices.Clone(env), "KLOIGOS_LISTEN="+p.address, "PATH="+os.Getenv("PATH"))
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	site.Eventually(t, "the backend listens", func() bool {
		conn, err := net.Dial("tcp", p.address)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return p
}

func (p *backendProcess) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	_ = p.cmd.Wait()
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// cpu is what a process has used (proc_pid_stat(5)).
func (p *backendProcess) cpu(t *testing.T) time.Duration {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] {
		n, _ := strconv.ParseInt(field, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// balance carries connections to one of the backends that answer.
func balance(t *testing.T, backends ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var next atomic.Int64
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = in.Close() }()
				for range backends {
					out, err := net.Dial("tcp", backends[int(next.Add(1))%len(backends)])
					if err != nil {
						continue
					}
					go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
					_, _ = io.Copy(in, out)
					return
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// simulated is an agent of the fleet.
type simulated struct {
	host, id   uuid.UUID
	credential string
	seq        int64
	boot       string
}

// populate writes hosts with enrolled agents.
func populate(t *testing.T, url string, n int) []*simulated {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var workspace, organization uuid.UUID
	if err := conn.QueryRow(t.Context(), "SELECT w.id, p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id LIMIT 1").Scan(&workspace, &organization); err != nil {
		t.Fatal(err)
	}
	fleet := make([]*simulated, n)
	var batch pgx.Batch
	for i := range fleet {
		raw := make([]byte, 48)
		_, _ = rand.Read(raw)
		s := &simulated{host: uuid.New(), boot: uuid.NewString()}
		s.id = uuid.UUID(raw[:16])
		s.credential = "kla_" + base64.RawURLEncoding.EncodeToString(raw)
		hash := sha256.Sum256(raw)
		incarnation := uuid.New()
		batch.Queue(`INSERT INTO hosts (id, workspace_id, organization_id, name, address, port, admin_user, region, zone, networks, labels, profile, trust_on_first_use, state, incarnation)
VALUES ($1, $2, $3, $4, '192.0.2.1', 22, 'root', 'r', 'z', '{}', '{}', 'minimal', true, 'registered', $5)`, s.host, workspace, organization, fmt.Sprintf("f%05d", i), incarnation)
		batch.Queue(`INSERT INTO agents (id, workspace_id, host_id, incarnation, public_key, machine_id, state, updated_at) VALUES ($1, $2, $3, $4, $5, $6, 'enrolled', now() - INTERVAL '1 hour')`,
			s.id, workspace, s.host, incarnation, raw[16:], strings.ReplaceAll(s.host.String(), "-", ""))
		batch.Queue(`INSERT INTO agent_credentials (agent_id, hash, expires_at, challenged_at, boot_id) VALUES ($1, $2, now() + INTERVAL '1 hour', now(), $3)`, s.id, hash[:], s.boot)
		batch.Queue(`INSERT INTO agent_liveness (agent_id, host_id) VALUES ($1, $2)`, s.id, s.host)
		fleet[i] = s
	}
	if err := conn.SendBatch(t.Context(), &batch).Close(); err != nil {
		t.Fatal(err)
	}
	return fleet
}

// figures are what a part of the run measured.
type figures struct {
	mu     sync.Mutex
	took   []time.Duration
	failed int
}

// beat sends one heartbeat, and another one on a new connection if the first had none.
func (s *simulated) beat(ctx context.Context, client *http.Client, url string, f *figures) {
	s.seq++
	body, _ := json.Marshal(api.AgentHeartbeat{
		Agent: s.id.String(), Seq: s.seq, Time: time.Now().UnixMilli(), BootID: s.boot, Version: "1.0",
		Report: &api.AgentReport{
			CPUs: 64, Load: [3]float64{1.5, 2.25, 3}, MemoryTotal: 512 << 30, MemoryAvailable: 100 << 30, FailedUnits: []string{},
			Disks: []api.AgentDisk{{Path: "/", Total: 1 << 40, Free: 1 << 39, InodesTotal: 1 << 30, InodesFree: 1 << 29}, {Path: "/boot", Total: 1 << 30, Free: 1 << 29, InodesTotal: 1 << 20, InodesFree: 1 << 19}},
		},
	})
	began := time.Now()
	err := errors.New("not sent")
	for range 2 {
		var request *http.Request
		request, err = http.NewRequestWithContext(ctx, http.MethodPost, url+api.AgentPrefix+"/heartbeat", bytes.NewReader(body))
		if err != nil {
			break
		}
		request.Header.Set("Authorization", "Bearer "+s.credential)
		var response *http.Response
		if response, err = client.Do(request); err != nil {
			continue
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			err = errors.New(response.Status)
		}
		break
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.failed++
		return
	}
	f.took = append(f.took, time.Since(began))
}

// during lets the fleet beat for a while, each agent every 10 s at its own moment.
func during(ctx context.Context, fleet []*simulated, client *http.Client, url string, d time.Duration) *figures {
	f := &figures{}
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	var done sync.WaitGroup
	for i, s := range fleet {
		done.Go(func() {
			first := time.NewTimer(10 * time.Second * time.Duration(i) / time.Duration(len(fleet)))
			defer first.Stop()
			select {
			case <-ctx.Done():
				return
			case <-first.C:
			}
			tick := time.NewTicker(10 * time.Second)
			defer tick.Stop()
			for {
				s.beat(context.WithoutCancel(ctx), client, url, f)
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
			}
		})
	}
	done.Wait()
	return f
}

// TestFleet measures a fleet of simulated agents on two backends, kills one of them, and lets a host fall silent. It takes four
// minutes: KLOIGOS_FLEET=2000 is how many agents; without it, the test is skipped.
func TestFleet(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("KLOIGOS_FLEET"))
	if err != nil {
		t.Skip("KLOIGOS_FLEET is not set")
	}
	cfg, password := preparedWith(t, map[string]string{})
	binary := filepath.Join(t.TempDir(), "kloigos-backend")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "./backend/cmd/kloigos-backend")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	env := []string{"KLOIGOS_DATABASE_URL=" + cfg.DatabaseURL, "KLOIGOS_KEYSET_FILE=" + cfg.KeysetFile, "KLOIGOS_ROLE=api,reconciler", "HOME=" + t.TempDir()}
	killed, other := startBackend(t, binary, env), startBackend(t, binary, env)
	url := balance(t, killed.address, other.address)
	c := loggedIn(t, "http://"+other.address, password)
	fleet := populate(t, cfg.DatabaseURL, n)
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConns: n, MaxIdleConnsPerHost: n, MaxConnsPerHost: n}}

	both := func() time.Duration { return killed.cpu(t) + other.cpu(t) }
	idle, idleFor := both(), 10*time.Second
	time.Sleep(idleFor)
	idle = both() - idle
	warm := during(t.Context(), fleet, client, url, 12*time.Second)
	before, began := both(), time.Now()
	f := during(t.Context(), fleet, client, url, 60*time.Second)
	took := time.Since(began)
	used := both() - before - time.Duration(float64(idle)*took.Seconds()/idleFor.Seconds())
	slices.Sort(f.took)
	t.Logf("first round: %d accepted, %d failed", len(warm.took), warm.failed)
	t.Logf("%d agents, %d heartbeats in %v, %d failed; CPU of the backends %v, without heartbeats %v in %v; %v a heartbeat; p50 %v, p99 %v",
		n, len(f.took), took.Round(time.Second), f.failed, used, idle, idleFor, used/time.Duration(max(1, len(f.took))), f.took[len(f.took)/2], f.took[len(f.took)*99/100])
	if f.failed > 0 {
		t.Errorf("%d heartbeats failed", f.failed)
	}

	killed.kill()
	silent := fleet[0]
	rest := during(t.Context(), fleet[1:], client, url, 90*time.Second)
	t.Logf("after a backend was killed: %d accepted, %d failed", len(rest.took), rest.failed)
	conn, err := pgx.Connect(t.Context(), cfg.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var unreachable int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM hosts WHERE health = 'unreachable'").Scan(&unreachable); err != nil || unreachable != 1 {
		t.Errorf("%d hosts are unreachable, %v", unreachable, err) // the silent one, and no other
	}
	h, err := c.GetHost(t.Context(), silent.host.String())
	if err != nil || h.Health != "unreachable" {
		t.Errorf("the silent host is %q, %v", h.Health, err)
	}
	for _, s := range []*simulated{fleet[1], fleet[n/2], fleet[n-1]} {
		if h, err := c.GetHost(t.Context(), s.host.String()); err != nil || h.Health != "healthy" {
			t.Errorf("%s is %q (%s), %v", h.Name, h.Health, h.HealthMessage, err)
		}
	}
}
