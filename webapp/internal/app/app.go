// Package app owns the wiring of the web app: the server with its limits and
// headers, and which pages there are.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"
	"github.com/gofiber/fiber/v2/middleware/recover"

	backendapi "kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/api/tlsfile"
	"kloigos/webapp/internal/account"
	"kloigos/webapp/internal/address"
	"kloigos/webapp/internal/agent"
	"kloigos/webapp/internal/allocation"
	"kloigos/webapp/internal/approval"
	"kloigos/webapp/internal/channel"
	"kloigos/webapp/internal/delivery"
	"kloigos/webapp/internal/dns"
	"kloigos/webapp/internal/drift"
	"kloigos/webapp/internal/event"
	"kloigos/webapp/internal/eventstream"
	"kloigos/webapp/internal/host"
	"kloigos/webapp/internal/hostgrant"
	"kloigos/webapp/internal/hosting"
	"kloigos/webapp/internal/identity"
	"kloigos/webapp/internal/invitation"
	"kloigos/webapp/internal/job"
	"kloigos/webapp/internal/kube"
	"kloigos/webapp/internal/login"
	"kloigos/webapp/internal/member"
	"kloigos/webapp/internal/network"
	"kloigos/webapp/internal/networkgrant"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/overview"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/palette"
	"kloigos/webapp/internal/password"
	"kloigos/webapp/internal/plan"
	"kloigos/webapp/internal/playbook"
	"kloigos/webapp/internal/policy"
	"kloigos/webapp/internal/profile"
	"kloigos/webapp/internal/quota"
	"kloigos/webapp/internal/remedy"
	"kloigos/webapp/internal/role"
	"kloigos/webapp/internal/service"
	"kloigos/webapp/internal/session"
	"kloigos/webapp/internal/static"
	"kloigos/webapp/internal/system"
	"kloigos/webapp/internal/token"
	"kloigos/webapp/internal/unit"
	"kloigos/webapp/internal/usage"
)

// csp lets a page load what is embedded here and nothing else; nothing in a
// page itself is run or styles anything.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// areas are all pages, in the order of the navigation.
var areas = []page.Area{
	overview.Area,
	host.Area,
	unit.Area,
	allocation.Area,
	job.Area,
	plan.Area,
	playbook.Area,
	address.Area,
	network.Area,
	hostgrant.Area,
	remedy.Area,
	agent.Area,
	delivery.Area,
	drift.Area,
	dns.Zones,
	dns.RecordSets,
	dns.Grants,
	networkgrant.Area,
	channel.Area,
	kube.Area,
	hosting.Area,
	event.Area,
	eventstream.Area,
	organization.Area,
	member.Area,
	invitation.Area,
	role.Area,
	approval.Area,
	service.Area,
	quota.Area,
	usage.Area,
	identity.Area,
	account.Area,
	policy.Area,
	object.Area,
	profile.Area,
	token.Area,
	system.Area,
	palette.Area,
	password.Area,
	login.Area,
}

// Config is the configuration of the web app.
type Config struct {
	Listen         string         // address, host:port
	TLS            tlsfile.Files  // of this server; none: it speaks plain HTTP
	APIURL         string         // base URL of the backends
	APICA          []byte         // PEM; nil for the system's authorities
	TrustedProxies []netip.Prefix // whose header Forwarded is believed
	InsecureCookie bool           // for tests without TLS
}

// ConfigFromEnv reads the configuration and reports all of its mistakes
// together.
func ConfigFromEnv(getenv func(string) string) (Config, error) {
	cfg := Config{Listen: getenv("KLOIGOS_WEB_LISTEN"), APIURL: getenv("KLOIGOS_API_URL")}
	cfg.TLS = tlsfile.Files{Certificate: getenv("KLOIGOS_WEB_TLS_CERT_FILE"), Key: getenv("KLOIGOS_WEB_TLS_KEY_FILE")}
	var wrong []error
	if err := cfg.TLS.Check(); err != nil {
		wrong = append(wrong, fmt.Errorf("KLOIGOS_WEB_TLS_CERT_FILE, KLOIGOS_WEB_TLS_KEY_FILE: %w", err))
	}
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:8090"
	}
	if _, _, err := net.SplitHostPort(cfg.Listen); err != nil {
		wrong = append(wrong, fmt.Errorf("KLOIGOS_WEB_LISTEN: %w", err))
	}
	if cfg.APIURL == "" {
		wrong = append(wrong, errors.New("KLOIGOS_API_URL: is empty; it is the base URL of the backends, such as https://kloigos.example"))
	}
	if file := getenv("KLOIGOS_API_CA"); file != "" {
		var err error
		if cfg.APICA, err = os.ReadFile(file); err != nil {
			wrong = append(wrong, fmt.Errorf("KLOIGOS_API_CA: %w", err))
		}
	}
	var err error
	if cfg.TrustedProxies, err = session.ParseProxies(getenv("KLOIGOS_WEB_TRUSTED_PROXIES")); err != nil {
		wrong = append(wrong, fmt.Errorf("KLOIGOS_WEB_TRUSTED_PROXIES: %w", err))
	}
	switch v := getenv("KLOIGOS_WEB_INSECURE_COOKIE"); v {
	case "", "false", "0":
	case "true", "1":
		cfg.InsecureCookie = true
	default:
		wrong = append(wrong, fmt.Errorf("KLOIGOS_WEB_INSECURE_COOKIE: %q is neither true nor false", v))
	}
	return cfg, errors.Join(wrong...)
}

// New makes the server. Streams end when closing does.
func New(closing context.Context, cfg Config, log *slog.Logger) (*fiber.App, error) {
	api, err := client.New(client.Config{BaseURL: cfg.APIURL, CA: cfg.APICA, UserAgent: "kloigos-webapp", Timeout: page.Patience})
	if err != nil {
		return nil, err
	}
	assets, err := static.New()
	if err != nil {
		return nil, err
	}
	sessions := &session.Sessions{Insecure: cfg.InsecureCookie, TrustedProxies: cfg.TrustedProxies}
	a := &page.App{API: api, Sessions: sessions, Assets: assets, Log: log, Now: time.Now, Closing: closing}
	server := limited(api, sessions, a.ErrorHandler)
	server.Get("/web/healthz", func(c *fiber.Ctx) error { return c.SendString("ok\n") })
	server.Get("/web/version", sessions.Direct, func(c *fiber.Ctx) error { return c.JSON(backendapi.WebAppVersion{Version: backendapi.BuildVersion()}) })
	server.Use(a.Scoped)
	server.Use(headers(cfg.InsecureCookie), recover.New(), assets.Serve)
	server.Use(compress.New(compress.Config{Level: compress.LevelBestSpeed, Next: isStream}))
	server.Use(sessions.Guard, smallForms)
	server.Post("/web/theme", a.Theme)
	if err := a.Mount(server, areas...); err != nil {
		return nil, err
	}
	server.Use(func(*fiber.Ctx) error { return fiber.ErrNotFound })
	return server, nil
}

func isStream(c *fiber.Ctx) bool {
	return c.Get(fiber.HeaderAccept) == "text/event-stream"
}

func headers(insecure bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentSecurityPolicy, csp)
		c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
		c.Set(fiber.HeaderReferrerPolicy, "same-origin")
		c.Set("Cross-Origin-Opener-Policy", "same-origin")
		c.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		if !insecure {
			c.Set(fiber.HeaderStrictTransportSecurity, "max-age=31536000")
		}
		return c.Next()
	}
}
