package scripted_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"slices"
	"testing"

	"golang.org/x/crypto/ssh"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
)

func play(t *testing.T) ansible.Play {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(priv, "")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return ansible.Play{
		Name: "host_probe", Bundle: "/nowhere", Vars: map[string]any{"a": "{{ b }}"},
		Hosts: []ansible.Host{{Name: "h1", Address: "192.0.2.1", User: "admin", PrivateKey: pem.EncodeToMemory(block), HostKeys: []string{string(ssh.MarshalAuthorizedKey(key))}}},
	}
}

func TestScriptsAreUsedInTurn(t *testing.T) {
	t.Parallel()
	r := scripted.New()
	r.Handle("host_probe",
		scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeUnreachable, Message: "no route"}},
		scripted.Script{Result: map[string]int{"n": 7}, Events: []ansible.Event{{Kind: ansible.EventOK}}},
	)
	out, err := r.Run(t.Context(), play(t), nil)
	if err != nil || out.Failure == nil || out.Failure.Host != "h1" || !out.Failure.Retryable() || out.Stats["h1"].Failed != 1 {
		t.Fatalf("first: %+v, %v", out, err)
	}
	for range 2 {
		var kinds []ansible.EventKind
		out, err = r.Run(t.Context(), play(t), func(e ansible.Event) { kinds = append(kinds, e.Kind) })
		if err != nil || out.Failure != nil || string(out.Results["h1"]) != `{"n":7}` {
			t.Fatalf("later: %+v, %v", out, err)
		}
		if !slices.Equal(kinds, []ansible.EventKind{ansible.EventOK, ansible.EventResult, ansible.EventFinished}) {
			t.Fatalf("events %v", kinds)
		}
	}
	if calls := r.Calls(); len(calls) != 3 || string(calls[0].Vars) != `{"a":"{{ b }}"}` {
		t.Fatalf("calls %+v", calls)
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	r := scripted.New()
	r.Handle("host_probe", scripted.Script{Wait: make(chan struct{}), Result: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := r.Run(ctx, play(t), nil)
	if err != nil || out.Failure == nil || out.Failure.Code != ansible.CodeCancelled || len(out.Results) != 0 {
		t.Fatalf("cancelled: %+v, %v", out, err)
	}
	p := play(t)
	p.Timeout = 1
	out, err = r.Run(t.Context(), p, nil)
	if err != nil || out.Failure == nil || out.Failure.Code != ansible.CodeTimeout {
		t.Fatalf("timed out: %+v, %v", out, err)
	}
}

func TestRefusesWhatTheRealOneRefuses(t *testing.T) {
	t.Parallel()
	r := scripted.New()
	r.Handle("host_probe")
	p := play(t)
	p.Vars = map[string]any{"ansible_connection": "local"}
	if _, err := r.Run(t.Context(), p, nil); !errors.Is(err, ansible.ErrInvalidPlay) {
		t.Errorf("invalid play: %v", err)
	}
	p = play(t)
	p.Name = "unit_allocate"
	if _, err := r.Run(t.Context(), p, nil); err == nil {
		t.Error("a playbook without a script was run")
	}
	if len(r.Calls()) != 1 {
		t.Errorf("calls %+v", r.Calls())
	}
}
