package app_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/app"
	"kloigos/backend/internal/testkit/site"
)

// A backend with a certificate speaks TLS, and nothing else, on its port.
func TestABackendSpeaksTLS(t *testing.T) {
	t.Parallel()
	lent := httptest.NewTLSServer(nil) // for its certificate, of 127.0.0.1
	defer lent.Close()
	pair := lent.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	files := map[string][]byte{"tls.crt": authority, "tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, password := preparedWith(t, map[string]string{
		"KLOIGOS_TLS_CERT_FILE": filepath.Join(dir, "tls.crt"), "KLOIGOS_TLS_KEY_FILE": filepath.Join(dir, "tls.key"),
	})
	b, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ctx, end := context.WithCancel(context.Background())
	at, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- b.WithRunner(scripted.New()).Serve(ctx, ctx, func(a net.Addr) { at <- a }) }()
	address := site.Await(t, "it listens", at).String()
	login := func(url string) error {
		c, err := client.New(client.Config{BaseURL: url, CA: authority})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.CreateSession(t.Context(), api.Login{Account: app.Administrator, Password: password})
		return err
	}
	if err := login("https://" + address); err != nil {
		t.Error(err)
	}
	if err := login("http://" + address); err == nil {
		t.Error("somebody logged in without TLS")
	}
	end()
	if err := site.Await(t, "it ends", ended); err != nil {
		t.Error(err)
	}
}
