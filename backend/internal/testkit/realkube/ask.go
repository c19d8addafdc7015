package realkube

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// Do asks the API server as an administrator. in and out may be nil; the type of a patch is that of a merge.
func (c *Cluster) Do(method, path string, in, out any) int {
	c.t.Helper()
	client, err := c.HTTP(c.Admin, c.AdminKey)
	c.must(err)
	defer client.CloseIdleConnections()
	text, err := json.Marshal(in)
	c.must(err)
	request, err := http.NewRequestWithContext(c.t.Context(), method, "https://"+c.Endpoint+path, bytes.NewReader(text))
	c.must(err)
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := client.Do(request)
	c.must(err)
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	c.must(err)
	return answer.StatusCode
}

// Must is Do for what has to succeed.
func (c *Cluster) Must(method, path string, in, out any) {
	c.t.Helper()
	var answer any
	if out == nil {
		out = &answer
	}
	if status := c.Do(method, path, in, out); status < 200 || status > 299 {
		c.t.Fatalf("%s %s: %d %v", method, path, status, out)
	}
}
