package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"kloigos/backend/api"
)

// ListPlaybooks returns one page of playbooks.
func (c *Client) ListPlaybooks(ctx context.Context, q api.PageQuery) (api.Page[api.Playbook], error) {
	return list[api.Playbook](ctx, c, "/playbooks", q)
}

// GetPlaybook shows a playbook.
func (c *Client) GetPlaybook(ctx context.Context, name string) (api.Playbook, error) {
	return get[api.Playbook](ctx, c, in("playbooks", name), nil)
}

// ListPlaybookVersions returns one page of its versions.
func (c *Client) ListPlaybookVersions(ctx context.Context, name string, q api.PageQuery) (api.Page[api.PlaybookVersion], error) {
	return list[api.PlaybookVersion](ctx, c, in("playbooks", name, "versions"), q)
}

// ListPlaybookFiles returns the files of a version, without their content.
func (c *Client) ListPlaybookFiles(ctx context.Context, name string, version int) ([]api.PlaybookFile, error) {
	page, err := list[api.PlaybookFile](ctx, c, in("playbooks", name, "versions", strconv.Itoa(version), "files"), nil)
	return page.Items, err
}

// GetPlaybookFile shows one file of a version.
func (c *Client) GetPlaybookFile(ctx context.Context, name string, version int, path string) (api.PlaybookFile, error) {
	return get[api.PlaybookFile](ctx, c, in("playbooks", name, "versions", strconv.Itoa(version), "file"), url.Values{"path": {path}})
}

// DownloadPlaybook returns a version as tar.zst; the caller closes it.
func (c *Client) DownloadPlaybook(ctx context.Context, name string, version int) (io.ReadCloser, error) {
	resp, err := c.do(ctx, request{
		method: http.MethodGet, path: in("playbooks", name, "versions", strconv.Itoa(version), "download"),
		accept: "application/zstd, application/octet-stream, application/problem+json", stream: true,
	})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
