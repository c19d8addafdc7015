package iamstream

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/webhook"
	"kloigos/backend/internal/testkit/areatest"
)

const testSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// bench is an installation with events that are sealed, and streams of them.
type bench struct {
	*areatest.Place
	t      *testing.T
	config Config
	n      int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	p := areatest.New(t)
	keys, err := secret.Create(filepath.Join(t.TempDir(), "keyset.json"))
	if err != nil {
		t.Fatal(err)
	}
	return &bench{Place: p, t: t, config: Config{
		DB: p.DB, Keys: keys, Rule: egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, patience: 2 * time.Second,
	}}
}

// seal writes events of the installation and seals them; their actions are e1, e2, ...
func (b *bench) seal(n int) {
	b.t.Helper()
	for range n {
		b.n++
		b.Exec(b.t, `INSERT INTO events (id, at, workspace_id, organization_id, actor_kind, actor_name, client, request_id, action, object_kind, object_name)
			VALUES (gen_random_uuid(), now() - INTERVAL '1 hour' + $1::INT8 * INTERVAL '1 millisecond', $2, $2, 'account', 'ada', '', '', $3, 'host', 'h1')`, b.n, uuid.Nil, fmt.Sprintf("e%d", b.n))
	}
	for more := true; more; {
		err := b.DB.InTx(b.t.Context(), func(tx *db.Tx) (err error) {
			_, more, err = audit.SealNext(b.t.Context(), tx, uuid.Nil, b.config.Keys.Vouch)
			return err
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bench) stream(d iam.StreamDraft, history bool) uuid.UUID {
	b.t.Helper()
	d.Name, d.Enabled = "siem", true
	return areatest.Must(b.t, b.Place, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		s, err := iam.CreateStream(ctx, tx, b.config.Keys, b.config.Rule, uuid.Nil, d, history)
		return s.ID, err
	})
}

func (b *bench) run(id uuid.UUID) (reconcile.Outcome, error) {
	return Policy(b.config).Run(b.t.Context(), reconcile.Item{ObjectID: id})
}

// fails runs the stream, and returns the reason of its failure.
func (b *bench) fails(id uuid.UUID) reconcile.Failure {
	b.t.Helper()
	_, err := b.run(id)
	var f *reconcile.Failure
	if !errors.As(err, &f) {
		b.t.Fatalf("got %v, not a failure of the receiver", err)
	}
	return *f
}

func (b *bench) sends(id uuid.UUID, want int64) reconcile.Outcome {
	b.t.Helper()
	out, err := b.run(id)
	if err != nil || out.Changed != want {
		b.t.Fatalf("%d events were sent, want %d: %v", out.Changed, want, err)
	}
	return out
}

// receiver is a webhook that keeps what it takes.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	answer  func(w http.ResponseWriter, r *http.Request)
	actions []string
	ids     []string
	bad     []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	v := &receiver{}
	v.Server = httptest.NewUnstartedServer(http.HandlerFunc(v.take))
	v.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	v.StartTLS()
	t.Cleanup(v.Close)
	return v
}

func (v *receiver) take(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if v.answer != nil {
		v.answer(w, r)
		return
	}
	key, _ := webhook.ParseSecret(testSecret)
	if err != nil || r.Header.Get(webhook.SignatureHeader) != webhook.Sign([][]byte{key}, r.Header.Get(webhook.IDHeader), r.Header.Get(webhook.TimestampHeader), body) {
		v.bad = append(v.bad, "a message is not signed as it should be")
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil || m.Type != "events" || m.Stream != "siem" {
		v.bad = append(v.bad, string(body))
	}
	v.ids = append(v.ids, r.Header.Get(webhook.IDHeader))
	for _, e := range m.Events {
		v.actions = append(v.actions, e.Action)
	}
}

func (v *receiver) answers(with func(w http.ResponseWriter, r *http.Request)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answer = with
}

func (v *receiver) authority() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: v.Certificate().Raw}))
}

