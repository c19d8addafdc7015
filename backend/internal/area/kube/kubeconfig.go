package kube

import (
	"encoding/base64"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"
)

// Credential is a client certificate with its key. It is stored nowhere.
type Credential struct {
	User        string    // common name of the certificate
	Certificate []byte    // PEM
	Key         []byte    // PEM
	Ends        time.Time // of the certificate
	Request     string    // name of the request in the cluster
}

// Kubeconfig is a file for kubectl that reaches a cluster with a credential.
func Kubeconfig(c Cluster, with Credential) ([]byte, error) {
	context := c.Name
	file, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": context,
		"clusters": []any{map[string]any{"name": c.Name, "cluster": map[string]any{
			"server": "https://" + c.Endpoint, "certificate-authority-data": base64.StdEncoding.EncodeToString([]byte(c.CA)),
		}}},
		"users": []any{map[string]any{"name": with.User, "user": map[string]any{
			"client-certificate-data": base64.StdEncoding.EncodeToString(with.Certificate), "client-key-data": base64.StdEncoding.EncodeToString(with.Key),
		}}},
		"contexts": []any{map[string]any{"name": context, "context": map[string]any{"cluster": c.Name, "user": with.User}}},
	})
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig: %w", err)
	}
	return file, nil
}
