package kubeapi

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxListed bounds what is looked at of pods and of ReplicaSets: enough to see a fault that many have.
const maxListed = "500"

// text asks for an answer that is no JSON; limit bounds what is read of it.
func (c *Client) text(ctx context.Context, path string, query url.Values, limit int64) (status int, body string, err error) {
	target := url.URL{Scheme: "https", Host: c.endpoint, Path: path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return 0, "", fmt.Errorf("ask the API server: %w", err)
	}
	request.Header.Set("User-Agent", "kloigos")
	answer, err := c.http.Do(request)
	if err != nil {
		return 0, "", fmt.Errorf("ask the API server: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, limit))
	if err != nil {
		return 0, "", fmt.Errorf("read the answer of the API server: %w", err)
	}
	return answer.StatusCode, string(text), nil
}

// Health asks a cluster how it is. It changes nothing there.
type Health struct{ client *Client }

// Health asks how the cluster is.
func (c *Client) Health() Health { return Health{c} }

// FailedChecks are the checks of an API server's own readiness that fail, such as etcd: it reads from a quorum for that.
func (h Health) FailedChecks(ctx context.Context) ([]string, error) {
	_, body, err := h.client.text(ctx, "/readyz", url.Values{"verbose": {"true"}}, 64<<10)
	if err != nil {
		return nil, err
	}
	var failed []string
	for line := range strings.Lines(body) {
		if name, is := strings.CutPrefix(line, "[-]"); is {
			name, _, _ = strings.Cut(name, " ")
			failed = append(failed, clean(strings.TrimSpace(name)))
		}
	}
	return failed, nil
}

// maxMetrics bounds what is read of the metrics of an API server.
const maxMetrics = 32 << 20

// StorageBytes is the size of the largest database of etcd, as the API server knows it; known is false if it says nothing of it.
func (h Health) StorageBytes(ctx context.Context) (size int64, known bool, err error) {
	status, body, err := h.client.text(ctx, "/metrics", nil, maxMetrics)
	if err != nil {
		return 0, false, err
	}
	if status != http.StatusOK {
		return 0, false, &Error{Status: status, Reason: "Metrics", Message: http.StatusText(status)}
	}
	lines := bufio.NewScanner(strings.NewReader(body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, is := strings.Cut(lines.Text(), "} ")
		if !is || !strings.HasPrefix(name, "apiserver_storage_size_bytes{") {
			continue
		}
		if n, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			size, known = max(size, int64(n)), true
		}
	}
	return size, known, nil
}

// Authority is the authority (PEM) that the cluster gives to its pods; "" if it gives none.
func (h Health) Authority(ctx context.Context) (string, error) {
	var found struct {
		Data map[string]string `json:"data"`
	}
	err := h.client.call(ctx, http.MethodGet, "/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt", nil, nil, &found)
	if Is(err, http.StatusNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the authority that pods get: %w", err)
	}
	return found.Data["ca.crt"], nil
}

// RunningPod is a pod that runs on a node.
type RunningPod struct {
	Namespace, Name, Node string
	Container             string // the first of it
	Address               string
	OfHost                bool // it has the network of its node
}

// RunningPods are pods that run.
func (h Health) RunningPods(ctx context.Context) ([]RunningPod, error) {
	var found struct {
		Items []struct {
			Metadata meta `json:"metadata"`
			Spec     struct {
				NodeName    string `json:"nodeName"`
				HostNetwork bool   `json:"hostNetwork"`
				Containers  []struct {
					Name string `json:"name"`
				} `json:"containers"`
			} `json:"spec"`
			Status struct {
				PodIP string `json:"podIP"`
			} `json:"status"`
		} `json:"items"`
	}
	err := h.client.call(ctx, http.MethodGet, "/api/v1/pods", url.Values{"fieldSelector": {"status.phase=Running"}, "limit": {maxListed}}, nil, &found)
	if err != nil {
		return nil, fmt.Errorf("list the pods: %w", err)
	}
	var all []RunningPod
	for _, p := range found.Items {
		if len(p.Spec.Containers) > 0 && p.Spec.NodeName != "" {
			all = append(all, RunningPod{p.Metadata.Namespace, p.Metadata.Name, p.Spec.NodeName, p.Spec.Containers[0].Name, p.Status.PodIP, p.Spec.HostNetwork})
		}
	}
	return all, nil
}

// ReadLog reads a line of the log of a pod, which goes through the API server to its kubelet.
func (h Health) ReadLog(ctx context.Context, p RunningPod) error {
	path := "/api/v1/namespaces/" + url.PathEscape(p.Namespace) + "/pods/" + url.PathEscape(p.Name) + "/log"
	status, body, err := h.client.text(ctx, path, url.Values{"container": {p.Container}, "tailLines": {"1"}}, 4<<10)
	if err != nil {
		return fmt.Errorf("read a log: %w", err)
	}
	if status != http.StatusOK {
		return fmt.Errorf("read a log: %w", refusal(status, []byte(body)))
	}
	return nil
}

// DNS tells how many addresses answer for the DNS of the cluster; there is false if it has no service for that.
func (h Health) DNS(ctx context.Context) (ready int, there bool, err error) {
	err = h.client.call(ctx, http.MethodGet, "/api/v1/namespaces/kube-system/services/kube-dns", nil, nil, nil)
	if Is(err, http.StatusNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("look for the DNS of the cluster: %w", err)
	}
	var found struct {
		Items []struct {
			Endpoints []struct {
				Addresses  []string `json:"addresses"`
				Conditions struct {
					Ready *bool `json:"ready"`
				} `json:"conditions"`
			} `json:"endpoints"`
		} `json:"items"`
	}
	path := "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices"
	if err := h.client.call(ctx, http.MethodGet, path, url.Values{"labelSelector": {"kubernetes.io/service-name=kube-dns"}}, nil, &found); err != nil {
		return 0, true, fmt.Errorf("look who answers for DNS: %w", err)
	}
	for _, slice := range found.Items {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				ready += len(e.Addresses)
			}
		}
	}
	return ready, true, nil
}

