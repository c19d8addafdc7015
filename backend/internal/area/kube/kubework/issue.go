package kubework

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/kernel/fault"
)

// LongestCertificate bounds how long an account's certificate may be good for: it can't be taken back, only its bindings can.
const LongestCertificate = 24 * time.Hour

// skew is how far the clock of a cluster may be from ours.
const skew = 5 * time.Minute

// Issue has a cluster sign a client certificate that carries the user alone: no group, so that bindings decide everything.
func (c Config) Issue(ctx context.Context, cluster kube.Cluster, user string, valid time.Duration) (kube.Credential, error) {
	return c.issue(ctx, cluster, pkix.Name{CommonName: user}, valid, LongestCertificate)
}

// IssueAdmin has a cluster sign a client certificate of an administrator. It can't be taken back: its end is near instead.
func (c Config) IssueAdmin(ctx context.Context, cluster kube.Cluster, user string, valid time.Duration) (kube.Credential, error) {
	return c.issue(ctx, cluster, pkix.Name{CommonName: user, Organization: []string{kube.Administrators}}, valid, kube.LongestBreakGlass)
}

func (c Config) issue(ctx context.Context, cluster kube.Cluster, who pkix.Name, valid, longest time.Duration) (kube.Credential, error) {
	user := who.CommonName
	if valid <= 0 || valid > longest {
		return kube.Credential{}, fmt.Errorf("a certificate is good for at most %s, not %s", longest, valid)
	}
	key, request, err := newRequest(who)
	if err != nil {
		return kube.Credential{}, err
	}
	name, err := requestName(user)
	if err != nil {
		return kube.Credential{}, err
	}
	client, err := c.open(cluster)
	if err != nil {
		return kube.Credential{}, err
	}
	defer client.Close()
	signed, err := client.Sign(ctx, name, request, valid)
	if err != nil {
		slog.Warn("issue of a certificate failed", "cluster", cluster.ID, "error", err)
		return kube.Credential{}, fault.Conflictf("cluster_unreachable", "The cluster %s issued no certificate: %s. Try again.", cluster.Name, strings.TrimSuffix(err.Error(), "."))
	}
	made := kube.Credential{User: user, Certificate: signed, Request: name}
	if made.Key, err = encodeKey(key); err != nil {
		return kube.Credential{}, err
	}
	made.Ends, err = asAsked(signed, key, who, time.Now().Add(valid+skew))
	return made, err
}

// requestName names a request in the cluster, so that it can be found by the event.
func requestName(user string) (string, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fmt.Errorf("name a request: %w", err)
	}
	return strings.ReplaceAll(user, ":", "-") + "-" + hex.EncodeToString(random[:]), nil
}

// newRequest makes a key and a request for a certificate (PEM).
func newRequest(subject pkix.Name) (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	request, err := requestFor(key, subject)
	return key, request, err
}

func requestFor(key any, subject pkix.Name) ([]byte, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		return nil, fmt.Errorf("make a request for a certificate: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("write a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// asAsked checks a certificate that a cluster signed: key, user, groups, end. One that allows more than was asked for is refused.
func asAsked(text []byte, key *ecdsa.PrivateKey, who pkix.Name, latest time.Time) (ends time.Time, err error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return ends, errors.New("the cluster signed something that is no certificate")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ends, fmt.Errorf("read the certificate that the cluster signed: %w", err)
	}
	public, is := certificate.PublicKey.(*ecdsa.PublicKey)
	switch {
	case !is || !public.Equal(&key.PublicKey):
		return ends, errors.New("the cluster signed another key")
	case certificate.Subject.CommonName != who.CommonName || !slices.Equal(certificate.Subject.Organization, who.Organization):
		return ends, fmt.Errorf("the cluster signed for %q, not for %q alone", certificate.Subject, who)
	case certificate.NotAfter.After(latest):
		return ends, fmt.Errorf("the cluster signed until %s, which is later than asked for", certificate.NotAfter.UTC().Format(time.RFC3339))
	}
	return certificate.NotAfter, nil
}

// endOf is when a certificate (PEM) ends.
func endOf(text string) (time.Time, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return time.Time{}, errors.New("it is no certificate")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, errors.New("it can't be read")
	}
	return certificate.NotAfter, nil
}
