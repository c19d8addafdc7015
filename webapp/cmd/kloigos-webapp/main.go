// Command kloigos-webapp serves the pages of Kloigos. It keeps nothing: any
// number of them may run, and each serves any click.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"kloigos/webapp/internal/app"
)

// lastRequests is how long requests may go on after the signal to stop.
const lastRequests = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		os.Exit(1)
	}
}

func command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kloigos-webapp",
		Short: "Serve the pages of Kloigos",
		Long: `Serve the pages of Kloigos, as a client of its API. Configured by the environment:

  KLOIGOS_WEB_LISTEN           address to listen on (default 127.0.0.1:8090)
  KLOIGOS_WEB_TLS_CERT_FILE    its certificate with the chain, in PEM, read again when it changes; none for plain HTTP
  KLOIGOS_WEB_TLS_KEY_FILE     the key of that certificate, in PEM
  KLOIGOS_API_URL              base URL of the backends, required
  KLOIGOS_API_CA               file with the authorities of the API's certificate, in PEM
  KLOIGOS_WEB_TRUSTED_PROXIES  addresses or prefixes whose header Forwarded is believed, by commas
  KLOIGOS_WEB_INSECURE_COOKIE  true: the session's cookie goes over plain HTTP too; for tests only`,
		Args: cobra.NoArgs, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := app.ConfigFromEnv(os.Getenv)
			if err != nil {
				return err
			}
			l, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", cfg.Listen)
			if err != nil {
				return fmt.Errorf("listen: %w", err)
			}
			return serveOn(cmd.Context(), l, cfg, slog.New(slog.NewJSONHandler(os.Stderr, nil)))
		},
	}
	return cmd
}

// serveOn serves until ctx ends: then streams end at once, and requests that are
// under way may finish.
func serveOn(ctx context.Context, l net.Listener, cfg app.Config, log *slog.Logger) error {
	closing, end := context.WithCancel(context.Background())
	defer end()
	server, err := app.New(closing, cfg, log)
	if err != nil {
		return err
	}
	if l, err = cfg.TLS.Listen(l, log); err != nil {
		return err
	}
	log.Info("web app started", "address", l.Addr().String(), "api", cfg.APIURL, "tls", cfg.TLS.Given())
	done := make(chan error, 1)
	go func() { done <- server.Listener(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.Info("web app stops")
	// Pages are a matter of milliseconds; the streams have to be ended for the
	// server to come to rest.
	endStreams := time.AfterFunc(200*time.Millisecond, end)
	defer endStreams.Stop()
	err = server.ShutdownWithTimeout(lastRequests)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("some requests were cut off")
		return nil
	}
	return err
}
