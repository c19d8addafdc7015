package page

import (
	"bytes"
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/ui"
)

// The address of a page may begin with the workspace that it is about:
// /w/organization/project/workspace/hosts. Handlers and templates know nothing of
// that: it is taken off before a request is routed, and put before the addresses
// of the pages that are sent.
const (
	scopePrefix     = "/w/"
	workspaceCookie = "kloigos-workspace"
	scopesAge       = 5 * time.Second // how long an answer serves the pages of a session
	mostScopes      = 200             // workspaces among which a person chooses
)

var scopePath = regexp.MustCompile(`^/w/([a-z0-9-]{1,63}/[a-z0-9-]{1,63}/[a-z0-9-]{1,63})(/.*)?$`)

type scopeKey struct{}

// Scoped takes the workspace off the path of a request.
func (a *App) Scoped(c *fiber.Ctx) error {
	if !strings.HasPrefix(c.Path(), scopePrefix) {
		return c.Next()
	}
	found := scopePath.FindStringSubmatch(c.Path())
	if found == nil || scopeOf(c) != "" {
		return fiber.ErrNotFound
	}
	c.Locals(scopeKey{}, scope(strings.Clone(found[1])))
	c.Path(cmp.Or(found[2], "/"))
	return c.RestartRouting()
}

// scope is the workspace in an address, organization/project/workspace; "" for none.
type scope string

// scopeOf is the workspace that the address of a request begins with, "" for none.
func scopeOf(c *fiber.Ctx) scope {
	s, _ := c.Locals(scopeKey{}).(scope)
	return s
}

// Speaker is a client of the API for the session of a request and its workspace;
// ok is false without a session.
func (a *App) Speaker(c *fiber.Ctx) (speaker *client.Client, ok bool) {
	token := a.Sessions.Token(c)
	return a.API.WithToken(token).WithForwarded(a.Sessions.ClientAddress(c)).WithWorkspace(scopeOf(c).Workspace()), token != ""
}

// scopes are the workspaces that sessions see.
type scopes struct {
	mu  sync.Mutex
	all map[string]seen
}

type seen struct {
	paths []string
	until time.Time
}

func (s *scopes) get(token string, now time.Time) ([]string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.all[token]
	return found.paths, ok && now.Before(found.until)
}

func (s *scopes) put(token string, paths []string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil || len(s.all) >= mostStandings {
		s.all = map[string]seen{}
	}
	s.all[token] = seen{paths, until}
}

// ForgetScopes has the next page ask which workspaces there are: that was just changed.
func (r *Request) ForgetScopes() {
	s := &r.app.scopes
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = nil
}

// workspaces are the paths of the workspaces that the session sees, the first ones.
// None is told of if they can't be read.
func (r *Request) workspaces() []string {
	token := r.app.Sessions.Token(r.C)
	if found, ok := r.app.scopes.get(token, time.Now()); ok {
		return found
	}
	ctx, cancel := context.WithTimeout(r.Ctx, standingTimeout)
	defer cancel()
	found, err := r.API.ListWorkspaces(ctx, api.WorkspaceFilter{PageQuery: api.PageQuery{Limit: mostScopes}})
	if err != nil {
		return nil
	}
	paths := make([]string, 0, len(found.Items))
	for _, w := range found.Items {
		paths = append(paths, w.Path)
	}
	slices.Sort(paths)
	r.app.scopes.put(token, paths, time.Now().Add(scopesAge))
	return paths
}

// elsewhere is the address of the page with a workspace in it, for who sees several
// and named none: the last one, or the one that the API means. "" for everybody else.
func (r *Request) elsewhere() string {
	if r.C.Method() != fiber.MethodGet || r.scope != "" || r.Live() || r.C.Get("X-Palette") != "" {
		return ""
	}
	all := r.workspaces()
	if len(all) < 2 {
		return ""
	}
	at := r.C.Cookies(workspaceCookie)
	if !slices.Contains(all, at) {
		at = all[0]
		if who, err := r.who(); err == nil {
			at = cmp.Or(who.Workspace, at)
		}
	}
	return scopePrefix + at + string(r.C.Request().URI().RequestURI())
}

// remember has pages without a workspace in their address lead to this one.
func (r *Request) remember() {
	if r.scope == "" || r.C.Cookies(workspaceCookie) == r.Workspace() {
		return
	}
	r.C.Cookie(&fiber.Cookie{
		Name: workspaceCookie, Value: r.Workspace(), Path: "/", Expires: r.app.Now().AddDate(1, 0, 0), Secure: !r.app.Sessions.Insecure, HTTPOnly: true,
		SameSite: fiber.CookieSameSiteLaxMode,
	})
}

