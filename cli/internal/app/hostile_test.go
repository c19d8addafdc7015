package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// hostileProxy answers as the API does, but for all text: whoever controls it
// tries to control the terminal.
func hostileProxy(t *testing.T, target string) string {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(resp *http.Response) error {
		if !strings.Contains(resp.Header.Get("Content-Type"), "json") {
			return nil
		}
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		var answer any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&answer); err != nil {
			return err
		}
		if raw, err = json.Marshal(spoil("", answer)); err != nil {
			return err
		}
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		resp.Header.Del("Content-Length")
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// spoil puts an escape sequence and an override of the writing direction into
// each text that is not an id, a time or a code for programs.
func spoil(key string, v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k := range x {
			x[k] = spoil(k, x[k])
		}
	case []any:
		for i := range x {
			x[i] = spoil(key, x[i])
		}
	case string:
		_, notTime := time.Parse(time.RFC3339, x)
		_, notID := uuid.Parse(x)
		if notTime == nil || notID == nil || strings.Contains(key, "cursor") || key == "code" {
			return x
		}
		return "\x1b[31m\u202e" + x
	}
	return v
}
