package faults

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"kloigos/backend/api/client"
	"kloigos/rig/demo"
	"kloigos/rig/faults/host"
)

// balancer has all clients and viewers come through HAProxy, as the demo does,
// which is reloaded and killed by turns, with a backend now and then.
func balancer(ctx context.Context, w *World) error {
	proxy, raw, err := w.balance(ctx)
	if err != nil {
		return err
	}
	h := w.hosts[0]
	h.Behave(host.Manners{Lines: 2000, Pause: 3 * time.Second})
	_, job, err := w.create(ctx, h.Name)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	seen := make(chan error, 9)
	for range cap(seen) - 1 {
		all.Go(func() { seen <- w.follow(ctx, w.api(), job, 2000) })
	}
	all.Go(func() {
		v := viewer{world: w, http: raw, base: "https://" + proxy.Listen, job: job}
		seen <- v.follow(ctx, 2000)
	})
	stop := w.tenants(ctx, 5)
	for n := range 6 {
		sleep(ctx, w.between(500*time.Millisecond, 1500*time.Millisecond))
		if n%3 == 2 {
			if err := w.alive().Kill(); err != nil {
				break
			}
		}
		if err = w.replaceBalancer(ctx, proxy, n%2 == 0); err != nil {
			break
		}
	}
	h.Behave(host.Manners{Lines: 2000})
	err = errors.Join(err, w.revive(ctx))
	sleep(ctx, 2*time.Second)
	stop()
	err = errors.Join(err, w.succeeds(ctx, job))
	all.Wait()
	close(seen)
	for problem := range seen {
		err = errors.Join(err, problem)
	}
	if len(w.ids) < 5 {
		err = errors.Join(err, fmt.Errorf("only %d allocations came through the balancer, so nothing is proven", len(w.ids)))
	}
	return err
}

// balance puts HAProxy before the backends, and all clients before it; raw is
// for who comes without ours.
func (w *World) balance(ctx context.Context) (proxy demo.Proxy, raw *http.Client, err error) {
	certificates, err := demo.MakeCertificates(w.dir)
	if err != nil {
		return proxy, nil, err
	}
	ports, err := demo.FreePorts(0, 2)
	if err != nil {
		return proxy, nil, err
	}
	at := func(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
	proxy = demo.Proxy{Listen: at(ports[0]), Internal: at(ports[1]), Bundle: certificates.Bundle}
	for _, b := range w.backends {
		proxy.Backends = append(proxy.Backends, b.listen)
	}
	front, err := client.New(client.Config{BaseURL: "https://" + proxy.Listen, CA: certificates.CA, UserAgent: "kloigos-faults", Timeout: w.spec.Patience})
	if err != nil {
		return proxy, nil, err
	}
	if err := w.startBalancer(ctx, proxy); err != nil {
		return proxy, nil, err
	}
	w.front = front
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificates.CA)
	return proxy, &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}, nil
}

func (w *World) startBalancer(ctx context.Context, proxy demo.Proxy, more ...string) error {
	p, err := proxy.Start(ctx, w.group, w.env, filepath.Join(w.dir, "haproxy.cfg"), more...)
	if err == nil {
		w.balancers = append(w.balancers, p)
	}
	return err
}

// replaceBalancer reloads it, so that the old one goes on with what it has, or
// kills it and all that goes through it.
func (w *World) replaceBalancer(ctx context.Context, proxy demo.Proxy, gently bool) error {
	old := w.balancers[len(w.balancers)-1]
	if gently {
		return w.startBalancer(ctx, proxy, "-sf", strconv.Itoa(old.PID))
	}
	for _, p := range w.balancers { // those before it too, which still carry streams
		if err := p.Kill(); err != nil {
			return err
		}
	}
	sleep(ctx, 300*time.Millisecond)
	return w.startBalancer(ctx, proxy)
}
