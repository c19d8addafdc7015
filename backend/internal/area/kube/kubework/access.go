package kubework

import (
	"crypto/ecdsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/kernel/secret"
)

// adminSubject is who Kloigos is in a cluster: a member of the group that kubeadm binds to cluster-admin, which an
// administrator of the cluster can take that away from.
var adminSubject = pkix.Name{CommonName: "kloigos", Organization: []string{"kubeadm:cluster-admins"}}

// adminRequest is the request for our own certificate. The key never leaves this side.
func adminRequest(keys *secret.Keyset, c kube.Cluster) ([]byte, error) {
	key, err := adminKey(keys, c)
	if err != nil {
		return nil, err
	}
	return requestFor(key, adminSubject)
}

func adminKey(keys *secret.Keyset, c kube.Cluster) (*ecdsa.PrivateKey, error) {
	text, err := c.OpenAdminKey(keys)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the key of the cluster is not readable")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the key of the cluster: %w", err)
	}
	made, is := key.(*ecdsa.PrivateKey)
	if !is {
		return nil, errors.New("the key of the cluster is of another kind")
	}
	return made, nil
}

// access is what the first control plane answers: nothing of it is secret.
type access struct {
	CA          string `json:"ca"`
	Certificate string `json:"certificate"`
}

// adminAnswer reads what a host answered, and believes only a certificate for our key that its authority signed.
func adminAnswer(keys *secret.Keyset, c kube.Cluster, answer json.RawMessage) (access, error) {
	var made access
	if err := json.Unmarshal(answer, &made); err != nil {
		return access{}, errors.New("it is no JSON")
	}
	made.CA, made.Certificate = strings.TrimSpace(made.CA)+"\n", strings.TrimSpace(made.Certificate)+"\n"
	roots := x509.NewCertPool()
	block, _ := pem.Decode([]byte(made.Certificate))
	if !roots.AppendCertsFromPEM([]byte(made.CA)) || block == nil {
		return access{}, errors.New("it has no certificates")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return access{}, errors.New("its certificate can't be read")
	}
	key, err := adminKey(keys, c)
	if err != nil {
		return access{}, err
	}
	public, is := certificate.PublicKey.(*ecdsa.PublicKey)
	if !is || !public.Equal(&key.PublicKey) {
		return access{}, errors.New("its certificate is for another key")
	}
	_, err = certificate.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: time.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		return access{}, errors.New("its certificate is not signed by its authority")
	}
	return made, nil
}
