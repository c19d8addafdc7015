package httpapi_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// A request whose end two servers in a row may see at two places is refused, and
// the connection ends with it: what follows is never taken for a request of its
// own.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const start = "POST /api/v1/hosts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	const smuggled = "GET /api/v1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, request := range map[string]string{
		"length and chunks":              start + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"chunks and length":              start + "Transfer-Encoding: chunked\r\nContent-Length: 50\r\n\r\n0\r\n\r\n" + smuggled,
		"two lengths":                    start + "Content-Length: 2\r\nContent-Length: 50\r\n\r\n{}" + smuggled,
		"two lengths in one":             start + "Content-Length: 2, 50\r\n\r\n{}" + smuggled,
		"a length with a sign":           start + "Content-Length: +2\r\n\r\n{}" + smuggled,
		"a negative length":              start + "Content-Length: -2\r\n\r\n{}" + smuggled,
		"a length in hexadecimal":        start + "Content-Length: 0x2\r\n\r\n{}" + smuggled,
		"a length with a blank inside":   start + "Content-Length: 1 2\r\n\r\n{}" + smuggled,
		"a huge length":                  start + "Content-Length: 99999999999999999999\r\n\r\n{}" + smuggled,
		"an encoding nobody knows":       start + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + smuggled,
		"encodings in a row":             start + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"two encodings":                  start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + smuggled,
		"a blank before the colon":       start + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"a name that begins with a tab":  start + "\tTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"a line end of its own kind":     start + "X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"a carriage return in a value":   start + "X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"NUL in a name":                  start + "X\x00: a\r\nContent-Length: 2\r\n\r\n{}" + smuggled,
		"a chunk with a sign":            start + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n0\r\n\r\n" + smuggled,
		"a chunk of a huge size":         start + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n" + smuggled,
		"a chunk longer than it says":    start + "Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n" + smuggled,
		"a chunk that ends with a LF":    start + "Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n" + smuggled,
		"an extension with a line in it": start + "Transfer-Encoding: chunked\r\n\r\n2;a=\n\r\n{}\r\n0\r\n\r\n" + smuggled,
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
		_, _ = io.WriteString(conn, request)
		answer, _ := io.ReadAll(conn)
		_ = conn.Close()
		text := string(answer)
		if n := strings.Count(text, "HTTP/1.1 "); n != 1 || !strings.HasPrefix(text, "HTTP/1.1 4") {
			t.Errorf("%s: %d answers: %.600q", name, n, text)
		}
	}
}
