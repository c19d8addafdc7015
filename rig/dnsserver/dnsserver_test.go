package dnsserver

import (
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	mdns "github.com/miekg/dns"
)

// A server answers for its zone, keeps an update over a crash, and is gone after Stop.
func TestServers(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, start Start) {
		s := start(t, Options{Records: []string{"www 60 IN A 192.0.2.1"}})
		s.Update(t, "+new.example.org. 60 IN A 192.0.2.2")
		s.Restart(t)
		for name, want := range map[string]string{"www.example.org.": "192.0.2.1", "new.example.org.": "192.0.2.2"} {
			question := new(mdns.Msg)
			question.SetQuestion(name, mdns.TypeA)
			answer, _, err := (&mdns.Client{Net: "tcp", Timeout: 5 * time.Second}).Exchange(question, s.Address)
			if err != nil || len(answer.Answer) != 1 || answer.Answer[0].(*mdns.A).A.String() != want {
				t.Errorf("%s: %v, %v", name, answer, err)
			}
		}
		process := s.process.Process.Pid
		s.Stop()
		if conn, err := net.Dial("tcp", s.Address); err == nil {
			_ = conn.Close()
			t.Error("the server still listens")
		}
		if _, err := os.Stat("/proc/" + strconv.Itoa(process)); err == nil {
			t.Error("the process still exists")
		}
	})
}
