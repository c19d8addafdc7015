package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
)

// mostMemory is what any one kind of hostile request may cost beyond what as
// many honest ones of the same size do.
const mostMemory = 16 << 20

const attackers = 4

// Hostile requests, sent by several attackers at once, cost little memory
// (the kernel's count of the real process, at its peak), and no panic. Each is
// refused with a 4xx.
func TestHostileRequestsCostLittleMemory(t *testing.T) {
	p := start(t, "KLOIGOS_ROLE=api")
	bodies := map[string]string{
		"many empty arrays":     `{"networks":[` + strings.Repeat("[],", 300_000) + `[]]}`,
		"deep, broken off":      strings.Repeat(`{"a":`, 150_000),
		"deep and whole":        strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000),
		"one long text":         `{"name":"` + strings.Repeat("a", 1_000_000) + `"}`,
		"one name many times":   `{` + strings.Repeat(`"a":1,`, 170_000) + `"a":1}`,
		"many unknown names":    manyNames(9_000),
		"very long names":       `{"` + strings.Repeat("n", 500_000) + `":1,"` + strings.Repeat("m", 500_000) + `":2}`,
		"many keys":             `{"cpu_count":1,"ssh_keys":[` + strings.Repeat(`"x",`, 9_000) + `"x"]}`,
		"escapes":               `{"name":"` + strings.Repeat(`\u0001`, 170_000) + `"}`,
		"lone surrogates":       `{"labels":{` + strings.Repeat(`"\ud800":"",`, 9_000) + `"a":""}}`,
		"NaN after a long text": `{"zone":"` + strings.Repeat("z", 900_000) + `","port":NaN}`,
		"a long number":         `{"port":` + strings.Repeat("9", 1_000_000) + `}`,
		"over the limit":        strings.Repeat(" ", 3<<20),
	}
	key := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ "
	honest := api.CreateAllocation{CPUs: 1}
	for i := range domain.MaxSSHKeys {
		honest.SSHKeys = append(honest.SSHKeys, key+strings.Repeat("x", 16_200)+strconv.Itoa(i))
	}
	var base int64
	for range 3 {
		base = max(base, p.attack(func() { p.do(http.MethodPost, "/allocations", honest) }))
	}
	t.Logf("honest requests need %.1f MiB", float64(base)/(1<<20))
	for name, body := range bodies {
		for _, path := range []string{"/hosts", "/allocations", "/sessions"} {
			began := time.Now()
			cost := p.attack(func() {
				status, answer := p.send(path, body)
				if status < 400 || status >= 500 {
					t.Errorf("%s to %s: %d %.200s", name, path, status, answer)
				}
			}) - base
			t.Logf("%-22s %-13s %5.1f MiB %s", name, path, float64(cost)/(1<<20), time.Since(began).Round(time.Millisecond))
			if cost > mostMemory {
				t.Errorf("%s to %s cost %d MiB", name, path, cost>>20)
			}
		}
	}
	if log := p.log.String(); strings.Contains(log, "panic") {
		t.Errorf("something panicked: %s", log)
	}
}

// send is do for bodies that the server may refuse before it has read them
// all: whoever writes on then may lose the answer, which proves nothing.
func (p *process) send(path, body string) (int, string) {
	p.t.Helper()
	conn := p.raw()
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = fmt.Fprintf(conn, "POST %s%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", api.Prefix, path, p.token, len(body))
		_, _ = io.WriteString(conn, body)
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		p.t.Errorf("no answer: %v", err)
		return http.StatusBadRequest, ""
	}
	defer func() { _ = resp.Body.Close() }()
	answer, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer)
}

// attack does something as several attackers at once, a few times each, and
// returns the most memory that the process had meanwhile.
func (p *process) attack(do func()) int64 {
	p.t.Helper()
	p.forgetPeak()
	var all sync.WaitGroup
	for range attackers {
		all.Go(func() {
			for range 3 {
				do()
			}
		})
	}
	all.Wait()
	_, peak := p.resident()
	return peak
}

func manyNames(n int) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		_, _ = fmt.Fprintf(&b, `"name-%d-%s":%d,`, i, strings.Repeat("x", 80), i)
	}
	return b.String() + `"last":1}`
}

// Strangers who announce large bodies and send them slowly, or not at all,
// fill no memory and keep nobody else out: each is cut off when its time is
// over, and those who are no strangers are answered meanwhile.
func TestSlowStrangersAreCutOff(t *testing.T) {
	p := start(t, "KLOIGOS_ROLE=api")
	p.do(http.MethodGet, "/hosts", nil)
	p.forgetPeak()
	before, _ := p.resident()
	began := time.Now()
	head := "POST /api/v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	const each = 100
	var slow []net.Conn
	for _, opening := range []string{
		head,                                   // a header that never ends
		"",                                     // nothing at all
		"P",                                    // not even a method
		head + "Content-Length: 8000\r\n\r\n{", // a body that never ends
		head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		head + "X: " + strings.Repeat("x", 12_000),
	} {
		for range each {
			conn := p.raw()
			if _, err := io.WriteString(conn, opening); err != nil {
				t.Fatal(err)
			}
			slow = append(slow, conn)
		}
	}
	// A byte now and then must not earn more time.
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			for i := 0; i < len(slow); i += each {
				_, _ = io.WriteString(slow[i], "x")
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	if status, body := p.do(http.MethodGet, "/whoami", nil); status != http.StatusOK {
		t.Errorf("an honest request: %d %s", status, body)
	}
	for i, conn := range slow {
		// An answer (408) or none, then the end; never more time than is given.
		_, err := io.Copy(io.Discard, conn)
		if took := time.Since(began); took > 40*time.Second {
			t.Fatalf("connection %d was held for %s (%v)", i, took, err)
		}
		_ = conn.Close()
	}
	_, peak := p.resident()
	t.Logf("%d slow connections cost %.1f MiB and were gone after %s", len(slow), float64(peak-before)/(1<<20), time.Since(began).Round(time.Second))
	if peak-before > mostMemory {
		t.Errorf("%d slow connections cost %d MiB", len(slow), (peak-before)>>20)
	}
}

// A body larger than a login is refused to strangers before it is read, however
// it is announced; and to whoever shows something that only looks like a token.
func TestStrangersMayNotSendMuch(t *testing.T) {
	p := start(t, "KLOIGOS_ROLE=api")
	big := `{"account":"` + strings.Repeat("a", 100_000) + `"}`
	for name, header := range map[string]string{
		"no token": "", "a wrong one": "Authorization: Bearer kl_" + strings.Repeat("x", 43) + "\r\n",
		"two of them": "Authorization: Basic eDp5\r\nAuthorization: Bearer " + p.token + "\r\n",
	} {
		for _, body := range []string{
			fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(big), big),
			fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(big), big),
			fmt.Sprintf("Content-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n%s", len(big), big),
		} {
			conn := p.raw()
			go func() { _, _ = io.WriteString(conn, "POST /api/v1/hosts HTTP/1.1\r\nHost: x\r\n"+header+body) }()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if resp.StatusCode != http.StatusRequestEntityTooLarge || resp.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s with %.40q: %d %v", name, body, resp.StatusCode, resp.Header)
			}
			_ = resp.Body.Close()
			_ = conn.Close()
		}
	}
	if status, answer := p.send("/hosts", `{"name":"`+strings.Repeat("a", 100_000)+`"}`); status != http.StatusUnprocessableEntity {
		t.Errorf("who is known and sends as much: %d %s", status, answer)
	}
}
