package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"unicode/utf8"

	"kloigos/backend/internal/intent"

	"github.com/danielgtaylor/huma/v2"

	"kloigos/backend/api"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// playbookHandlers answers the routes about playbooks and their versions.
type playbookHandlers struct{ *Server }

func (s playbookHandlers) register() {
	register(s.Server, "list-playbooks", s.listPlaybooks, sorted(store.PlaybookSorting))
	register(s.Server, "get-playbook", s.getPlaybook)
	register(s.Server, "list-playbook-versions", s.listPlaybookVersions, sorted(store.PlaybookVersionSorting))
	uploadHandlers(s).register()
	register(s.Server, "get-playbook-version", s.getPlaybookVersion)
	register(s.Server, "diff-playbook", s.diffPlaybook)
	register(s.Server, "set-default-playbook", s.setDefaultPlaybook)
	register(s.Server, "list-playbook-files", s.listPlaybookFiles)
	register(s.Server, "get-playbook-file", s.getPlaybookFile)
	register(s.Server, "download-playbook", s.downloadPlaybook, binary)
}

// ByName is the input of an operation on one playbook.
type ByName struct {
	Name string `path:"name" maxLength:"63"`
}

// OneVersion is the input of an operation on one version of a playbook.
type OneVersion struct {
	ByName
	Version int `path:"version" minimum:"1" maximum:"2147483647"`
}

const zstdType = "application/zstd"

