package page

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
)

// TestAReaderThatStallsIsCut, and one that only pauses is not.
func TestAReaderThatStallsIsCut(t *testing.T) {
	t.Parallel()
	const stall = 300 * time.Millisecond
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
				time.Sleep(stall / 3)
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
	if all, err := io.ReadAll(drips); err != nil || strings.Count(string(all), "1\r\nx\r\n") != 10 || !strings.HasSuffix(string(all), "0\r\n\r\n") {
		t.Errorf("%v: %q", err, all)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("one who takes nothing holds his stream")
	}
}
