package noun

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var playbook = shape.Noun[api.Playbook, api.PageQuery]{
	Name: "playbook", Plural: "playbooks", Help: "Ansible playbooks that jobs run, and their versions",
	Columns: []show.Column[api.Playbook]{
		{Header: "NAME", Value: func(p api.Playbook) string { return p.Name }},
		{Header: "DEFAULT", Value: func(p api.Playbook) string { return strconv.Itoa(p.DefaultVersion) }},
		{Header: "VERSIONS", Value: func(p api.Playbook) string { return strconv.Itoa(p.Versions) }},
		{Header: "DESCRIPTION", Value: func(p api.Playbook) string { return p.Description }},
	},
	ID:     func(p api.Playbook) string { return p.Name },
	List:   shape.List("list-playbooks", (*client.Client).AllPlaybooks),
	Get:    shape.Get("get-playbook", (*client.Client).GetPlaybook),
	ByName: true,
	Nested: []shape.Entry{version},
}

// versionFilter is the page of a list of versions, and whose they are.
type versionFilter struct {
	api.PageQuery
	Playbook string `query:"playbook"`
}

type versions = shape.Noun[api.PlaybookVersion, versionFilter]

// version is the noun below playbook. Its id is PLAYBOOK@VERSION.
var version = versions{
	Name: "version", Plural: "versions", Help: "Versions of a playbook, each named PLAYBOOK@VERSION",
	Columns: []show.Column[api.PlaybookVersion]{
		{Header: "VERSION", Value: versionID},
		{Header: "DEFAULT", Value: func(v api.PlaybookVersion) string { return show.YesNo(v.Default) }},
		{Header: "LINT", Value: func(v api.PlaybookVersion) string { return v.LintState }},
		{Header: "BY", Value: func(v api.PlaybookVersion) string { return v.CreatedBy }},
		{Header: "AGE", Value: func(v api.PlaybookVersion) string { return show.Ago(v.CreatedAt) }},
		{Header: "NOTE", Value: func(v api.PlaybookVersion) string { return v.Note }},
	},
	ID:     versionID,
	List:   shape.List("list-playbook-versions", allVersions),
	Parent: "playbook",
	Get:    shape.Get("get-playbook-version", getVersion),
	ByName: true,
	Detail: printLint,
	Actions: []shape.Action{
		shape.Create("upload-playbook", "playbook", uploadVersion).Called("upload"),
		shape.Do("make-default", "set-default-playbook", makeDefault),
		shape.DoWith("diff", "diff-playbook", diffVersions).Full(),
	},
	Extra: []func(*shape.App, versions) *cobra.Command{versionFiles, versionFile, downloadVersion},
}

func versionID(v api.PlaybookVersion) string { return fmt.Sprintf("%s@%d", v.Playbook, v.Version) }

func parseVersion(id string) (name string, n int, err error) {
	name, number, found := strings.Cut(id, "@")
	if n, err = strconv.Atoi(number); !found || name == "" || err != nil || n < 1 {
		return "", 0, shape.Usage("%q is not a version; write PLAYBOOK@VERSION, such as host_probe@1", id)
	}
	return name, n, nil
}

func allVersions(c *client.Client, ctx context.Context, f versionFilter) iter.Seq2[api.PlaybookVersion, error] {
	if f.Playbook != "" {
		return c.AllPlaybookVersions(ctx, f.Playbook, f.PageQuery)
	}
	// For completion: those of all playbooks.
	return func(yield func(api.PlaybookVersion, error) bool) {
		for p, err := range c.AllPlaybooks(ctx, api.PageQuery{}) {
			if err != nil {
				yield(api.PlaybookVersion{}, err)
				return
			}
			for v, err := range c.AllPlaybookVersions(ctx, p.Name, f.PageQuery) {
				if !yield(v, err) || err != nil {
					return
				}
			}
		}
	}
}

func getVersion(c *client.Client, ctx context.Context, id string) (api.PlaybookVersion, error) {
	name, n, err := parseVersion(id)
	if err != nil {
		return api.PlaybookVersion{}, err
	}
	return c.GetPlaybookVersion(ctx, name, n)
}

func makeDefault(c *client.Client, ctx context.Context, id string, o ...client.Option) (api.Playbook, error) {
	name, n, err := parseVersion(id)
	if err != nil {
		return api.Playbook{}, err
	}
	return c.SetDefaultPlaybook(ctx, name, n, o...)
}

// against is the query of a comparison as a body.
type against struct {
	Against int `json:"against" doc:"number of the version that it is compared with"`
}

func diffVersions(c *client.Client, ctx context.Context, id string, b against, _ ...client.Option) (fileDiffs, error) {
	name, n, err := parseVersion(id)
	if err != nil {
		return fileDiffs{}, err
	}
	d, err := c.DiffPlaybook(ctx, name, n, b.Against)
	return fileDiffs{d}, err
}

// fileDiffs prints itself as a unified diff.
type fileDiffs struct{ api.PlaybookDiff }

// PrintText implements shape.Printer.
func (d fileDiffs) PrintText(w io.Writer) error {
	for _, f := range d.Files {
		if _, err := fmt.Fprintf(w, "%s %s\n%s", f.Change, show.Line(f.Path), show.Text(f.Diff)); err != nil {
			return err
		}
	}
	return nil
}

// upload is what a person gives for a version.
type upload struct {
	Playbook string `json:"playbook" doc:"name of the playbook"`
	Dir      string `json:"dir,omitempty" doc:"folder with all files of the version"`
	Archive  string `json:"archive,omitempty" doc:"tar that is compressed with zstd, as download gives it"`
	Base     int    `json:"base,omitempty" doc:"with --dir: number of the version whose other files are kept"`
	Note     string `json:"note,omitempty" doc:"why the version is made"`
}

