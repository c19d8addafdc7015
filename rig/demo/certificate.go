package demo

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificateLife is short, because the CA's key is thrown away and nobody renews a demo.
const certificateLife = 90 * 24 * time.Hour

// Certificates are those of the demo's origin.
type Certificates struct {
	CA     []byte // PEM
	CAFile string
	Bundle string // file for HAProxy: certificate, then key
}

// machineGateway is this machine's loopback, as the VM sees it through QEMU's user networking.
const machineGateway = "10.0.2.2"

// MakeCertificates makes an authority and one certificate for 127.0.0.1, localhost and the VM's way there. The authority's key is never
// written: whoever trusts it trusts nothing but this certificate.
func MakeCertificates(dir string) (Certificates, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Certificates{}, fmt.Errorf("make the authority's key: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Certificates{}, fmt.Errorf("make the origin's key: %w", err)
	}
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "Kloigos demo authority " + now.UTC().Format("2006-01-02 15:04:05")},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: []string{"localhost"},
		PermittedIPRanges: []*net.IPNet{
			{IP: net.IPv4(127, 0, 0, 1).To4(), Mask: net.CIDRMask(32, 32)}, {IP: net.ParseIP(machineGateway).To4(), Mask: net.CIDRMask(32, 32)},
		},
	}
	leaf := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(machineGateway)}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return Certificates{}, fmt.Errorf("make the authority: %w", err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return Certificates{}, fmt.Errorf("make the origin's certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Certificates{}, fmt.Errorf("write the origin's key: %w", err)
	}
	made := Certificates{
		CA:     pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
		CAFile: filepath.Join(dir, "ca.crt"), Bundle: filepath.Join(dir, "origin.pem"),
	}
	bundle := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})...)
	if err := os.WriteFile(made.Bundle, bundle, 0o600); err != nil {
		return Certificates{}, fmt.Errorf("write the origin's certificate: %w", err)
	}
	if err := os.WriteFile(made.CAFile, made.CA, 0o644); err != nil {
		return Certificates{}, fmt.Errorf("write the authority: %w", err)
	}
	return made, nil
}

func serial() *big.Int {
	// 127 random bits, as RFC 5280 allows at most 20 octets and the forum's rules want 64 bits of chance.
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return big.NewInt(time.Now().UnixNano())
	}
	return n.Add(n, big.NewInt(1))
}
