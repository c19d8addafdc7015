package tlsfile

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// write makes a certificate with this number, and returns it.
func write(t *testing.T, f Files, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), DNSNames: []string{"kloigos.example"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{f.Certificate: {Type: "CERTIFICATE", Bytes: raw}, f.Key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file+".new", pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Whoever renews the files restarts nothing, and files that are no pair take nothing down.
func TestTheCertificateFollowsItsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := Files{Certificate: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	first := write(t, f, 1)
	var out bytes.Buffer
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := f.Listen(plain, slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	})
	defer served.Wait()
	defer func() { _ = l.Close() }()
	serial := func(trusted *x509.Certificate) int64 {
		t.Helper()
		roots := x509.NewCertPool()
		roots.AddCert(trusted)
		conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: roots, ServerName: "kloigos.example"})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(first); n != 1 {
		t.Errorf("certificate %d", n)
	}
	second := write(t, f, 2)
	time.Sleep(look + 50*time.Millisecond)
	if n := serial(second); n != 2 {
		t.Errorf("certificate %d after the renewal", n)
	}
	if err := os.WriteFile(f.Key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(look + 50*time.Millisecond)
	if n := serial(second); n != 2 {
		t.Errorf("certificate %d, with a key that is none", n)
	}
	if err := f.Check(); err == nil {
		t.Error("a key that is none passes")
	}
	if said := out.String(); !strings.Contains(said, "the certificate was renewed") || strings.Count(said, "the last one is used") != 1 {
		t.Errorf("the log says %s", said)
	}
	if err := (Files{Certificate: "x"}).Check(); err == nil || !strings.Contains(err.Error(), "belong together") {
		t.Errorf("one without the other: %v", err)
	}
}
