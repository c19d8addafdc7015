// Package tlsfile owns a listener that speaks TLS with a certificate out of files, and follows them: who renews the files restarts
// nothing. The backend and the web app use it.
package tlsfile

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// look is how often the files are looked at, at most.
const look = time.Second

// Files are where a certificate with its chain, and its key, stand in PEM.
type Files struct {
	Certificate, Key string
}

// Given tells whether TLS is wanted.
func (f Files) Given() bool { return f.Certificate != "" }

// Check refuses one file without the other, and files that hold no pair.
func (f Files) Check() error {
	if (f.Certificate == "") != (f.Key == "") {
		return fmt.Errorf("a certificate and its key belong together: set both, or neither")
	}
	if !f.Given() {
		return nil
	}
	_, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
	return err
}

// Listen has a listener speak TLS. Without files it stays as it is. Files that hold no pair any more change nothing: the last
// good one is used, and the log says so.
func (f Files) Listen(l net.Listener, log *slog.Logger) (net.Listener, error) {
	if !f.Given() {
		return l, nil
	}
	k := &keeper{files: f, log: log}
	if err := k.load(); err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: k.get}), nil
}

type keeper struct {
	files Files
	log   *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	looked time.Time
	seen   stamp
}

// stamp tells one state of the files from another.
type stamp struct {
	certificate, key        time.Time
	certificateSize, keyLen int64
}

func (f Files) stamp() (stamp, error) {
	certificate, err := os.Stat(f.Certificate)
	if err != nil {
		return stamp{}, err
	}
	key, err := os.Stat(f.Key)
	if err != nil {
		return stamp{}, err
	}
	return stamp{certificate.ModTime(), key.ModTime(), certificate.Size(), key.Size()}, nil
}

func (k *keeper) load() error {
	seen, err := k.files.stamp()
	if err != nil {
		return err
	}
	k.seen, k.looked = seen, time.Now()
	pair, err := tls.LoadX509KeyPair(k.files.Certificate, k.files.Key)
	if err != nil {
		return err
	}
	k.pair = &pair
	return nil
}

func (k *keeper) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.looked) < look {
		return k.pair, nil
	}
	k.looked = time.Now()
	seen, err := k.files.stamp()
	if err == nil && seen == k.seen {
		return k.pair, nil
	}
	if err == nil {
		err = k.load()
	}
	if err != nil {
		k.log.Error("the new certificate can't be read; the last one is used", "certificate", k.files.Certificate, "error", err)
		return k.pair, nil
	}
	k.log.Info("the certificate was renewed", "certificate", k.files.Certificate, "until", k.pair.Leaf.NotAfter)
	return k.pair, nil
}
