package bench

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
)

const (
	agentBoot   = "11111111-1111-1111-1111-111111111111"
	agentWithin = 10 * time.Second // for one heartbeat, connecting included
)

// agents are programs of hosts that only send heartbeats, over connections that they keep open.
type agents struct {
	address string // of HAProxy
	every   time.Duration
	ids     []uuid.UUID

	mu     sync.Mutex
	took   []time.Duration // of accepted heartbeats since the last look
	failed map[string]int  // why others were not accepted
	cut    chan struct{}   // closed: all close their connections, and connect again at once
	again  sync.WaitGroup  // agents that were cut and had no heartbeat accepted since
}

// simulated is one of them.
type simulated struct {
	all    *agents
	id     uuid.UUID
	header string
	seq    int64
	conn   net.Conn
	reader *bufio.Reader
}

// run sends heartbeats of all agents until ctx is done. They begin spread over one interval.
func (a *agents) run(ctx context.Context) {
	var running sync.WaitGroup
	for i, id := range a.ids {
		secret := sha256.Sum256([]byte("bench " + id.String()))
		credential := "kla_" + base64.RawURLEncoding.EncodeToString(append(id[:], secret[:]...))
		s := &simulated{all: a, id: id, header: "POST " + api.AgentPrefix + "/heartbeat HTTP/1.1\r\nHost: kloigos\r\nAuthorization: Bearer " + credential +
			"\r\nContent-Type: application/json\r\n"}
		first := a.every * time.Duration(i) / time.Duration(len(a.ids))
		running.Go(func() { s.run(ctx, first) })
	}
	running.Wait()
}

func (s *simulated) run(ctx context.Context, pause time.Duration) {
	defer s.close()
	waits := false
	for {
		cut := s.all.cutting()
		select {
		case <-ctx.Done():
			if waits {
				s.all.again.Done()
			}
			return
		case <-cut:
			s.close()
			waits = true
		case <-time.After(pause):
		}
		began := time.Now()
		err := s.beat(ctx)
		s.all.note(time.Since(began), err)
		if err == nil && waits {
			s.all.again.Done()
			waits = false
		}
		pause = time.Duration(float64(s.all.every) * (0.9 + 0.2*rand.Float64()))
		if err != nil {
			s.close()
			pause = min(pause, time.Second+rand.N(time.Second))
		}
	}
}

func (s *simulated) close() {
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}

// beat sends one heartbeat; an error if it was not accepted.
func (s *simulated) beat(ctx context.Context) error {
	deadline := time.Now().Add(agentWithin)
	if s.conn == nil {
		ctx, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.all.address)
		if err != nil {
			return errors.New("no connection")
		}
		s.conn, s.reader = conn, bufio.NewReaderSize(conn, 512)
	}
	s.seq++
	body, err := json.Marshal(api.AgentHeartbeat{
		Agent: s.id.String(), Seq: s.seq, Time: time.Now().UnixMilli(), BootID: agentBoot, Version: "v0.0.0-bench",
		Report: &api.AgentReport{
			UptimeSeconds: 86400 + s.seq, CPUs: 64, Load: [3]float64{3 + rand.Float64(), 3, 3}, MemoryTotal: 256 << 30, MemoryAvailable: 128<<30 + s.seq,
			Disks: []api.AgentDisk{{Path: "/", Total: 100 << 30, Free: 60 << 30, InodesTotal: 6 << 20, InodesFree: 5 << 20}}, FailedUnits: []string{},
		},
	})
	if err != nil {
		return err
	}
	_ = s.conn.SetDeadline(deadline)
	if _, err := fmt.Fprintf(s.conn, "%sContent-Length: %d\r\n\r\n%s", s.header, len(body), body); err != nil {
		return errors.New("the connection broke")
	}
	response, err := http.ReadResponse(s.reader, nil)
	if err != nil {
		return errors.New("no answer")
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return errors.New("half an answer")
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	if response.Close {
		s.close()
	}
	return nil
}

func (a *agents) cutting() chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cut
}

func (a *agents) note(took time.Duration, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.failed[err.Error()]++
		return
	}
	a.took = append(a.took, took)
}

// look returns what was accepted and what was not since the last look.
func (a *agents) look() (took []time.Duration, failed map[string]int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	took, failed, a.took, a.failed = a.took, a.failed, nil, map[string]int{}
	return took, failed
}

// reconnect closes all connections at once and returns how long it takes until each agent had a heartbeat accepted again.
func (a *agents) reconnect() time.Duration {
	a.again.Add(len(a.ids))
	a.mu.Lock()
	close(a.cut)
	a.cut = make(chan struct{})
	a.mu.Unlock()
	began := time.Now()
	a.again.Wait()
	return time.Since(began)
}
