package demo

import (
	"strings"
	"testing"
)

func TestParseAnswerFindsItInATerminal(t *testing.T) {
	t.Parallel()
	text := "Linux demo\r\n{\r\n\x1b[?2004h\x1b]0;alice@demo: ~\aalice@demo:~$ python3 x '{\"way\": 1}'\r\n" +
		"\x1b[?2004l\r{\r\n \"uid\": 20001,\r\n \"limits\": {\r\n  \"tasks_max\": 2048\r\n }\r\n}\r\n\x1b[?2004h$ exit\r\n"
	said, err := parseAnswer(text)
	if err != nil {
		t.Fatal(err)
	}
	if said.UID != 20001 || said.Limits.TasksMax != 2048 {
		t.Errorf("read as %+v", said)
	}
	if _, err := parseAnswer("nothing\n{\nhere"); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("without an answer: %v", err)
	}
}

func TestHeldNamesEveryDifference(t *testing.T) {
	t.Parallel()
	v := visitor{}
	v.a.UID, v.a.Address = 20001, "10.0.2.101"
	v.unit.Name, v.unit.CPUs, v.unit.CPUCount, v.unit.Mount = "h1-cu01", "1-3", 3, "/mnt/kloigos/h1/cu01"
	said, err := parseAnswer(`{
 "uid": 20001, "nproc": 8, "cpus": "0-7", "apparmor": {"profile": "unconfined", "mode": null},
 "readable": ["/etc/shadow"], "processes": {"others": [1]}, "writable": [{"path": "/srv", "mount": "/", "device": "/dev/vda"}],
 "network": {"tcp": {"connected": true, "source": "10.0.2.15"}, "other_sources": [{"address": "10.0.2.15", "udp_sent": true}]},
 "escapes": [{"try": "sudo", "succeeded": true}]
}`)
	if err != nil {
		t.Fatal(err)
	}
	err = v.held(said)
	for _, want := range []string{
		"nproc is 8", "allowed CPUs is 0-7", "AppArmor is unconfined", "can read", "processes of others", "can write /srv",
		"source of a plain connection is 10.0.2.15", "can send from 10.0.2.15", "gets out by sudo", "may swap", "cgroup",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("does not say %q: %v", want, err)
		}
	}
}
