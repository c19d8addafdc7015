package httpapi

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
)

//go:embed docs
var docsFiles embed.FS

// The page loads nothing from elsewhere and can send nothing elsewhere.
// Elements sets styles by itself, hence unsafe-inline there.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; " +
	"font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// serveDocuments serves the OpenAPI document, which needs a token like all of
// the API, and a page that shows it. The page itself is open: it asks for the
// token and keeps it in memory.
func serveDocuments(s *Server) {
	s.app.Get(api.Prefix+"/openapi.json", admission{s}.only(api.Own), func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, "application/json")
		return c.Send(s.openapi)
	})
	s.app.Get(api.Prefix+"/docs", serveDocs("docs/index.html"))
	for _, name := range []string{"elements.js.gz", "elements.css.gz", "page.js", "page.css"} {
		s.app.Get(api.Prefix+"/docs/"+strings.TrimSuffix(name, ".gz"), serveDocs("docs/"+name))
	}
}

func serveDocs(name string) fiber.Handler {
	content, err := fs.ReadFile(docsFiles, name)
	if err != nil {
		panic("httpapi: " + err.Error()) // it is part of the program
	}
	shown := strings.TrimSuffix(name, ".gz")
	// Not mime.TypeByExtension, which goes by files of the machine.
	kind := map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	}[path.Ext(shown)]
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, kind)
		c.Set(fiber.HeaderContentSecurityPolicy, docsPolicy)
		c.Set(fiber.HeaderCacheControl, "no-cache")
		if shown == name {
			return c.Send(content)
		}
		c.Set(fiber.HeaderCacheControl, "public, max-age=86400")
		c.Vary(fiber.HeaderAcceptEncoding)
		if strings.Contains(c.Get(fiber.HeaderAcceptEncoding), "gzip") {
			c.Set(fiber.HeaderContentEncoding, "gzip")
			return c.Send(content)
		}
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return err
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			return err
		}
		return c.Send(plain)
	}
}

// document renders the OpenAPI document.
func document(o *huma.OpenAPI) []byte {
	shareProblems(o)
	b, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		panic("httpapi: render OpenAPI: " + err.Error())
	}
	return append(b, '\n')
}

// shareProblems writes each answer that is a problem once, under its status, and
// refers to it from the routes.
func shareProblems(o *huma.OpenAPI) {
	shared := map[string]*huma.Response{}
	for _, item := range o.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			for status, r := range op.Responses {
				if len(r.Content) != 1 || r.Content["application/problem+json"] == nil || len(r.Headers) > 0 {
					continue
				}
				name := "Problem" + status
				shared[name] = r
				op.Responses[status] = &huma.Response{Ref: "#/components/responses/" + name}
			}
		}
	}
	o.Components.Responses = shared
}
