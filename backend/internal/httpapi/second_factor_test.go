package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"kloigos/backend/api"
	"kloigos/backend/internal/store"
)

// step is how long a code is shown.
const step = 30 * time.Second

// codeAt is the code of a secret at a time.
func codeAt(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// enrolled gives the account root a second factor, and returns its secret and recovery codes, and when the code was
// shown that is used up: the one of the step after it is good for at least half a minute from then on.
func enrolled(t *testing.T, b *backend, password string) (secret string, recovery []string, at time.Time) {
	t.Helper()
	b.token = decode[api.Session](t, b.mustDo(http.MethodPost, "/sessions", api.Login{Account: "root", Password: password}, 201, "Authorization", "")).Token
	b.mustDo(http.MethodPost, "/second-factor", api.ProvePassword{Password: "wrong"}, 422)
	made := decode[api.SecondFactorSecret](t, b.mustDo(http.MethodPost, "/second-factor", api.ProvePassword{Password: password}, 201))
	if again := decode[api.Session](t, b.mustDo(http.MethodPost, "/sessions", api.Login{Account: "root", Password: password}, 201, "Authorization", "")); again.Token == "" {
		t.Fatal("an unconfirmed second factor keeps its owner out")
	}
	b.mustDo(http.MethodPost, "/second-factor/confirm", api.ConfirmSecondFactor{Code: "000000"}, 422)
	at = time.Now()
	codes := decode[api.RecoveryCodes](t, b.mustDo(http.MethodPost, "/second-factor/confirm", api.ConfirmSecondFactor{Code: codeAt(t, made.Secret, at)}, 200))
	b.mustDo(http.MethodPost, "/second-factor/confirm", api.ConfirmSecondFactor{Code: codeAt(t, made.Secret, at.Add(step))}, 409)
	b.mustDo(http.MethodPost, "/second-factor", api.ProvePassword{Password: password}, 409)
	return made.Secret, codes.Codes, at
}

// pending begins a login, and returns the secret with which it is ended.
func pending(t *testing.T, b *backend, password string) string {
	t.Helper()
	s := decode[api.Session](t, b.mustDo(http.MethodPost, "/sessions", api.Login{Account: "root", Password: password}, 201, "Authorization", ""))
	if s.Token != "" || !strings.HasPrefix(s.Pending, "klp_") {
		t.Fatalf("a password alone opens %+v", s)
	}
	return s.Pending
}

// A login with a second factor takes password and code, each code once, on two backends at once too. No secret stands in a table.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	b, password := login(t)
	_, second := b.serve(b.cfg2())
	secret, recovery, at := enrolled(t, b, password)
	other := *b
	other.url = second
	on := []*backend{b, &other}
	confirm := func(pending, code string) answer {
		return b.do(http.MethodPost, "/sessions/confirm", api.ConfirmSession{Pending: pending, Code: code}, "Authorization", "")
	}
	waits := pending(t, b, password)
	if p := confirm(waits, codeAt(t, secret, at)).problem(t); p.Status != 401 || p.Code != "bad_code" {
		t.Errorf("the code that confirmed opens a session: %+v", p)
	}
	b.mustDo(http.MethodGet, "/whoami", nil, 401, "Authorization", "Bearer "+waits)

	// The same code with two logins, on two backends.
	code, logins := codeAt(t, secret, at.Add(step)), []string{waits, pending(t, b, password)}
	status := make([]int, 2)
	var both sync.WaitGroup
	for i, backend := range on {
		both.Go(func() {
			status[i] = backend.do(http.MethodPost, "/sessions/confirm", api.ConfirmSession{Pending: logins[i], Code: code}, "Authorization", "").status
		})
	}
	both.Wait()
	slices.Sort(status)
	if !slices.Equal(status, []int{201, 401}) {
		t.Errorf("a code used twice at once: %v", status)
	}

	// The same recovery code with one login, on two backends.
	waits = pending(t, b, password)
	for i, backend := range on {
		both.Go(func() {
			status[i] = backend.do(http.MethodPost, "/sessions/confirm", api.ConfirmSession{Pending: waits, Code: strings.ToUpper(recovery[0])}, "Authorization", "").status
		})
	}
	both.Wait()
	slices.Sort(status)
	if !slices.Equal(status, []int{201, 401}) {
		t.Errorf("a recovery code used twice at once: %v", status)
	}
	if f := decode[api.SecondFactor](t, b.mustDo(http.MethodGet, "/second-factor", nil, 200)); f.State != "confirmed" || f.RecoveryCodes != len(recovery)-1 {
		t.Errorf("%+v", f)
	}
	for _, bad := range []string{"", "klp_x", waits, b.token} {
		if a := confirm(bad, recovery[1]); a.status != 401 && a.status != 422 {
			t.Errorf("%q ends a login: %d", bad, a.status)
		}
	}
	for _, table := range []string{"tokens", "events", "second_factors", "recovery_codes", "pending_logins"} {
		for _, text := range []string{secret, recovery[1], waits} {
			var n int
			if b.row(&n, "SELECT count(*) FROM "+table+" x WHERE x::TEXT LIKE '%'||$1||'%'", text); n != 0 {
				t.Errorf("%s holds a secret", table)
			}
			if strings.Contains(b.log.String(), text) {
				t.Error("the log holds a secret")
			}
		}
	}

	// A new password ends logins that wait; the second factor stays until it is removed with the password.
	waits = pending(t, b, password)
	b.mustDo(http.MethodPost, "/password", api.ChangePassword{OldPassword: password, Password: "a long new sentence"}, 204)
	if p := confirm(waits, recovery[1]).problem(t); p.Code != "login_expired" {
		t.Errorf("a login with the old password: %+v", p)
	}
	b.mustDo(http.MethodPost, "/second-factor/remove", api.ProvePassword{Password: password}, 422)
	waits = pending(t, b, "a long new sentence")
	b.mustDo(http.MethodPost, "/second-factor/remove", api.ProvePassword{Password: "a long new sentence"}, 204)
	if p := confirm(waits, recovery[1]).problem(t); p.Code != "login_expired" {
		t.Errorf("a login that waits for a code of a removed second factor: %+v", p)
	}
	var actions []string
	for _, e := range decode[api.Page[api.Event]](t, b.mustDo(http.MethodGet, "/account-events", nil, 200)).Items {
		actions = append(actions, strings.TrimPrefix(e.Action, "account."))
	}
	for _, want := range []string{"enrol_second_factor", "confirm_second_factor", "refuse_code", "use_recovery_code", "set_password", "remove_second_factor"} {
		if !slices.Contains(actions, want) {
			t.Errorf("the account sees %v, without %s", actions, want)
		}
	}
}

