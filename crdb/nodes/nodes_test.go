package nodes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// What must not be exchanged stays in its order: first with TLS, then without.
func TestPreferredTLSStaysPreferred(t *testing.T) {
	t.Parallel()
	for sslmode, want := range map[string]int{"disable": 2, "require": 2, "prefer": 0, "allow": 0} {
		cfg, err := pgx.ParseConfig(fmt.Sprintf("postgresql://u@a:1,b:2/d?sslmode=%s", sslmode))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(all(cfg)); got != want {
			t.Errorf("%s: %d addresses are exchanged, want %d", sslmode, got, want)
		}
	}
}

// What the URL says counts, and one node may take longer than one of several.
func TestWhatTheURLSaysCounts(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct {
		timeout  string
		standbys bool
	}{
		"postgresql://u@a,b/d?sslmode=disable":                                {"3s", false},
		"postgresql://u@a/d?sslmode=disable":                                  {"10s", false},
		"postgresql://u@a,b/d?sslmode=disable&connect_timeout=7":              {"7s", false},
		"postgresql://u@a,b/d?sslmode=disable&target_session_attrs=any":       {"3s", true},
		"host=a,b user=u sslmode=disable target_session_attrs=prefer-standby": {"3s", false}, // has a check of its own
	} {
		cfg, err := pgx.ParseConfig(query)
		if err != nil {
			t.Fatal(err)
		}
		Prepare(cfg)
		if cfg.ConnectTimeout.String() != want.timeout || (cfg.ValidateConnect == nil) != want.standbys {
			t.Errorf("%s: %s, checked: %t", query, cfg.ConnectTimeout, cfg.ValidateConnect != nil)
		}
	}
}

// A client certificate that was renewed is used by the next connection, to each of several nodes.
func TestRenewedCertificatesAreUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(serial int64) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
		raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		private, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		for name, block := range map[string]*pem.Block{"crt": {Type: "CERTIFICATE", Bytes: raw}, "key": {Type: "PRIVATE KEY", Bytes: private}} {
			if err := os.WriteFile(filepath.Join(dir, "client."+name), pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(1)
	url := fmt.Sprintf("postgresql://u@a:1,b:2/d?sslmode=verify-full&sslrootcert=%s/client.crt&sslcert=%s/client.crt&sslkey=%s/client.key", dir, dir, dir)
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	serials := func() (all []int64) {
		for _, n := range append([]*tls.Config{cfg.TLSConfig}, cfg.Fallbacks[0].TLSConfig) {
			cert, err := x509.ParseCertificate(n.Certificates[0].Certificate[0])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, cert.SerialNumber.Int64())
		}
		return all
	}
	write(2)
	Renew(cfg, url)
	if got := serials(); !slices.Equal(got, []int64{2, 2}) || cfg.TLSConfig.ServerName != "a" || cfg.Fallbacks[0].TLSConfig.ServerName != "b" {
		t.Errorf("certificates %v, for %s and %s", got, cfg.TLSConfig.ServerName, cfg.Fallbacks[0].TLSConfig.ServerName)
	}
	if err := os.WriteFile(filepath.Join(dir, "client.key"), []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	Renew(cfg, url)
	if got := serials(); !slices.Equal(got, []int64{2, 2}) {
		t.Errorf("with a file that is no key: %v", got)
	}
}
