package app

import (
	"bytes"
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"kloigos/backend/api/client"
	"kloigos/webapp/internal/session"
)

const (
	bodyLimit      = 1<<20 + 64<<10 // bytes; the largest form is a playbook's artifact, of which the API takes 1 MiB
	strangersBody  = 16 << 10       // bytes of one who has no session; a login has a few hundred
	mostFields     = 10_000         // of a form; the largest is a layout of 1,024 units
	maxConnections = 8192
	readTimeout    = 30 * time.Second
	writeTimeout   = 2 * time.Minute // for a page, or an artifact over a slow line; streams have times of their own
	idleTimeout    = 2 * time.Minute
	whoTimeout     = 5 * time.Second
)

// headerReceived says how large the body of a request may be, which the server
// reads whole before any handler is called: little of a stranger, or some of them
// could fill the memory. Only a larger one costs a question to the API here.
func headerReceived(speaker *client.Client, sessions *session.Sessions) func(*fasthttp.RequestHeader) fasthttp.RequestConfig {
	return func(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
		limit := strangersBody
		if n := h.ContentLength(); n == chunked || n > limit {
			if token := sessions.TokenOf(h); token != "" && known(speaker.WithToken(token)) {
				limit = bodyLimit
			}
		}
		return fasthttp.RequestConfig{MaxRequestBodySize: limit}
	}
}

// chunked is the length of a body that is told with its parts; one that is not
// told at all (-2) is none.
const chunked = -1

// known tells whether the API knows a session. Without its answer a large form
// could not be carried out either.
func known(speaker *client.Client) bool {
	ctx, cancel := context.WithTimeout(context.Background(), whoTimeout)
	defer cancel()
	_, err := speaker.Whoami(ctx)
	return err == nil
}

// smallForms refuses forms that would become many times their size in memory:
// such as have many fields, and such as are compressed, which no browser sends.
func smallForms(c *fiber.Ctx) error {
	if len(c.Request().Header.ContentEncoding()) > 0 {
		return fiber.ErrUnsupportedMediaType
	}
	if body := c.Request().Body(); len(body) > mostFields && bytes.Count(body, []byte("&")) >= mostFields && bytes.HasPrefix(c.Request().Header.ContentType(), []byte(fiber.MIMEApplicationForm)) {
		return fiber.ErrRequestEntityTooLarge
	}
	return c.Next()
}

// limited makes the server. It holds no buffers for connections that wait, and
// parses no form before anyone has asked for it.
func limited(speaker *client.Client, sessions *session.Sessions, onError fiber.ErrorHandler) *fiber.App {
	server := fiber.New(fiber.Config{
		AppName: "kloigos-webapp", ServerHeader: "", DisableStartupMessage: true, Immutable: true,
		BodyLimit: bodyLimit, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, ErrorHandler: onError,
		ReadBufferSize: 16 << 10, Concurrency: maxConnections, ReduceMemoryUsage: true, DisablePreParseMultipartForm: true,
	})
	server.Server().HeaderReceived = headerReceived(speaker, sessions)
	return server
}