// Wrong codes end the pending login after five, and are counted with wrong passwords.
func TestWrongCodesAreSlowedDown(t *testing.T) {
	t.Parallel()
	b, password := login(t)
	secret, _, at := enrolled(t, b, password)
	for try, waits := 0, ""; ; try++ {
		if try > 2*store.FreeLogins {
			t.Fatal("codes are not slowed down")
		}
		if waits == "" {
			a := b.do(http.MethodPost, "/sessions", api.Login{Account: "root", Password: password}, "Authorization", "")
			if a.status == http.StatusTooManyRequests {
				break
			}
			waits = decode[api.Session](t, a).Pending
		}
		a := b.do(http.MethodPost, "/sessions/confirm", api.ConfirmSession{Pending: waits, Code: "000000"}, "Authorization", "")
		if a.status == http.StatusTooManyRequests {
			break
		}
		if a.problem(t).Code == "login_expired" {
			waits = ""
		}
	}
	b.sql("DELETE FROM login_failures")
	_, b.url = b.serve(b.cfg2()) // the first backend remembers for a second that the name is blocked
	// A sixth try is none, even with the right code.
	waits := pending(t, b, password)
	b.sql("UPDATE pending_logins SET tries = 5")
	if p := b.do(http.MethodPost, "/sessions/confirm", api.ConfirmSession{Pending: waits, Code: codeAt(t, secret, at.Add(step))}, "Authorization", "").problem(t); p.Code != "login_expired" {
		t.Errorf("%+v", p)
	}
	waits = pending(t, b, password)
	b.sql("UPDATE pending_logins SET expires_at = now() - INTERVAL '1 second'")
	if p := b.do(http.MethodPost, "/sessions/confirm", api.ConfirmSession{Pending: waits, Code: codeAt(t, secret, at.Add(step))}, "Authorization", "").problem(t); p.Code != "login_expired" {
		t.Errorf("%+v", p)
	}
}

// An operator ends the second factor of another account, which sees by whom.
func TestResetSecondFactor(t *testing.T) {
	t.Parallel()
	b, password := login(t)
	enrolled(t, b, password)
	mine := b.token
	_, b.token = b.newAccount("boss", "administrator")
	b.mustDo(http.MethodPost, "/accounts/root/reset-second-factor", nil, 200)
	b.mustDo(http.MethodPost, "/accounts/root/reset-second-factor", nil, 409)
	b.token = mine
	found := decode[api.Page[api.Event]](t, b.mustDo(http.MethodGet, "/account-events", nil, 200)).Items[0]
	if found.Action != "account.reset_second_factor" || found.Actor != "boss" {
		t.Errorf("%+v", found)
	}
	if s := decode[api.Session](t, b.mustDo(http.MethodPost, "/sessions", api.Login{Account: "root", Password: password}, 201, "Authorization", "")); s.Token == "" {
		t.Error("a code is needed still")
	}
}