func uploadVersion(c *client.Client, ctx context.Context, u upload, o ...client.Option) (api.PlaybookVersion, error) {
	switch {
	case (u.Dir == "") == (u.Archive == ""):
		return api.PlaybookVersion{}, shape.Usage("give one of --dir and --archive")
	case u.Archive != "":
		raw, err := os.ReadFile(u.Archive)
		if err != nil {
			return api.PlaybookVersion{}, shape.Usage("read the archive: %w", err)
		}
		return c.UploadPlaybookArchive(ctx, u.Playbook, raw, u.Note, o...)
	}
	files, err := readFolder(u.Dir)
	if err != nil {
		return api.PlaybookVersion{}, err
	}
	return c.UploadPlaybook(ctx, u.Playbook, api.UploadPlaybook{Base: u.Base, Files: files, Note: u.Note}, o...)
}

// maxUpload bounds what is read before the API, which has bounds of its own,
// can refuse it.
const maxUpload = 64 << 20

func readFolder(dir string) (map[string]*string, error) {
	root, err := os.OpenRoot(dir) // a link that leaves the folder is refused
	if err != nil {
		return nil, shape.Usage("read the folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	files, total := map[string]*string{}, int64(0)
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && path != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir // .git
			}
			return err
		}
		raw, err := fs.ReadFile(root.FS(), path)
		if err != nil {
			return err
		}
		if total += int64(len(raw)); total > maxUpload {
			return fmt.Errorf("more than %d MiB of files", maxUpload>>20)
		}
		if !utf8.Valid(raw) {
			return fmt.Errorf("%s is no text", path)
		}
		text := string(raw)
		files[filepath.ToSlash(path)] = &text
		return nil
	})
	if err != nil {
		return nil, shape.Usage("read the folder %s: %w", dir, err)
	}
	return files, nil
}

func printLint(a *shape.App, v api.PlaybookVersion) error {
	if v.Lint == nil || len(v.Lint.Findings) == 0 {
		return nil
	}
	fmt.Fprintln(a.Out)
	return show.Table(a.Out, []show.Column[api.LintFinding]{
		{Header: "RULE", Value: func(f api.LintFinding) string { return f.Rule }},
		{Header: "PLACE", Value: func(f api.LintFinding) string { return fmt.Sprintf("%s:%d", f.Path, f.Line) }},
		{Header: "MESSAGE", Value: func(f api.LintFinding) string { return f.Message }},
	}, v.Lint.Findings, true)
}

// ofVersion is a command about a version.
func ofVersion(a *shape.App, v versions, use, help string, more []string, run func(ctx context.Context, c *client.Client, name string, n int, args []string) error, routes ...string) *cobra.Command {
	return shape.Calls(&cobra.Command{
		Use: use + " VERSION", Short: help, Args: shape.Exactly(append([]string{"VERSION"}, more...)...), ValidArgsFunction: v.Complete(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, n, err := parseVersion(args[0])
			if err != nil {
				return err
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			return run(cmd.Context(), c, name, n, args[1:])
		},
	}, routes...)
}

func versionFiles(a *shape.App, v versions) *cobra.Command {
	return ofVersion(a, v, "files", "List the files of a version", nil, func(ctx context.Context, c *client.Client, name string, n int, _ []string) error {
		files, err := c.ListPlaybookFiles(ctx, name, n)
		if err != nil {
			return err
		}
		return shape.PrintList(a, "files", []show.Column[api.PlaybookFile]{
			{Header: "PATH", Value: func(f api.PlaybookFile) string { return f.Path }},
			{Header: "SIZE", Value: func(f api.PlaybookFile) string { return show.Bytes(f.SizeBytes) }},
		}, files, true)
	}, "list-playbook-files")
}

func versionFile(a *shape.App, v versions) *cobra.Command {
	cmd := ofVersion(a, v, "file", "Print one file of a version", []string{"PATH"}, func(ctx context.Context, c *client.Client, name string, n int, args []string) error {
		f, err := c.GetPlaybookFile(ctx, name, n, args[0])
		if err != nil {
			return err
		}
		if a.Output != "table" {
			return a.Print(f)
		}
		text := f.Content
		if shape.Terminal(a.Out) {
			text = show.Text(text)
		}
		_, err = io.WriteString(a.Out, text)
		return err
	}, "get-playbook-file")
	cmd.Use += " PATH"
	return cmd
}

func downloadVersion(a *shape.App, v versions) *cobra.Command {
	var to string
	cmd := ofVersion(a, v, "download", "Download a version as tar.zst", nil, func(ctx context.Context, c *client.Client, name string, n int, _ []string) error {
		if to == "" {
			to = fmt.Sprintf("%s-%d.tar.zst", filepath.Base(name), n)
		}
		body, err := c.DownloadPlaybook(ctx, name, n)
		if err != nil {
			return err
		}
		defer func() { _ = body.Close() }()
		if to == "-" {
			_, err = io.Copy(a.Out, body)
			return err
		}
		f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return shape.Usage("write the archive: %w", err)
		}
		if _, err = io.Copy(f, body); err == nil {
			err = f.Close()
		} else {
			_ = f.Close()
		}
		if err != nil {
			_ = os.Remove(to) // no half archive
			return fmt.Errorf("write the archive: %w", err)
		}
		a.Say("Wrote %s", to)
		return nil
	}, "download-playbook")
	cmd.Flags().StringVar(&to, "to", "", "file to write, - for the output (default: NAME-VERSION.tar.zst)")
	return cmd
}