// prefix is what stands before the addresses of this page, "" for nothing.
func (s scope) prefix() string {
	if s == "" {
		return ""
	}
	return scopePrefix + string(s)
}

// At is the address of a page in the workspace of the request.
func (s scope) At(path string) string { return scopedAddress(path, s.prefix()) }

// Workspace is the workspace in the address of the page, "" for none.
func (s scope) Workspace() string { return string(s) }

// Renamed leads on in a scope that has another path now; "" if it is gone.
func (r *Request) Renamed(from, to string) {
	r.ForgetScopes()
	rest, inside := strings.CutPrefix(r.Workspace()+"/", from+"/")
	switch {
	case !inside || r.scope == "":
	case to == "":
		r.scope = ""
	default:
		r.scope = scope(strings.TrimSuffix(to+"/"+rest, "/"))
	}
}

// switcher is the choice of a workspace, for who has one.
func (r *Request) switcher(nav string) (s ui.Switcher) {
	all := r.workspaces()
	if len(all) < 2 {
		return s
	}
	s.Current = r.Workspace()
	for _, path := range all {
		s.Workspaces = append(s.Workspaces, ui.Target{Href: scopePrefix + path + nav, Label: path})
	}
	return s
}

// requestURI is the address of a request, with its workspace.
func requestURI(c *fiber.Ctx) string {
	return scopeOf(c).At(string(c.Request().URI().RequestURI()))
}

// ScopeOf puts the workspace of a request before the addresses of parts of pages.
func ScopeOf(c *fiber.Ctx) func(html []byte) []byte {
	prefix := scopeOf(c).prefix() // c is another request's once the stream has begun
	return func(html []byte) []byte { return scoped(html, prefix) }
}

// addressed are the attributes of our pages that hold addresses.
var addressed = []string{"href", "action", "formaction", "hx-get", "hx-post", "data-href", "data-job"}

// scopedAddress puts a workspace before the address of a page of ours.
func scopedAddress(address, prefix string) string {
	if prefix == "" || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") ||
		strings.HasPrefix(address, "/static/") || strings.HasPrefix(address, scopePrefix) {
		return address
	}
	return prefix + address
}

// scoped puts a workspace before all addresses of a page. Quotes in texts and in the
// values of attributes are escaped, so that no text is taken for an attribute.
func scoped(html []byte, prefix string) []byte {
	if prefix == "" {
		return html
	}
	mark := []byte(`="/`)
	out := make([]byte, 0, len(html)+len(html)/16)
	for {
		i := bytes.Index(html, mark)
		if i < 0 {
			return append(out, html...)
		}
		from := bytes.LastIndexAny(html[:i], " \n\t") + 1
		value := html[i+2:]
		end := bytes.IndexByte(value, '"')
		if end < 0 {
			return append(out, html...)
		}
		out = append(out, html[:i+2]...)
		if slices.Contains(addressed, string(html[from:i])) {
			out = append(out, scopedAddress(string(value[:end]), prefix)...)
		} else {
			out = append(out, value[:end]...)
		}
		html = value[end:]
	}
}

// May tells whether the session has a permission in the workspace of the page, or
// somewhere if it is none of a workspace.
func (r *Request) May(permission string) bool {
	who, err := r.who()
	return err == nil && slices.Contains(who.Permissions, permission)
}

// MayAt tells whether the session has a permission at a scope, by its path; "" is the installation.
func (r *Request) MayAt(permission, path string) (bool, error) {
	found, err := r.API.GetAccess(r.Ctx, api.AccessQuery{Permission: permission, Object: path})
	return found.Allowed, Optional(err)
}

// refused are the pages that the session may not open, by their path.
func (a *App) refused(permissions []string) map[string]bool {
	no := map[string]bool{}
	for path, needs := range a.needs {
		if !slices.Contains(permissions, needs) {
			no[path] = true
		}
	}
	return no
}

// reachable are the targets that the session may open.
func reachable(all []ui.Target, refused map[string]bool) []ui.Target {
	return slices.DeleteFunc(slices.Clone(all), func(t ui.Target) bool { return refused[pathOf(t.Href)] })
}

func pathOf(address string) string {
	path, _, _ := strings.Cut(address, "?")
	return path
}

// Targets are the pages that the palette offers to the session.
func (r *Request) Targets() []ui.Target {
	who, err := r.who()
	if err != nil {
		return nil
	}
	return reachable(r.app.targets, r.app.refused(who.Permissions))
}
