package watchwork

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/google/uuid"

	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/testkit/areatest"
)

var loopback = egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}

var keys = [][]byte{[]byte("0123456789abcdef0123456789abcdef"), []byte("ffffffffffffffffffffffffffffffff")}

func secretText(key []byte) string { return "whsec_" + base64.StdEncoding.EncodeToString(key) }

// received is a request as a receiver got it.
type received struct {
	header http.Header
	body   []byte
}

// receiver answers with the statuses in turn, the last one for ever.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	got  []received
	when []int
}

func newReceiver(t *testing.T, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{when: statuses}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		status := r.when[min(len(r.got), len(r.when)-1)]
		r.got = append(r.got, received{q.Header.Clone(), body})
		r.mu.Unlock()
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

type bench struct {
	*areatest.Place
	t      *testing.T
	config Config
}

func setup(t *testing.T) *bench {
	t.Helper()
	p := areatest.New(t)
	return &bench{p, t, Config{DB: p.DB, Keys: p.Keys, Rule: loopback, Pauses: []time.Duration{time.Millisecond, 2 * time.Millisecond}}}
}

func (b *bench) channel(d watch.Draft, secret string) watch.Channel {
	b.t.Helper()
	return areatest.Must(b.t, b.Place, func(ctx context.Context, tx *intent.Tx) (watch.Channel, error) {
		return watch.CreateChannel(ctx, tx, b.Keys, b.config.Rule, d, secret)
	})
}

type log struct{ t *testing.T }

func (l log) Step(name string)                { l.t.Log("step", name) }
func (l log) Note(format string, args ...any) { l.t.Logf(format, args...) }

// test asks for a test of a channel and runs attempts of its job until it ends.
func (b *bench) test(c watch.Channel) (uuid.UUID, work.Result, int) {
	b.t.Helper()
	kinds, err := work.NewRegistry([]work.Noun{watch.ChannelJobs}, []work.Kind{watch.ChannelTest})
	if err != nil {
		b.t.Fatal(err)
	}
	job := areatest.Must(b.t, b.Place, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) { return watch.AskTest(ctx, tx, kinds, c) })
	runner := &work.Runner{DB: b.DB, Registry: kinds, Handlers: Handlers(b.config), Backend: "test"}
	for attempt := 1; attempt < 10; attempt++ {
		b.Exec(b.t, "UPDATE jobs SET state = 'running', attempt = $2, worker_id = gen_random_uuid(), started_at = now(), lease_expires_at = now() + INTERVAL '1 minute' WHERE id = $1", job, attempt)
		r := runner.Run(b.t.Context(), job, attempt, log{b.t}, func(int) time.Duration { return time.Millisecond })
		if r.End != work.HandOver {
			return job, r, attempt
		}
	}
	b.t.Fatal("the job does not end")
	return uuid.Nil, work.Result{}, 0
}

func (b *bench) attempts(message uuid.UUID) (all []string) {
	b.t.Helper()
	made, err := watch.Attempts(b.t.Context(), b.Reader, message)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, d := range made {
		code := int64(0)
		if d.StatusCode != nil {
			code = *d.StatusCode
		}
		all = append(all, fmt.Sprintf("%d %s %d %s %v", d.Attempt, d.Outcome, code, d.Fault, d.Retry))
	}
	return all
}