// Churn are the owners of more ReplicaSets than most that were made since a time: something makes them again and again.
func (h Health) Churn(ctx context.Context, since time.Time, most int) ([]string, error) {
	var found struct {
		Items []struct {
			Metadata struct {
				meta
				Created time.Time `json:"creationTimestamp"`
				Owners  []struct {
					Kind string `json:"kind"`
					Name string `json:"name"`
				} `json:"ownerReferences"`
			} `json:"metadata"`
		} `json:"items"`
	}
	if err := h.client.call(ctx, http.MethodGet, "/apis/apps/v1/replicasets", url.Values{"limit": {maxListed}}, nil, &found); err != nil {
		return nil, fmt.Errorf("list the ReplicaSets: %w", err)
	}
	fresh := map[string]int{}
	var loops []string
	for _, r := range found.Items {
		if r.Metadata.Created.Before(since) || len(r.Metadata.Owners) == 0 {
			continue
		}
		name := clean(r.Metadata.Namespace + "/" + r.Metadata.Owners[0].Name)
		if fresh[name]++; fresh[name] == most+1 {
			loops = append(loops, name)
		}
	}
	return loops, nil
}

// networks are DaemonSets of other CNIs than the one that Kloigos sets up, by the names that their makers give to them.
var networks = []string{"calico-node", "cilium", "kube-flannel-ds", "weave-net", "kindnet", "antrea-agent", "kube-router", "canal", "ovnkube-node"}

// OtherNetworks are DaemonSets of other CNIs.
func (h Health) OtherNetworks(ctx context.Context) ([]string, error) {
	var found struct {
		Items []struct {
			Metadata meta `json:"metadata"`
		} `json:"items"`
	}
	if err := h.client.call(ctx, http.MethodGet, "/apis/apps/v1/daemonsets", url.Values{"limit": {maxListed}}, nil, &found); err != nil {
		return nil, fmt.Errorf("list the DaemonSets: %w", err)
	}
	var all []string
	for _, d := range found.Items {
		for _, name := range networks {
			if d.Metadata.Name == name {
				all = append(all, d.Metadata.Namespace+"/"+name)
			}
		}
	}
	return all, nil
}

// Unready is since when a cluster calls nodes not ready, by their names.
func (h Health) Unready(ctx context.Context) (map[string]time.Time, error) {
	var found struct {
		Items []struct {
			Metadata meta `json:"metadata"`
			Status   struct {
				Conditions []struct {
					Type   string    `json:"type"`
					Status string    `json:"status"`
					Since  time.Time `json:"lastTransitionTime"`
				} `json:"conditions"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := h.client.call(ctx, http.MethodGet, "/api/v1/nodes", nil, nil, &found); err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	since := map[string]time.Time{}
	for _, n := range found.Items {
		for _, condition := range n.Status.Conditions {
			if condition.Type == "Ready" && condition.Status != "True" {
				since[n.Metadata.Name] = condition.Since
			}
		}
	}
	return since, nil
}

// OtherAuthority tells whether a request failed because the server's certificate is of an authority that is not the expected one.
func OtherAuthority(err error) bool {
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &unknown)
}
