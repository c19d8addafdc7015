package page

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
)

// TestAReaderThatStallsIsCut, and one that only pauses is not.
func TestAReaderThatStallsIsCut(t *testing.T) {
	t.Parallel()
	const stall = time.Second
	ended := make(chan struct{})
	app := fiber.New(fiber.Config{DisableStartupMessage: true, WriteTimeout: stall})
	app.Get("/floods", func(c *fiber.Ctx) error {
		stream(c, stall, func(w *bufio.Writer) {
			for {
				_, _ = w.WriteString(strings.Repeat("x", 64<<10))
				if w.Flush() != nil {
					close(ended)
					return
				}
			}
		})
		return nil
	})
	app.Get("/drips", func(c *fiber.Ctx) error {
		stream(c, stall, func(w *bufio.Writer) {
			for range 10 {
				_, _ = w.WriteString("x")
				_ = w.Flush()
				time.Sleep(stall / 4)
			}
		})
		return nil
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = app.Listener(l) }()
	defer func() { _ = app.ShutdownWithTimeout(time.Second) }()
	ask := func(path string) net.Conn {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	stalls := ask("/floods")
	defer stalls.Close()
	drips := ask("/drips") // for longer than it may stall
	defer drips.Close()
	resp, err := http.ReadResponse(bufio.NewReader(drips), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if all, err := io.ReadAll(resp.Body); err != nil || string(all) != "xxxxxxxxxx" {
		t.Errorf("%v: %q", err, all)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("one who takes nothing holds his stream")
	}
}