func (b *bench) webhook(v *receiver, history bool) uuid.UUID {
	key := testSecret
	return b.stream(iam.StreamDraft{Type: iam.StreamWebhook, URL: v.URL, Authority: v.authority(), Secret: &key}, history)
}

// inOrder are the actions of events from the one with this number on.
func inOrder(from, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = "e" + strconv.Itoa(from+i)
	}
	return all
}

func TestWebhookGetsAllEventsInOrder(t *testing.T) {
	t.Parallel()
	b, v := newBench(t), newReceiver(t)
	b.seal(30) // before the stream
	id := b.webhook(v, false)
	b.sends(id, 0)
	b.seal(450)
	b.sends(id, 450)
	b.seal(1)
	b.sends(id, 1)
	b.sends(id, 0)
	if !slices.Equal(v.actions, inOrder(31, 451)) || len(v.ids) != 4 || len(v.bad) > 0 {
		t.Errorf("%d events in %d messages: %v ... ; %v", len(v.actions), len(v.ids), v.actions[:min(5, len(v.actions))], v.bad)
	}
	if s, err := iam.StreamByID(t.Context(), b.DB.Reader, id); err != nil || s.Sent != 451 || s.SentAt == nil {
		t.Errorf("the stream has sent %d at %v: %v", s.Sent, s.SentAt, err)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	b, v := newBench(t), newReceiver(t)
	b.seal(30)
	b.sends(b.webhook(v, true), 30)
	if !slices.Equal(v.actions, inOrder(1, 30)) {
		t.Errorf("got %v", v.actions)
	}
}

// A receiver that fails in any way gets the same batch again, as the same message, and everything after it.
func TestReceiverFails(t *testing.T) {
	t.Parallel()
	b, v := newBench(t), newReceiver(t)
	id := b.webhook(v, false)
	b.seal(3)
	elsewhere := newReceiver(t)
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	for reason, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"failing": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"refused": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"unreachable": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no_answer": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		},
	} {
		v.answers(answer)
		if f := b.fails(id); f.Reason != reason || f.Message == "" {
			t.Errorf("got %+v, want %s", f, reason)
		}
	}
	v.answers(nil)
	if out := b.sends(id, 3); out.Conditions[0].Status != reconcile.True || out.Conditions[1].Status != reconcile.True {
		t.Errorf("conditions %+v", out.Conditions)
	}
	if !slices.Equal(v.actions, inOrder(1, 3)) || len(elsewhere.actions) > 0 {
		t.Errorf("got %v, and %v elsewhere", v.actions, elsewhere.actions)
	}
}

// A batch whose record is lost is sent again as the same message.
func TestLostRecord(t *testing.T) {
	t.Parallel()
	b, v := newBench(t), newReceiver(t)
	id := b.webhook(v, false)
	b.seal(3)
	s, err := iam.StreamByID(t.Context(), b.DB.Reader, id)
	if err != nil {
		t.Fatal(err)
	}
	events, err := audit.SealedAfter(t.Context(), b.DB.Reader, uuid.Nil, s.Position(), PerBatch)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.config.webhook(t.Context(), s, s.Position(), events); err != nil {
		t.Fatal(err)
	}
	b.sends(id, 3)
	if len(v.ids) != 2 || v.ids[0] != v.ids[1] {
		t.Errorf("message ids %v", v.ids)
	}
}

func TestBadCertificateAndAddress(t *testing.T) {
	t.Parallel()
	b, v := newBench(t), newReceiver(t)
	b.seal(1)
	id := b.stream(iam.StreamDraft{Type: iam.StreamWebhook, URL: v.URL}, true)
	if f := b.fails(id); f.Reason != "bad_certificate" {
		t.Errorf("got %+v", f)
	}
	b.config.Rule = egress.Rule{}
	if f := b.fails(id); f.Reason != "address_refused" {
		t.Errorf("got %+v", f)
	}
}

// syslogd listens as a syslog server with TLS does. handle gets each connection; nil takes its frames.
type syslogd struct {
	net.Listener
	mu     sync.Mutex
	frames []string
	bad    []string
}

