// Package static owns the files that browsers load beside the pages: style
// sheet, scripts, icon. All of them are embedded, served under names that hold
// a hash of their content (so that they can be cached for ever) and compressed
// once, at the start. It refuses to serve anything else.
//
// files/htmx.js is htmx 4.0.1 as published (npm htmx.org, Zero-Clause BSD),
// without its source map line. files/editor.js is made out of webapp/editor by
// ./task generate:editor.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
)

//go:embed files
var files embed.FS

// Prefix is where the files are served.
const Prefix = "/static/"

// Assets are the embedded files, ready to be served.
type Assets struct {
	urls   map[string]string // name -> URL
	byPath map[string]asset
}

type asset struct {
	mime        string
	plain, gzip []byte
}

var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// New hashes and compresses the embedded files, once in a process.
func New() (*Assets, error) { return ready() }

var ready = sync.OnceValues(makeReady)

func makeReady() (*Assets, error) {
	a := &Assets{urls: map[string]string{}, byPath: map[string]asset{}}
	entries, err := files.ReadDir("files")
	if err != nil {
		return nil, fmt.Errorf("read the embedded files: %w", err)
	}
	for _, e := range entries {
		content, err := files.ReadFile("files/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the embedded files: %w", err)
		}
		ext := path.Ext(e.Name())
		mime, ok := types[ext]
		if !ok {
			return nil, fmt.Errorf("embedded file %s: its type is not known", e.Name())
		}
		small, err := compress(content)
		if err != nil {
			return nil, fmt.Errorf("compress %s: %w", e.Name(), err)
		}
		sum := sha256.Sum256(content)
		url := Prefix + strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		a.urls[e.Name()] = url
		a.byPath[url] = asset{mime: mime, plain: content, gzip: small}
	}
	return a, nil
}

func compress(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// URL returns where the file with this name is served.
func (a *Assets) URL(name string) string { return a.urls[name] }

// Serve answers with the file at the request's path, or lets the next handler
// answer.
func (a *Assets) Serve(c *fiber.Ctx) error {
	f, ok := a.byPath[c.Path()]
	if !ok {
		return c.Next()
	}
	c.Set(fiber.HeaderContentType, f.mime)
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if strings.Contains(c.Get(fiber.HeaderAcceptEncoding), "gzip") {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		return c.Send(f.gzip)
	}
	return c.Send(f.plain)
}
