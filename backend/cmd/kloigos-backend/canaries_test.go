package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
)

// canaries are secrets by name, and where they are looked for.
type canaries struct {
	t     *testing.T
	mu    sync.Mutex
	forms map[string][]string // name -> ways in which it can be written
	found map[string]bool
}

func (c *canaries) add(name, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(value) < 8 {
		c.t.Fatalf("the canary %s is too short to be found for sure", name)
	}
	coded := func(prefix string) string {
		whole := base64.StdEncoding.EncodeToString([]byte(prefix + value))
		return whole[4 : len(whole)-4]
	}
	c.forms[name] = []string{value, coded(""), coded("x"), coded("xx"), hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))), url.QueryEscape(value), url.PathEscape(value)}
}

// look tells once where a canary is, but for those that may be there.
func (c *canaries) look(where, text string, but ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
names:
	for name, forms := range c.forms {
		for _, b := range but {
			if name == b {
				continue names
			}
		}
		for _, form := range forms {
			if at := strings.Index(text, form); at >= 0 && !c.found[where+name] {
				c.found[where+name] = true
				c.t.Errorf("%s is in %s: %.200q", name, where, text[max(0, at-80):min(len(text), at+80)])
			}
		}
	}
}

// watch polls what others can see of all processes, and of the files of runs,
// until stop.
func (p *process) watch(c *canaries, root string) (stop func()) {
	quit, done, seen := make(chan struct{}), make(chan struct{}), 0
	go func() {
		defer close(done)
		for {
			names, _ := filepath.Glob("/proc/[0-9]*")
			for _, proc := range names {
				cmdline, _ := os.ReadFile(proc + "/cmdline")
				c.look("the arguments of a process", string(cmdline))
				environ, _ := os.ReadFile(proc + "/environ")
				if strings.Contains(string(environ), "KLOIGOS_RUN="+root) {
					seen++
					c.look("the environment of a process of a run", string(environ))
				}
			}
			_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return nil //nolint:nilerr // it was there a moment ago
				}
				if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeSymlink == 0 && !strings.Contains(path, "/bundle/") {
					c.t.Errorf("%s has mode %s", path, info.Mode())
				}
				return nil
			})
			select {
			case <-quit:
				return
			case <-time.After(30 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(quit)
		<-done
		if seen == 0 {
			c.t.Error("no process of a run was seen: this test would show nothing")
		}
	}
}

// readEverything asks for all that the API tells.
func (p *process) readEverything(c *canaries) {
	p.t.Helper()
	ids := map[string]bool{}
	id := regexp.MustCompile(`"id":"([0-9a-f-]{36})"`)
	read := func(path string) {
		_, body := p.do(http.MethodGet, path, nil)
		c.look("the answer of "+path, string(body))
		for _, m := range id.FindAllStringSubmatch(string(body), -1) {
			ids[m[1]] = true
		}
	}
	for _, r := range api.Routes {
		if r.Method == http.MethodGet && !strings.Contains(r.Path, "{") {
			read(r.Path)
		}
	}
	for one := range ids {
		for _, path := range []string{"/hosts/", "/jobs/", "/jobs/" + one + "/log?x=", "/tokens/"} {
			if strings.Contains(path, "?x=") {
				read("/jobs/" + one + "/log")
				continue
			}
			read(path + one)
		}
	}
	if len(ids) < 8 {
		p.t.Errorf("only %d objects: this test would show little", len(ids))
	}
	for _, path := range []string{"/metrics", "/openapi.json", "/inventory"} {
		read(path)
	}
}

// dumpDatabase looks at every column of every row of every table, as text and
// as bytes, in a way that PostgreSQL and CockroachDB share.
func (p *process) dumpDatabase(c *canaries) {
	p.t.Helper()
	ctx := p.t.Context()
	conn, err := pgx.Connect(ctx, p.database)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
	if err != nil {
		p.t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 10 {
		p.t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, table := range tables {
		rows, err := conn.Query(ctx, "SELECT * FROM "+pgx.Identifier{table}.Sanitize(), pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			p.t.Fatal(err)
		}
		for rows.Next() {
			for i, raw := range rows.RawValues() {
				where := "the database, " + table + "." + rows.FieldDescriptions()[i].Name
				c.look(where, string(raw))
				if text, isHex := strings.CutPrefix(string(raw), `\x`); isHex {
					if plain, err := hex.DecodeString(text); err == nil {
						c.look(where, string(plain))
					}
				}
			}
		}
		if rows.Err() != nil {
			p.t.Fatal(rows.Err())
		}
	}
}

// lookAtFiles reads what was written since on the file systems for temporary
// files, but where the test itself keeps the keyset.
func lookAtFiles(c *canaries, since time.Time, keyset string) {
	for _, top := range []string{"/dev/shm", os.TempDir()} {
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // others' files come and go
			case d.IsDir() && (path == keyset || strings.Contains(path, "/go-build") || strings.Count(path, "/") > 6 || strings.HasPrefix(path, "/tmp/wt")):
				return fs.SkipDir
			case !d.Type().IsRegular():
				return nil
			}
			if info, err := d.Info(); err == nil && info.ModTime().After(since) && info.Size() < 4<<20 {
				content, _ := os.ReadFile(path)
				c.look("the file "+path, string(content))
			}
			return nil
		})
	}
}