func binary(o *huma.Operation) {
	o.Responses = map[string]*huma.Response{"200": {
		Description: "the artifact: a tar, compressed with zstd",
		Content:     map[string]*huma.MediaType{zstdType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}}
}

var playbookName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

func (s playbookHandlers) playbook(ctx context.Context, name string) (store.Playbook, error) {
	if !playbookName.MatchString(name) {
		return store.Playbook{}, domain.ErrNotFound
	}
	return s.db.Playbook(ctx, name)
}

func (s playbookHandlers) listPlaybooks(ctx context.Context, in *struct{ api.PageQuery }) (*object[api.Page[api.Playbook]], error) {
	return pageOf(s.listOf("list-playbooks", in.PageQuery), store.PlaybookSorting,
		func(after *store.Position, limit int) ([]store.Playbook, error) {
			return s.db.Playbooks(ctx, store.PlaybookFilter{Sort: in.Sort, After: after, Limit: limit})
		},
		presentPlaybook)
}

func (s playbookHandlers) getPlaybook(ctx context.Context, in *ByName) (*versioned[api.Playbook], error) {
	p, err := s.playbook(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return &versioned[api.Playbook]{ETag: etag(p.Revision), Body: presentPlaybook(p)}, nil
}

func (s playbookHandlers) listPlaybookVersions(ctx context.Context, in *struct {
	ByName
	api.PageQuery
},
) (*object[api.Page[api.PlaybookVersion]], error) {
	p, err := s.playbook(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return pageOf(s.listOf("list-playbook-versions", in.PageQuery, p.Name), store.PlaybookVersionSorting,
		func(after *store.Position, limit int) ([]store.PlaybookVersion, error) {
			return s.db.PlaybookVersions(ctx, store.PlaybookVersionFilter{Playbook: p.Name, Sort: in.Sort, After: after, Limit: limit})
		},
		presentPlaybookVersion)
}

func (s playbookHandlers) playbookVersion(ctx context.Context, in OneVersion) (store.PlaybookVersion, error) {
	p, err := s.playbook(ctx, in.Name)
	if err != nil {
		return store.PlaybookVersion{}, err
	}
	return s.db.PlaybookVersion(ctx, p.Name, in.Version)
}

func (s playbookHandlers) getPlaybookVersion(ctx context.Context, in *OneVersion) (*object[api.PlaybookVersion], error) {
	v, err := s.playbookVersion(ctx, *in)
	if err != nil {
		return nil, err
	}
	out := presentPlaybookVersion(v)
	l, err := s.db.Lint(ctx, v.ID)
	switch {
	case err == nil:
		out.Lint = presentLint(l)
	case !errors.Is(err, domain.ErrNotFound):
		return nil, err
	}
	return &object[api.PlaybookVersion]{Body: out}, nil
}

func (s playbookHandlers) diffPlaybook(ctx context.Context, in *struct {
	OneVersion
	Against int `query:"against" required:"true" minimum:"1" maximum:"2147483647" doc:"the version that it is compared with"`
},
) (*object[api.PlaybookDiff], error) {
	from, err := s.files(ctx, OneVersion{ByName: in.ByName, Version: in.Against})
	if err != nil {
		return nil, err
	}
	to, err := s.files(ctx, in.OneVersion)
	if err != nil {
		return nil, err
	}
	out := api.PlaybookDiff{Playbook: in.Name, Version: in.Version, Against: in.Against, Files: []api.PlaybookFileDiff{}}
	for _, d := range bundle.Diff(from, to) {
		out.Files = append(out.Files, api.PlaybookFileDiff{Path: d.Path, Change: d.Change, Added: d.Added, Removed: d.Removed, Diff: d.Unified, Cut: d.Cut})
	}
	return &object[api.PlaybookDiff]{Body: out}, nil
}

// files returns all files of a version.
func (s playbookHandlers) files(ctx context.Context, in OneVersion) (map[string][]byte, error) {
	content, err := s.artifact(ctx, in)
	if err != nil {
		return nil, err
	}
	files, err := bundle.All(content, bundle.DefaultLimits)
	if err != nil {
		return nil, fmt.Errorf("read a version: %w", err)
	}
	return files, nil
}

func (s playbookHandlers) setDefaultPlaybook(ctx context.Context, in *struct {
	OneVersion
	IfMatch string `header:"If-Match" maxLength:"32" doc:"ETag of the playbook as it was looked at; 412 if its default is another by now"`
},
) (*versioned[api.Playbook], error) {
	p, err := s.playbook(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	revision, err := Change{IfMatch: in.IfMatch}.version()
	if err != nil {
		return nil, err
	}
	err = s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error {
		return s.intents.SetDefaultPlaybookVersion(ctx, call, p.Name, in.Version, revision)
	})
	if err != nil {
		return nil, err
	}
	return s.getPlaybook(ctx, &in.ByName)
}

func (s playbookHandlers) artifact(ctx context.Context, in OneVersion) ([]byte, error) {
	v, err := s.playbookVersion(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.db.PlaybookContent(ctx, v.ID)
}

func (s playbookHandlers) listPlaybookFiles(ctx context.Context, in *OneVersion) (*object[api.Page[api.PlaybookFile]], error) {
	content, err := s.artifact(ctx, *in)
	if err != nil {
		return nil, err
	}
	files, err := bundle.Files(content, bundle.DefaultLimits)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	return whole(files, func(f bundle.File) api.PlaybookFile { return api.PlaybookFile{Path: f.Path, SizeBytes: f.Size} }), nil
}

func (s playbookHandlers) getPlaybookFile(ctx context.Context, in *struct {
	OneVersion
	Path string `query:"path" required:"true" minLength:"1" maxLength:"1024" doc:"path of the file in the version"`
},
) (*object[api.PlaybookFile], error) {
	content, err := s.artifact(ctx, in.OneVersion)
	if err != nil {
		return nil, err
	}
	file, err := bundle.ReadFile(content, in.Path, bundle.DefaultLimits)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, domain.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	if !utf8.Valid(file) {
		return nil, problem(http.StatusConflict, "not_text", "This file is not text; download the version to see it.")
	}
	return &object[api.PlaybookFile]{Body: api.PlaybookFile{Path: in.Path, SizeBytes: int64(len(file)), Content: string(file)}}, nil
}

type download struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

func (s playbookHandlers) downloadPlaybook(ctx context.Context, in *OneVersion) (*download, error) {
	content, err := s.artifact(ctx, *in)
	if err != nil {
		return nil, err
	}
	return &download{
		ContentType: zstdType, Body: content,
		Disposition: fmt.Sprintf(`attachment; filename="%s-%d.tar.zst"`, in.Name, in.Version), // the name is checked: no quotes
	}, nil
}

func presentPlaybook(p store.Playbook) api.Playbook {
	return api.Playbook{Name: p.Name, Description: p.Description, DefaultVersion: p.DefaultVersion, Versions: p.Versions, Revision: p.Revision, UpdatedAt: p.UpdatedAt}
}

func presentPlaybookVersion(v store.PlaybookVersion) api.PlaybookVersion {
	lint := lintWaiting
	if v.LintState != nil {
		lint = *v.LintState
	}
	return api.PlaybookVersion{
		ID: v.ID.String(), Playbook: v.Playbook, Version: v.Version, SHA256: v.SHA256, SizeBytes: v.SizeBytes, DecodedBytes: v.DecodedBytes,
		Files: v.Files, Seeded: v.Seeded, Default: v.Default, Note: v.Note, CreatedBy: v.CreatedBy, CreatedAt: v.CreatedAt,
		LintState: lint, LintFindings: value(v.LintFindings),
	}
}

// lintWaiting is the state of a lint that no backend has taken up.
const lintWaiting = "waiting"

func presentLint(l store.Lint) *api.Lint {
	out := &api.Lint{State: l.State, Tool: l.Tool, Message: l.Message, StartedAt: l.StartedAt, EndedAt: l.EndedAt, Findings: []api.LintFinding{}}
	for _, f := range l.Findings {
		out.Findings = append(out.Findings, api.LintFinding(f))
	}
	return out
}
