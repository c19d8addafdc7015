package ansible

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func validPlay(t *testing.T) Play {
	t.Helper()
	private, public := newKey(t)
	return Play{Name: "host_probe", Bundle: "/srv/bundle", Hosts: []Host{{
		Name: "h1", Address: "192.0.2.7", User: "admin", PrivateKey: private, HostKeys: []string{public},
		Fence: &Fence{Incarnation: "11111111-2222-3333-4444-555555555555", Number: 1, Run: "run-1"},
	}}}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	rsa1024 := "ssh-dss AAAAB3NzaC1kc3MAAACBAKy"
	for name, change := range map[string]func(p *Play){
		"no name":                  func(p *Play) { p.Name = "" },
		"playbook elsewhere":       func(p *Play) { p.Playbook = "../other.yml" },
		"playbook as an option":    func(p *Play) { p.Playbook = "-e.yml" },
		"no bundle":                func(p *Play) { p.Bundle = "" },
		"two bundles":              func(p *Play) { p.Unpack = func(string) error { return nil } },
		"relative bundle":          func(p *Play) { p.Bundle = "bundle" },
		"no hosts":                 func(p *Play) { p.Hosts = nil },
		"a host twice":             func(p *Play) { p.Hosts = append(p.Hosts, p.Hosts[0]) },
		"host named all":           func(p *Play) { p.Hosts[0].Name = "all" },
		"host with a pattern":      func(p *Play) { p.Hosts[0].Name = "h[1:9]" },
		"host with a template":     func(p *Play) { p.Hosts[0].Name = "{{x}}" },
		"address as an option":     func(p *Play) { p.Hosts[0].Address = "-oProxyCommand=touch${IFS}x" },
		"address with a template":  func(p *Play) { p.Hosts[0].Address = "{{ lookup('pipe','id') }}" },
		"address with a user":      func(p *Play) { p.Hosts[0].Address = "root@192.0.2.1" },
		"address with a port":      func(p *Play) { p.Hosts[0].Address = "192.0.2.1:22" },
		"address with a zone":      func(p *Play) { p.Hosts[0].Address = "fe80::1%eth0" },
		"address as a number":      func(p *Play) { p.Hosts[0].Address = "2130706433" },
		"address in hexadecimal":   func(p *Play) { p.Hosts[0].Address = "0x7f.0x1" },
		"empty address":            func(p *Play) { p.Hosts[0].Address = "" },
		"label with a dash":        func(p *Play) { p.Hosts[0].Address = "a.-b.example" },
		"port":                     func(p *Play) { p.Hosts[0].Port = 70000 },
		"user as an option":        func(p *Play) { p.Hosts[0].User = "-l" },
		"user with a template":     func(p *Play) { p.Hosts[0].User = "{{x}}" },
		"no private key":           func(p *Play) { p.Hosts[0].PrivateKey = nil },
		"no host key":              func(p *Play) { p.Hosts[0].HostKeys = nil },
		"host key of an old type":  func(p *Play) { p.Hosts[0].HostKeys = []string{rsa1024} },
		"host key with options":    func(p *Play) { p.Hosts[0].HostKeys[0] = `command="id" ` + p.Hosts[0].HostKeys[0] },
		"host key of two lines":    func(p *Play) { p.Hosts[0].HostKeys[0] += "\n@cert-authority * " + p.Hosts[0].HostKeys[0] },
		"incarnation":              func(p *Play) { p.Hosts[0].Fence.Incarnation = "1; id" },
		"fence number":             func(p *Play) { p.Hosts[0].Fence.Number = 0 },
		"run":                      func(p *Play) { p.Hosts[0].Fence.Run = "$(id)" },
		"verbosity":                func(p *Play) { p.Verbosity = 4 },
		"negative timeout":         func(p *Play) { p.Timeout = -1 },
		"vars are a list":          func(p *Play) { p.Vars = []int{1} },
		"vars cannot be marshaled": func(p *Play) { p.Vars = func() {} },
	} {
		p := validPlay(t)
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&p)
		if err := p.Validate(); !errors.Is(err, ErrInvalidPlay) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"192.0.2.1", "2001:db8::1", "host.example", "HOST-1", "1.example", "a.b.c.d.e"} {
		p := validPlay(t)
		p.Hosts[0].Address, p.Hosts[0].Fence = address, nil
		p.Bundle, p.Unpack = "", func(string) error { return nil }
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestValidateReportsAllAtOnceAndNoKey(t *testing.T) {
	t.Parallel()
	p := validPlay(t)
	p.Hosts[0].Name, p.Hosts[0].Port, p.Hosts[0].PrivateKey = "", -1, []byte("-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n")
	err := p.Validate()
	for _, word := range []string{"name", "port", "private key"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("no word of the %s: %v", word, err)
		}
	}
	if strings.Contains(err.Error(), "c2VjcmV0") {
		t.Errorf("a private key is in the error: %v", err)
	}
}

