package kubeapi

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"time"
)

const requestsPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

// signPause is how often a request is looked at, and signTimeout for how long: the web app waits for 20 s.
const (
	signPause   = 250 * time.Millisecond
	signTimeout = 18 * time.Second
)

// signing is a request for a certificate.
type signing struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   meta   `json:"metadata"`
	Spec       struct {
		Request           []byte   `json:"request"`
		SignerName        string   `json:"signerName"`
		ExpirationSeconds int64    `json:"expirationSeconds"`
		Usages            []string `json:"usages"`
	} `json:"spec"`
	Status struct {
		Conditions  []signed `json:"conditions,omitempty"`
		Certificate []byte   `json:"certificate,omitempty"`
	} `json:"status"`
}

type signed struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Sign has the cluster sign a client certificate (PEM), approves that, and waits for it. The cluster may sign for a shorter
// time than was asked for. Its controller manager deletes the request later.
func (c *Client) Sign(ctx context.Context, name string, request []byte, valid time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, signTimeout)
	defer cancel()
	asked := signing{APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest", Metadata: meta{Name: name, Labels: ours()}}
	asked.Spec.Request, asked.Spec.SignerName = request, "kubernetes.io/kube-apiserver-client"
	asked.Spec.ExpirationSeconds, asked.Spec.Usages = int64(valid/time.Second), []string{"client auth"}
	if err := c.call(ctx, http.MethodPost, requestsPath, nil, asked, &asked); err != nil {
		return nil, fmt.Errorf("ask for a certificate: %w", err)
	}
	asked.APIVersion, asked.Kind = "certificates.k8s.io/v1", "CertificateSigningRequest"
	asked.Status.Conditions = []signed{{Type: "Approved", Status: "True", Reason: "Kloigos", Message: "asked for by an account with a binding"}}
	if err := c.call(ctx, http.MethodPut, requestsPath+"/"+name+"/approval", nil, asked, nil); err != nil {
		return nil, fmt.Errorf("approve a certificate: %w", err)
	}
	for {
		var now signing
		if err := c.call(ctx, http.MethodGet, requestsPath+"/"+name, nil, nil, &now); err != nil {
			return nil, fmt.Errorf("wait for a certificate: %w", err)
		}
		for _, condition := range now.Status.Conditions {
			if condition.Type == "Failed" || condition.Type == "Denied" {
				return nil, &Error{Status: http.StatusConflict, Reason: condition.Type, Message: clean(condition.Message)}
			}
		}
		if block, _ := pem.Decode(now.Status.Certificate); block != nil {
			return now.Status.Certificate, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a certificate: the cluster has signed none within %s; does its controller manager run: %w", signTimeout, ctx.Err())
		case <-time.After(signPause):
		}
	}
}