func (b *bench) want(what string, got []string, want ...string) {
	b.t.Helper()
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		b.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A receiver that is busy gets the same message again, each time signed with every secret; three attempts are all.
func TestWebhook(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, 503, 429, 204)
	c := b.channel(watch.Draft{Name: "hook", Type: watch.Webhook, URL: r.URL + "/x"}, secretText(keys[0]))
	areatest.Must(t, b.Place, func(ctx context.Context, tx *intent.Tx) (watch.Channel, error) {
		return watch.AddSecret(ctx, tx, b.Keys, scope.Found[watch.Channel](c.ID, c.WorkspaceID), secretText(keys[1]))
	})
	job, result, attempts := b.test(c)
	if result.End != work.Succeeded || attempts != 3 || result.Outcome != "The message was delivered at attempt 3." {
		t.Errorf("%+v after %d", result, attempts)
	}
	b.want("attempts", b.attempts(job), "1 failed 503 provider true", "2 failed 429 provider true", "3 delivered 204  false")
	for i, q := range r.got {
		id, stamp := q.header.Get("Webhook-Id"), q.header.Get("Webhook-Timestamp")
		var want []string
		for _, key := range keys {
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte(id + "." + stamp + "." + string(q.body)))
			want = append(want, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		}
		if q.header.Get("Webhook-Signature") != strings.Join(want, " ") || id != job.String() {
			t.Errorf("%d: %v", i, q.header)
		}
		var m watch.Message
		if err := json.Unmarshal(q.body, &m); err != nil || m.Kind != "test" || m.Channel != "hook" || q.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s, %v", q.body, err)
		}
	}

	busy := newReceiver(t, 500)
	job, result, _ = b.test(b.channel(watch.Draft{Name: "busy", Type: watch.Webhook, URL: busy.URL}, ""))
	if result.End != work.Failed || result.Error.Code != "not_delivered" || len(busy.got) != 3 || busy.got[0].header.Get("Webhook-Signature") != "" {
		t.Errorf("%+v, %d requests", result, len(busy.got))
	}
	b.want("attempts", b.attempts(job), "1 failed 500 provider true", "2 failed 500 provider true", "3 failed 500 provider true")
}

// What no repetition mends is tried once: a redirect, which leads nowhere, a refusal, an address that became private.
func TestWebhookThatIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for status, want := range map[int]string{302: "1 failed 302 user false", 403: "1 failed 403 user false"} {
		r := newReceiver(t, status)
		job, result, _ := b.test(b.channel(watch.Draft{Name: fmt.Sprintf("s%d", status), Type: watch.Webhook, URL: r.URL}, ""))
		if result.End != work.Failed || len(r.got) != 1 {
			t.Errorf("%d: %+v, %d requests", status, result, len(r.got))
		}
		b.want("attempts", b.attempts(job), want)
	}
	r := newReceiver(t, 200)
	c := b.channel(watch.Draft{Name: "rebound", Type: watch.Webhook, URL: strings.Replace(r.URL, "127.0.0.1", "localhost", 1)}, "")
	b.config.Rule = egress.Rule{}
	job, result, _ := b.test(c)
	if result.End != work.Failed || len(r.got) != 0 || !strings.Contains(result.Error.Message, "private range") {
		t.Errorf("%+v, %d requests", result, len(r.got))
	}
	b.want("attempts", b.attempts(job), "1 failed 0 user false")
	b.config.Rule = loopback
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	job, _, _ = b.test(b.channel(watch.Draft{Name: "selfsigned", Type: watch.Webhook, URL: secure.URL}, ""))
	b.want("attempts", b.attempts(job), "1 failed 0 user false")
}

// An answer without an end does not keep the backend, and neither does one that never comes.
func TestWebhookIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		for q.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(endless.Close)
	job, result, _ := b.test(b.channel(watch.Draft{Name: "endless", Type: watch.Webhook, URL: endless.URL}, ""))
	if result.End != work.Succeeded {
		t.Errorf("%+v", result)
	}
	b.want("attempts", b.attempts(job), "1 delivered 200  false")

	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(silent.Close)
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	got := newSteps(b.config).webhook(ctx, watch.Channel{URL: silent.URL}, watch.Message{}, nil)
	if !got.retry || got.fault != faultDependency || !strings.Contains(got.text, "10s") {
		t.Errorf("%+v", got)
	}
}

// mailbox is a mail server that keeps what it takes.
type mailbox struct {
	mu       sync.Mutex
	address  string
	taken    []envelope
	password string
	refuse   *smtp.SMTPError
}

type envelope struct {
	from string
	to   []string
	data []byte
}

type mailSession struct {
	box   *mailbox
	now   envelope
	known bool
}

func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "kloigos" || password != s.box.password {
			return smtp.ErrAuthFailed
		}
		s.known = true
		return nil
	}), nil
}