func newSyslogd(t *testing.T, with *receiver, handle func(net.Conn)) *syslogd {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: with.TLS.Certificates, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	d := &syslogd{Listener: l}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	if handle == nil {
		handle = d.take
	}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			all.Go(func() { defer func() { _ = c.Close() }(); handle(c) })
		}
	})
	return d
}

// take reads frames: a length, a space, so many bytes.
func (d *syslogd) take(c net.Conn) {
	in := bufio.NewReader(c)
	for {
		length, err := in.ReadString(' ')
		if err != nil {
			return
		}
		n, err := strconv.Atoi(strings.TrimSuffix(length, " "))
		frame := make([]byte, max(n, 0))
		if err == nil {
			_, err = io.ReadFull(in, frame)
		}
		d.mu.Lock()
		if err != nil {
			d.bad = append(d.bad, length)
			d.mu.Unlock()
			return
		}
		d.frames = append(d.frames, string(frame))
		d.mu.Unlock()
	}
}

func (b *bench) syslogStream(d *syslogd, with *receiver) uuid.UUID {
	return b.stream(iam.StreamDraft{Type: iam.StreamSyslog, Server: d.Addr().String(), Authority: with.authority()}, true)
}

func TestSyslogGetsAllEventsInOrder(t *testing.T) {
	t.Parallel()
	b, v := newBench(t), newReceiver(t)
	d := newSyslogd(t, v, nil)
	b.seal(250)
	b.sends(b.syslogStream(d, v), 250)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.frames) != 250 || len(d.bad) > 0 {
		t.Fatalf("%d frames, %v", len(d.frames), d.bad)
	}
	for i, f := range d.frames {
		head, text, found := strings.Cut(f, " - \ufeff")
		words := strings.Fields(head)
		var e audit.Sealed
		if err := json.NewDecoder(bytes.NewBufferString(text)).Decode(&e); err != nil || !found {
			t.Fatalf("%q: %v", f, err)
		}
		at, err := time.Parse(time.RFC3339Nano, words[1])
		if words[0] != "<109>1" || err != nil || !at.Equal(e.At) || words[3] != "kloigos" || words[5] != "e"+strconv.Itoa(i+1) || e.Action != words[5] {
			t.Fatalf("frame %d is %q", i, f)
		}
	}
}

// What a syslog server does not read to its end is sent again.
func TestSyslogServerFails(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]func(net.Conn){
		"ends at once": func(net.Conn) {},
		"talks without end": func(c net.Conn) {
			for text := make([]byte, 4096); ; {
				if _, err := c.Write(text); err != nil {
					return
				}
			}
		},
		"reads nothing": func(c net.Conn) {
			_ = c.(*tls.Conn).Handshake()
			time.Sleep(4 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, v := newBench(t), newReceiver(t)
			d := newSyslogd(t, v, handle)
			b.seal(200)
			id := b.syslogStream(d, v)
			f := b.fails(id)
			s, err := iam.StreamByID(t.Context(), b.DB.Reader, id)
			if err != nil || s.Sent != 0 || !f.RetryHelps {
				t.Errorf("%d were sent, %+v, %v", s.Sent, f, err)
			}
		})
	}
}

func TestMsgID(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{"host.register": "host.register", "": "-", "a b\n": "ab", "\u00fc": "-", strings.Repeat("x", 40): strings.Repeat("x", 32)} {
		if got := msgID(action); got != want {
			t.Errorf("%q: %q, want %q", action, got, want)
		}
	}
}

func TestDisabledStreamSendsNothing(t *testing.T) {
	t.Parallel()
	b, v := newBench(t), newReceiver(t)
	id := b.webhook(v, true)
	b.Exec(t, "UPDATE event_streams SET enabled = false WHERE id = $1", id)
	b.seal(3)
	b.sends(id, 0)
	if out, err := b.run(uuid.New()); err != nil || !out.Gone {
		t.Errorf("a stream that is not there: %+v, %v", out, err)
	}
}