func TestEncodeVarsMarksEveryString(t *testing.T) {
	t.Parallel()
	raw, err := encodeVars(struct {
		Unit struct {
			Name  string            `json:"name"`
			Keys  []string          `json:"keys"`
			Bytes int64             `json:"bytes"`
			More  map[string]string `json:"more"`
			None  *string           `json:"none"`
			On    bool              `json:"on"`
		} `json:"unit"`
	}{Unit: struct {
		Name  string            `json:"name"`
		Keys  []string          `json:"keys"`
		Bytes int64             `json:"bytes"`
		More  map[string]string `json:"more"`
		None  *string           `json:"none"`
		On    bool              `json:"on"`
	}{"{{ x }}", []string{"{% y %}"}, 1 << 62, map[string]string{"a": ""}, nil, true}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"unit":{"bytes":4611686018427387904,"keys":[{"__ansible_unsafe":"{% y %}"}],"more":{"a":{"__ansible_unsafe":""}},"name":{"__ansible_unsafe":"{{ x }}"},"none":null,"on":true}}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
}

func TestEncodeVarsRefusesNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"ansible_connection", "ansible_", "__ansible_unsafe", "__ansible_vault", "_x", "X", "a-b", "{{ x }}", "", "a.b", "1a",
	} {
		for at, vars := range map[string]any{
			"top":     map[string]any{name: 1},
			"nested":  map[string]any{"a": map[string]any{name: 1}},
			"in list": map[string]any{"a": []any{map[string]any{name: 1}}},
		} {
			if raw, err := encodeVars(vars); err == nil {
				t.Errorf("%s %q is allowed: %s", at, name, raw)
			}
		}
	}
	for _, vars := range []any{nil, map[string]any(nil), struct{}{}, json.RawMessage(`{}`)} {
		if raw, err := encodeVars(vars); err != nil || string(raw) != "{}" {
			t.Errorf("%#v: %s, %v", vars, raw, err)
		}
	}
}

func TestKnownHosts(t *testing.T) {
	t.Parallel()
	p := validPlay(t)
	p.Hosts = append(p.Hosts, p.Hosts[0], p.Hosts[0])
	p.Hosts[1].Address, p.Hosts[1].Port = "2001:db8::1", 2222
	p.Hosts[2].Address, p.Hosts[2].HostKeys = "Host.Example", []string{p.Hosts[2].HostKeys[0] + " a comment"}
	raw, err := knownHosts(p.Hosts)
	key := p.Hosts[0].HostKeys[0]
	want := "192.0.2.7 " + key + "\n[2001:db8::1]:2222 " + key + "\nhost.example " + key + "\n"
	if err != nil || string(raw) != want {
		t.Errorf("got %q, %v", raw, err)
	}
}

func TestRunRootIsOurs(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	if err := ensureRunRoot(filepath.Join(dir, strings.Repeat("x", 40))); err == nil {
		t.Error("a path that is too long for sockets is accepted")
	}
	if err := ensureRunRoot(dir + "/with space"); err == nil {
		t.Error("a path with a space is accepted")
	}
	if err := ensureRunRoot("/tmp"); err == nil {
		t.Error("a directory that is everybody's is accepted")
	}
	if err := ensureRunRoot(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
}