func (s *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if s.box.password != "" && !s.known {
		return smtp.ErrAuthRequired
	}
	s.now.from = from
	return nil
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.box.refuse != nil {
		return s.box.refuse
	}
	s.now.to = append(s.now.to, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) (err error) {
	s.now.data, err = io.ReadAll(r)
	s.box.mu.Lock()
	s.box.taken = append(s.box.taken, s.now)
	s.box.mu.Unlock()
	return err
}

func (s *mailSession) Reset()        { s.now = envelope{} }
func (s *mailSession) Logout() error { return nil }

// newMailbox starts a mail server on loopback, and returns what trusts its certificate.
func newMailbox(t *testing.T, box *mailbox, implicit bool) (*mailbox, *tls.Config) {
	t.Helper()
	web := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate, of 127.0.0.1
	certificate, leaf := web.TLS.Certificates[0], web.Certificate()
	web.Close()
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{box: box}, nil }))
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.Domain = "localhost"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	box.address = listener.Addr().String()
	if implicit {
		listener = tls.NewListener(listener, server.TLSConfig)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return box, &tls.Config{RootCAs: pool}
}

func (b *bench) mail(name string, box *mailbox, mode string) watch.Channel {
	b.t.Helper()
	d := watch.Draft{Name: name, Type: watch.Email, Server: box.address, TLS: mode, Sender: "kloigos@example.org", Recipients: []string{"ada@example.org", "bob@example.org"}}
	if box.password != "" {
		d.Username, d.Password = "kloigos", box.password
	}
	return b.channel(d, "")
}

// Mail arrives at a real server by each way, with the password in encrypted connections only.
func TestEmail(t *testing.T) {
	t.Parallel()
	for mode, box := range map[string]*mailbox{watch.STARTTLS: {password: "hunter2"}, watch.TLS: {password: "hunter2"}, watch.Plain: {}} {
		b := setup(t)
		_, b.config.tls = newMailbox(t, box, mode == watch.TLS)
		job, result, _ := b.test(b.mail("mail-"+mode, box, mode))
		if result.End != work.Succeeded || len(box.taken) != 1 {
			t.Errorf("%s: %+v, %v", mode, result.Error, box.taken)
			continue
		}
		b.want("attempts", b.attempts(job), "1 delivered 250  false")
		got, err := mail.ReadMessage(strings.NewReader(string(box.taken[0].data)))
		if err != nil {
			t.Fatal(err)
		}
		if box.taken[0].from != "kloigos@example.org" || strings.Join(box.taken[0].to, " ") != "ada@example.org bob@example.org" ||
			got.Header.Get("Subject") != "[Kloigos] Test of the channel mail-"+mode || got.Header.Get("Message-Id") != "<"+job.String()+"@kloigos>" {
			t.Errorf("%s: %s", mode, box.taken[0].data)
		}
	}
}

func TestEmailThatIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct {
		box  *mailbox
		mode string
		want []string
	}{
		"full":    {&mailbox{refuse: &smtp.SMTPError{Code: 452, Message: "full"}}, watch.STARTTLS, []string{"1 failed 452 provider true", "2 failed 452 provider true", "3 failed 452 provider true"}},
		"unknown": {&mailbox{refuse: &smtp.SMTPError{Code: 550, Message: "no such user"}}, watch.STARTTLS, []string{"1 failed 550 user false"}},
	} {
		_, b.config.tls = newMailbox(t, c.box, false)
		job, _, _ := b.test(b.mail(name, c.box, c.mode))
		b.want(name, b.attempts(job), c.want...)
	}
	wrong := &mailbox{password: "hunter2"}
	_, b.config.tls = newMailbox(t, wrong, false)
	ch := b.mail("wrong", wrong, watch.STARTTLS)
	wrong.password = "another"
	job, result, _ := b.test(ch)
	b.want("wrong password", b.attempts(job), "1 failed 535 user false")
	if result.End != work.Failed || strings.Contains(fmt.Sprint(result.Error), "hunter2") {
		t.Errorf("%+v", result.Error)
	}
	_, b.config.tls = newMailbox(t, &mailbox{}, false)
	trusted := &mailbox{}
	newMailbox(t, trusted, false)
	b.config.tls = &tls.Config{RootCAs: x509.NewCertPool()}
	job, _, _ = b.test(b.mail("untrusted", trusted, watch.STARTTLS))
	b.want("untrusted", b.attempts(job), "1 failed 0 user false")
	b.config.Rule = egress.Rule{}
	job, _, _ = b.test(ch)
	b.want("private", b.attempts(job), "1 failed 0 user false")
}

