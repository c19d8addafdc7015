package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/testkit/areatest"
)

const testSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func fieldsOf(err error) string {
	var bad *fault.Invalid
	if !errors.As(err, &bad) {
		return fmt.Sprint(err)
	}
	var all []string
	for _, f := range bad.Fields {
		all = append(all, f.Field)
	}
	return strings.Join(all, " ")
}

func hook(url string) Draft { return Draft{Name: "c", Type: Webhook, URL: url} }

func mailTo(server, sender string, recipients ...string) Draft {
	return Draft{Name: "c", Type: Email, Server: server, Sender: sender, Recipients: recipients}
}

// A user names the target, so an address inside of a network is refused when it is written, and so is what would put a
// header or a shown secret somewhere.
func TestDraftsThatAreRefused(t *testing.T) {
	t.Parallel()
	rule := egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16")}, Denied: []netip.Prefix{netip.MustParsePrefix("10.9.9.0/24"), netip.MustParsePrefix("1.2.3.0/24")}}
	good := mailTo("mail.example.org", "kloigos@example.org", "ops@example.org")
	for want, drafts := range map[string][]Draft{
		"<nil>": {
			hook("https://hooks.example.org/x?y=1"), hook("http://9.9.9.9:8080/"), hook("https://10.9.1.1/"), good, mailTo("[2620:fe::fe]:25", "a@b.example", "c@d.example"),
			{Name: "c", Type: Webhook, URL: "https://a.example/", Subscribes: []string{"*", "dns_zone", "dns_zone/synced"}},
		},
		"url": {
			hook(""), hook("ftp://a.example/"), hook("https://user:pw@a.example/"), hook("https://a.example/#f"), hook("https:///x"), hook("https://127.0.0.1/"),
			hook("https://[::1]/"), hook("https://[::ffff:127.0.0.1]/"), hook("https://169.254.169.254/latest"), hook("https://10.1.1.1/"), hook("https://10.9.9.1/"),
			hook("https://1.2.3.4/"), hook("https://2130706433/"), hook("https://0x7f.1/"), hook("https://127.1/"), hook("https://[fe80::1%25eth0]/"), hook("https://a.example:0/"),
			hook("https://[64:ff9b::7f00:1]/"), hook("https://168.63.129.16/"), hook("https:a.example"), hook("https://a.example/" + strings.Repeat("x", 2050)),
		},
		"sender":        {mailTo("m.example", "", "a@b.example"), mailTo("m.example", "Kloigos <a@b.example>", "a@b.example"), mailTo("m.example", "a@b.example\r\nBcc: x@y.example", "a@b.example")},
		"recipients[0]": {mailTo("m.example", "a@b.example", "a@b.example\nSubject: x"), mailTo("m.example", "a@b.example", "a@b.example, c@d.example")},
		"recipients":    {mailTo("m.example", "a@b.example"), mailTo("m.example", "a@b.example", make20()...)},
		"server":        {mailTo("127.0.0.1:25", "a@b.example", "a@b.example"), mailTo("m.example:x", "a@b.example", "a@b.example"), mailTo("", "a@b.example", "a@b.example")},
		"name":          {{Name: "A", Type: Webhook, URL: "https://a.example/"}, {Name: "a\n", Type: Webhook, URL: "https://a.example/"}},
		"type":          {{Name: "c", Type: "pigeon"}},
		"subscribes[1]": {{Name: "c", Type: Webhook, URL: "https://a.example/", Subscribes: []string{"*", "a/b/c"}}},
		"server url":    {{Name: "c", Type: Webhook, URL: "x", Server: "m.example"}},
		"username":      {{Name: "c", Type: Email, Server: "m.example:25", TLS: Plain, Username: "u", Sender: "a@b.example", Recipients: []string{"a@b.example"}}},
		"password":      {{Name: "c", Type: Email, Server: "m.example", Password: "a\r\nb", Sender: "a@b.example", Recipients: []string{"a@b.example"}}},
	} {
		for _, d := range drafts {
			if _, err := d.check(rule); fieldsOf(err) != want {
				t.Errorf("%+v: %s, want %s (%v)", d, fieldsOf(err), want, err)
			}
		}
	}
	if d, err := good.check(rule); err != nil || d.Server != "mail.example.org:587" || d.TLS != STARTTLS {
		t.Errorf("%+v, %v", d, err)
	}
}

func make20() []string {
	all := make([]string, MaxRecipients+1)
	for i := range all {
		all[i] = fmt.Sprintf("a%d@b.example", i)
	}
	return all
}

func (c Channel) ref() scope.Ref[Channel] { return scope.Found[Channel](c.ID, c.WorkspaceID) }

func create(t *testing.T, p *areatest.Place, d Draft, secret string) (Channel, error) {
	t.Helper()
	return areatest.Do(t, p, func(ctx context.Context, tx *intent.Tx) (Channel, error) {
		return CreateChannel(ctx, tx, p.Keys, egress.Rule{}, d, secret)
	})
}

