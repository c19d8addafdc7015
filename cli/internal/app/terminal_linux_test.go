package app_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kloigos/backend/apitest"
	"kloigos/cli/internal/app"
)

// terminal is a pseudo-terminal: what a person types goes into keys, what the
// terminal echoes comes out of it.
func terminal(t *testing.T) (keys, stdin *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	if err := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	stdin, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close() })
	return keys, stdin
}

// prompts is the error output, which can be waited on.
type prompts struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *prompts) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *prompts) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (p *prompts) await(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !strings.Contains(p.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: waited for %q in %q", text, p.String())
		}
	}
}

// hidden waits until the terminal shows nothing of what is typed.
func hidden(t *testing.T, stdin *os.File) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		mode, err := unix.IoctlGetTermios(int(stdin.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		if mode.Lflag&unix.ECHO == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("in vain: waited for the echo to be off")
		}
	}
}

func TestPasswordIsNotEchoed(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	keys, stdin := terminal(t)
	home := t.TempDir()
	var out bytes.Buffer
	errs := &prompts{}
	code := make(chan int, 1)
	go func() {
		code <- app.Run(t.Context(), []string{"login", s.URL}, stdin, &out, errs, func(name string) string {
			return map[string]string{"HOME": home}[name]
		})
	}()
	errs.await(t, "Account: ")
	if _, err := keys.WriteString(s.Account + "\n"); err != nil {
		t.Fatal(err)
	}
	errs.await(t, "Password of admin: ")
	hidden(t, stdin)
	if _, err := keys.WriteString(s.Password + "\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-code; got != 0 {
		t.Fatalf("exit code %d: %s", got, errs)
	}
	echo := make([]byte, 4096)
	n, err := keys.Read(echo)
	if err != nil {
		t.Fatal(err)
	}
	if shown := string(echo[:n]); !strings.Contains(shown, s.Account) || strings.Contains(shown, s.Password) || strings.Contains(errs.String()+out.String(), s.Password) {
		t.Errorf("the terminal shows %q", shown)
	}
}

// An interrupt while the password is asked for gives the terminal its echo back.
func TestInterruptGivesTheEchoBack(t *testing.T) {
	t.Parallel()
	_, stdin := terminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errs := &prompts{}
	code := make(chan int, 1)
	home := t.TempDir()
	go func() {
		code <- app.Run(ctx, []string{"login", "http://127.0.0.1:1", "--account", "ada"}, stdin, &bytes.Buffer{}, errs, func(name string) string {
			return map[string]string{"HOME": home}[name]
		})
	}()
	hidden(t, stdin)
	cancel()
	if got := <-code; got != 130 {
		t.Errorf("exit code %d: %s", got, errs)
	}
	mode, err := unix.IoctlGetTermios(int(stdin.Fd()), unix.TCGETS)
	if err != nil || mode.Lflag&unix.ECHO == 0 {
		t.Errorf("no echo: %v", err)
	}
}
