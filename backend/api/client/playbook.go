package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"kloigos/backend/api"
)

// ListPlaybooks returns one page of playbooks.
func (c *Client) ListPlaybooks(ctx context.Context, q api.PageQuery) (api.Page[api.Playbook], error) {
	return list[api.Playbook](ctx, c, "/playbooks", q)
}

// AllPlaybooks yields the playbooks of all pages.
func (c *Client) AllPlaybooks(ctx context.Context, q api.PageQuery) iter.Seq2[api.Playbook, error] {
	return all(func(cursor string) (api.Page[api.Playbook], error) {
		q.Cursor, q.Limit = cursor, orMax(q.Limit)
		return c.ListPlaybooks(ctx, q)
	})
}

// GetPlaybook shows a playbook.
func (c *Client) GetPlaybook(ctx context.Context, name string) (api.Playbook, error) {
	return get[api.Playbook](ctx, c, pathOf("playbooks", name), nil)
}

// ListPlaybookVersions returns one page of its versions.
func (c *Client) ListPlaybookVersions(ctx context.Context, name string, q api.PageQuery) (api.Page[api.PlaybookVersion], error) {
	return list[api.PlaybookVersion](ctx, c, pathOf("playbooks", name, "versions"), q)
}

// AllPlaybookVersions yields the versions of all pages.
func (c *Client) AllPlaybookVersions(ctx context.Context, name string, q api.PageQuery) iter.Seq2[api.PlaybookVersion, error] {
	return all(func(cursor string) (api.Page[api.PlaybookVersion], error) {
		q.Cursor, q.Limit = cursor, orMax(q.Limit)
		return c.ListPlaybookVersions(ctx, name, q)
	})
}

// ListPlaybookFiles returns the files of a version, without their content.
func (c *Client) ListPlaybookFiles(ctx context.Context, name string, version int) ([]api.PlaybookFile, error) {
	page, err := list[api.PlaybookFile](ctx, c, pathOf("playbooks", name, "versions", strconv.Itoa(version), "files"), nil)
	return page.Items, err
}

// GetPlaybookFile shows one file of a version.
func (c *Client) GetPlaybookFile(ctx context.Context, name string, version int, path string) (api.PlaybookFile, error) {
	return get[api.PlaybookFile](ctx, c, pathOf("playbooks", name, "versions", strconv.Itoa(version), "file"), url.Values{"path": {path}})
}

// DownloadPlaybook returns a version as tar.zst; the caller closes it.
func (c *Client) DownloadPlaybook(ctx context.Context, name string, version int) (io.ReadCloser, error) {
	resp, err := c.do(ctx, request{
		method: http.MethodGet, path: pathOf("playbooks", name, "versions", strconv.Itoa(version), "download"),
		accept: "application/zstd, application/octet-stream, application/problem+json", stream: true,
	})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// GetPlaybookVersion shows a version with what ansible-lint says of it.
func (c *Client) GetPlaybookVersion(ctx context.Context, name string, version int) (api.PlaybookVersion, error) {
	return get[api.PlaybookVersion](ctx, c, pathOf("playbooks", name, "versions", strconv.Itoa(version)), nil)
}

// UploadPlaybook makes a version of files. Files that are known make no new
// one: the version that has them is returned.
func (c *Client) UploadPlaybook(ctx context.Context, name string, u api.UploadPlaybook, opts ...Option) (api.PlaybookVersion, error) {
	v, _, err := send[api.PlaybookVersion](ctx, c, request{method: http.MethodPost, path: pathOf("playbooks", name, "versions"), body: u}, opts...)
	return v, err
}

// UploadPlaybookArchive makes a version of a tar, compressed with zstd.
func (c *Client) UploadPlaybookArchive(ctx context.Context, name string, archive []byte, note string, opts ...Option) (api.PlaybookVersion, error) {
	q := url.Values{}
	if note != "" {
		q.Set("note", note)
	}
	r := request{method: http.MethodPost, path: pathOf("playbooks", name, "versions"), query: q, raw: archive, rawType: "application/zstd"}
	v, _, err := send[api.PlaybookVersion](ctx, c, r, opts...)
	return v, err
}

// DiffPlaybook tells how a version differs from another.
func (c *Client) DiffPlaybook(ctx context.Context, name string, version, against int) (api.PlaybookDiff, error) {
	return get[api.PlaybookDiff](ctx, c, pathOf("playbooks", name, "versions", strconv.Itoa(version), "diff"), url.Values{"against": {strconv.Itoa(against)}})
}

// SetDefaultPlaybook binds new jobs to a version. Going to an earlier one is a
// roll back.
func (c *Client) SetDefaultPlaybook(ctx context.Context, name string, version int, opts ...Option) (api.Playbook, error) {
	p, _, err := send[api.Playbook](ctx, c, request{method: http.MethodPost, path: pathOf("playbooks", name, "versions", strconv.Itoa(version), "make-default")}, opts...)
	return p, err
}