// A text of a user becomes no header.
func TestNoHeaderIsInjected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	box, config := newMailbox(t, &mailbox{}, false)
	b.config.tls = config
	c := b.mail("m", box, watch.Plain)
	got := newSteps(b.config).email(t.Context(), c, watch.Message{ID: uuid.New(), SentAt: time.Now(), Title: "a\r\nBcc: evil@example.org\r\n\r\nbody " + strings.Repeat("ü", 300), Text: "x\r\n.\r\nMAIL FROM:<evil@example.org>"}, "")
	if got.text != "" || len(box.taken) != 1 {
		t.Fatalf("%+v, %v", got, box.taken)
	}
	read, err := mail.ReadMessage(strings.NewReader(string(box.taken[0].data)))
	if err != nil || read.Header.Get("Bcc") != "" || len(box.taken[0].to) != 2 {
		t.Errorf("%v: %s", err, box.taken[0].data)
	}
	if body, _ := io.ReadAll(read.Body); !strings.Contains(string(body), "MAIL FROM:<evil@example.org>") {
		t.Errorf("the text is cut: %q", body)
	}
}

func TestDeliverable(t *testing.T) {
	t.Parallel()
	changed := time.Now()
	c := watch.Channel{UpdatedAt: changed}
	at := func(outcome string, attempt int64, retry bool) watch.Delivery {
		return watch.Delivery{At: changed.Add(time.Second), Outcome: outcome, Attempt: attempt, Retry: retry, Error: "why", Fault: "user"}
	}
	old := at(watch.Failed, 3, false)
	old.At = changed.Add(-time.Second)
	for want, last := range map[string][]watch.Delivery{
		"unknown not_tried":     {},
		"unknown not_tried ":    {old},
		"true delivered":        {at(watch.Delivered, 2, false), at(watch.Failed, 1, true)},
		"progressing retrying":  {at(watch.Failed, 1, true)},
		"false not_delivered":   {at(watch.Failed, 3, true)},
		"false not_delivered  ": {at(watch.Failed, 1, false)},
	} {
		got := deliverable(c, last)
		if string(got.Status)+" "+got.Reason != strings.TrimSpace(want) {
			t.Errorf("%q: %+v", want, got)
		}
	}
}

// The policies find what is there, and old deliveries go.
func TestPolicies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.channel(watch.Draft{Name: "hook", Type: watch.Webhook, URL: newReceiver(t, 200).URL}, "")
	b.test(c)
	for _, p := range Policies(b.config) {
		switch p.Name {
		case "channel":
			ids, err := p.Objects(t.Context(), uuid.Nil, 10)
			if err != nil || len(ids) != 1 || ids[0] != c.ID {
				t.Errorf("%v, %v", ids, err)
			}
			out, err := p.Run(t.Context(), reconcile.Item{ObjectID: c.ID})
			if err != nil || out.Conditions[0].Status != reconcile.True {
				t.Errorf("%+v, %v", out, err)
			}
			if out, err = p.Run(t.Context(), reconcile.Item{ObjectID: uuid.New()}); err != nil || !out.Gone {
				t.Errorf("%+v, %v", out, err)
			}
		case "old_channel_deliveries":
			if out, err := p.Run(t.Context(), reconcile.Item{}); err != nil || out.Changed != 0 {
				t.Errorf("%+v, %v", out, err)
			}
			b.Exec(t, "UPDATE channel_deliveries SET at = now() - INTERVAL '31 days'")
			if out, err := p.Run(t.Context(), reconcile.Item{}); err != nil || out.Changed != 1 {
				t.Errorf("%+v, %v", out, err)
			}
		}
	}
}
