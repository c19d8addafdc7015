package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"runtime"

	"github.com/danielgtaylor/huma/v2"

	"kloigos/backend/api"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// uploadHandlers answers the routes about uploads of versions.
type uploadHandlers struct{ *Server }

// maxGates is how many uploads are looked at at once: each may take some MiB.
const maxGates = 2

// uploadInput is a version as application/zstd or as JSON.
type uploadInput struct {
	ByName
	ContentType string `header:"Content-Type" doc:"application/zstd for a tar compressed with zstd; else application/json"`
	Note        string `query:"note" maxLength:"500" doc:"why the version is made, for application/zstd"`
	RawBody     []byte
}

// uploaded answers 201 for a new version, 200 where one has these files already.
type uploaded struct {
	Status int
	Body   api.PlaybookVersion
}

func (s uploadHandlers) register() {
	register(s.Server, "upload-playbook", s.uploadPlaybook, created, func(o *huma.Operation) {
		version := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.PlaybookVersion](), true, "PlaybookVersion")
		o.Description = "Looks at every file and refuses, place by place, what could act on the control plane or around a host's fence, and what " +
			"does not take the variables of its job. The default stays as it is. Files that are known make no new version."
		o.SkipValidateBody = true // the handler does, since only one of the two is JSON
		o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.UploadPlaybook](), true, "UploadPlaybook")},
			zstdType:           {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		}}
		o.Responses = map[string]*huma.Response{"200": {
			Description: "a version has these files already",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: version}},
		}}
	})
}

func (s uploadHandlers) uploadPlaybook(ctx context.Context, in *uploadInput) (*uploaded, error) {
	p, err := playbookHandlers(s).playbook(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	u, err := s.looked(ctx, p.Name, in)
	if err != nil {
		return nil, err
	}
	out := &uploaded{Status: http.StatusCreated}
	number := 0
	m, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
		version, added, err := s.intents.AddPlaybookVersion(ctx, call, u)
		number = version
		if !added {
			out.Status = http.StatusOK
		}
		return made{}, err
	})
	if err != nil {
		return nil, err
	}
	var v store.PlaybookVersion
	if m.repeated {
		out.Status = http.StatusCreated
		v, err = s.db.PlaybookVersionByID(ctx, m.object)
	} else {
		v, err = s.db.PlaybookVersion(ctx, p.Name, number)
	}
	if err != nil {
		return nil, err
	}
	out.Body = presentPlaybookVersion(v)
	return out, nil
}

// looked opens an upload, looks at all that is in it, and packs it anew.
func (s uploadHandlers) looked(ctx context.Context, name string, in *uploadInput) (intent.PlaybookUpload, error) {
	var none intent.PlaybookUpload
	if s.cfg.Contract == nil || s.cfg.Judge == nil {
		return none, errors.New("no contract is known of any playbook")
	}
	contract, ok := s.cfg.Contract(name)
	if !ok {
		return none, domain.Conflictf("no_job", "no job runs %s, so that nothing is known of what it must take", name)
	}
	select {
	case s.gates <- struct{}{}:
		defer func() {
			if len(in.RawBody) > smallBody {
				runtime.GC() // before the next one is opened
			}
			<-s.gates
		}()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	files, note, err := s.opened(ctx, name, in)
	if err != nil {
		return none, err
	}
	if err := bundle.Gate(ctx, s.cfg.Judge, files, contract); err != nil {
		return none, err
	}
	b, err := bundle.Pack(name, files)
	if err != nil {
		return none, err
	}
	return intent.PlaybookUpload{
		Playbook: name, SHA256: b.SHA256, TreeSHA256: b.TreeSHA256, Content: b.Content, DecodedBytes: b.DecodedBytes, Files: b.Files, Note: note,
	}, nil
}

// opened returns the files of an upload, whichever way they were sent.
func (s uploadHandlers) opened(ctx context.Context, name string, in *uploadInput) (map[string][]byte, string, error) {
	if isArchive(in.ContentType) {
		files, err := bundle.Open(in.RawBody, bundle.UploadLimits)
		return files, in.Note, err
	}
	if in.Note != "" {
		return nil, "", badField("note", "stands in the body, beside the files")
	}
	var body api.UploadPlaybook
	if err := decodeStrict(in.RawBody, &body); err != nil {
		return nil, "", err
	}
	texts := map[string]string{}
	if body.Base > 0 {
		base, err := playbookHandlers(s).files(ctx, OneVersion{ByName: ByName{Name: name}, Version: body.Base})
		if errors.Is(err, domain.ErrNotFound) {
			return nil, "", badField("base", "is no version of this playbook")
		}
		if err != nil {
			return nil, "", err
		}
		for path, content := range base {
			texts[path] = string(content)
		}
	}
	var bad domain.Invalid
	for path, text := range body.Files {
		if text != nil {
			texts[path] = *text
			continue
		}
		if _, ok := texts[path]; !ok {
			bad.Add(path, "is left out, but the base has no such file")
		}
		delete(texts, path)
	}
	if err := bad.OrNil(); err != nil {
		return nil, "", err
	}
	files, err := bundle.FromTexts(texts, bundle.UploadLimits)
	return files, body.Note, err
}

// decodeStrict decodes a body that huma leaves alone, by the same rules as all
// others. That it is JSON is known.
func decodeStrict(raw []byte, into any) error {
	var loose any
	if err := json.Unmarshal(raw, &loose); err != nil {
		return badField("", "the body is not JSON")
	}
	if faults := huma.NewModelValidator().Validate(reflect.TypeOf(into).Elem(), loose); len(faults) > 0 {
		p := invalid()
		for _, f := range faults {
			p.Errors = append(p.Errors, fieldOf(f))
		}
		return p
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return badField("", "the body does not have the shape that is expected")
	}
	return nil
}