func change(t *testing.T, p *areatest.Place, c Channel, version int64, f func(*Draft)) (Channel, error) {
	t.Helper()
	return areatest.Do(t, p, func(ctx context.Context, tx *intent.Tx) (Channel, error) {
		return ChangeChannel(ctx, tx, p.Keys, egress.Rule{}, c.ref(), version, f)
	})
}

func wantConflict(t *testing.T, err error, code string) {
	t.Helper()
	var conflict *fault.Conflict
	if !errors.As(err, &conflict) || conflict.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// Secrets are sealed, rotate one by one, and stand in no event; a name is one of its workspace.
func TestChannelsKeepTheirSecrets(t *testing.T) {
	t.Parallel()
	p := areatest.New(t)
	c, err := create(t, p, Draft{Name: "hook", Type: Webhook, Enabled: true, URL: "https://a.example/path-that-is-secret"}, testSecret)
	if err != nil || len(c.Secrets) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	add := func(text string) error {
		_, err := areatest.Do(t, p, func(ctx context.Context, tx *intent.Tx) (Channel, error) {
			return AddSecret(ctx, tx, p.Keys, c.ref(), text)
		})
		return err
	}
	if err := add("c2hvcnQ="); fieldsOf(err) != "secret" {
		t.Error(err)
	}
	for range MaxSecrets - 1 {
		if err := add(strings.TrimPrefix(testSecret, "whsec_")); err != nil {
			t.Fatal(err)
		}
	}
	wantConflict(t, add(testSecret), "channel_secrets")
	c, err = ChannelByID(t.Context(), p.Reader, c.ID)
	if err != nil || len(c.Secrets) != MaxSecrets {
		t.Fatalf("%+v, %v", c, err)
	}
	remove := func() error {
		_, err := areatest.Do(t, p, func(ctx context.Context, tx *intent.Tx) (Channel, error) {
			return RemoveSecret(ctx, tx, c.ref(), c.Secrets[0].ID)
		})
		return err
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	wantConflict(t, remove(), "channel_no_secret")
	opened, err := OpenSecrets(t.Context(), p.Reader, p.Keys, c.ID)
	if err != nil || len(opened) != MaxSecrets-1 || string(opened[0]) != "0123456789abcdef0123456789abcdef" {
		t.Errorf("%q, %v", opened, err)
	}
	_, err = create(t, p, hook("https://b.example/"), "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = create(t, p, hook("https://b.example/"), "")
	wantConflict(t, err, "channel_exists")
	_, err = change(t, p, c, 0, func(d *Draft) { d.Name = "c" })
	wantConflict(t, err, "channel_exists")
	_, err = change(t, p, c, c.Version, func(d *Draft) { d.Enabled = false })
	wantConflict(t, err, "version_mismatch")

	m := mailTo("mail.example.org", "k@b.example", "o@b.example")
	m.Name, m.Username, m.Password = "mail", "kloigos", "hunter2-hunter2"
	mailed, err := create(t, p, m, "")
	if err != nil {
		t.Fatal(err)
	}
	if password, err := mailed.OpenPassword(p.Keys); err != nil || password != "hunter2-hunter2" {
		t.Errorf("%q, %v", password, err)
	}
	if _, err := change(t, p, mailed, mailed.Version, func(d *Draft) { d.Server = "evil.example" }); fieldsOf(err) != "password" {
		t.Errorf("the password would go to another server: %v", err)
	}
	kept, err := change(t, p, mailed, mailed.Version, func(d *Draft) { d.Sender = "x@b.example" })
	if password, _ := kept.OpenPassword(p.Keys); err != nil || password != "hunter2-hunter2" {
		t.Errorf("%q, %v", password, err)
	}
	_, err = areatest.Do(t, p, func(ctx context.Context, tx *intent.Tx) (Channel, error) {
		return AddSecret(ctx, tx, p.Keys, mailed.ref(), testSecret)
	})
	if fieldsOf(err) != "secret" {
		t.Error(err)
	}
	areatest.Must(t, p, func(ctx context.Context, tx *intent.Tx) (struct{}, error) {
		return struct{}{}, DeleteChannel(ctx, tx, c.ref(), 0)
	})
	if _, _, err := FindChannel(t.Context(), p.Reader, p.Workspace, "hook"); !errors.Is(err, fault.ErrNotFound) {
		t.Error(err)
	}
	if _, _, err := FindChannel(t.Context(), p.Reader, p.NewWorkspace(t), "mail"); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("another workspace sees it: %v", err)
	}
	var events json.RawMessage
	if err := p.Pool.QueryRow(t.Context(), "SELECT jsonb_agg(jsonb_build_array(action, state_before, state_after)) FROM events").Scan(&events); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"hunter2", "MDEy", "path-that-is-secret", "0123456789abcdef"} {
		if strings.Contains(string(events), part) {
			t.Errorf("an event holds %s", part)
		}
	}
	for _, action := range []string{"channel.create", "channel.change", "channel.add_secret", "channel.remove_secret", "channel.delete"} {
		if !strings.Contains(string(events), action) {
			t.Errorf("no event %s", action)
		}
	}
}
