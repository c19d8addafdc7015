package watchwork

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"unicode"

	"github.com/wneessen/go-mail"

	"kloigos/backend/internal/area/watch"
)

// email hands a message to the mail server of a channel.
func (s steps) email(ctx context.Context, c watch.Channel, m watch.Message, password string) result {
	host, port, err := net.SplitHostPort(c.Server)
	if err != nil {
		return ours(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return ours(err)
	}
	message := mail.NewMsg()
	message.SetMessageIDWithValue(m.ID.String() + "@kloigos")
	message.SetDateWithValue(m.SentAt)
	message.Subject("[Kloigos] " + oneLine(m.Title))
	message.SetBodyString(mail.TypeTextPlain, m.Text+"\n")
	if err := errors.Join(message.From(c.Sender), message.To(c.Recipients...)); err != nil {
		return ours(err)
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.tls != nil {
		secure = s.tls.Clone()
	}
	secure.ServerName = host
	options := []mail.Option{mail.WithPort(number), mail.WithTimeout(patience), mail.WithHELO("kloigos"), mail.WithTLSConfig(secure)}
	dial, login := s.Rule.Dialer().DialContext, mail.SMTPAuthAutoDiscover
	switch c.TLS {
	case watch.TLS:
		dial = (&tls.Dialer{NetDialer: s.Rule.Dialer(), Config: secure}).DialContext
		// The connection is encrypted already, which the library would not find out by itself. It sends no password where that is not so.
		options, login = append(options, mail.WithTLSPolicy(mail.NoTLS)), mail.SMTPAuthPlain
	case watch.STARTTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	default:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	options = append(options, mail.WithDialContextFunc(dial))
	if c.Username != "" {
		options = append(options, mail.WithSMTPAuth(login), mail.WithUsername(c.Username), mail.WithPassword(password))
	}
	client, err := mail.NewClient(host, options...)
	if err != nil {
		return ours(err)
	}
	if err := client.DialAndSendWithContext(ctx, message); err != nil {
		return mailRefused(err)
	}
	return result{code: 250}
}

// mailRefused judges an error of a mail server. Its text is not kept: a server may repeat what it was told.
func mailRefused(err error) result {
	var refused *mail.SendError
	var reply *textproto.Error
	code := 0
	if errors.As(err, &refused) {
		code = refused.ErrorCode()
	}
	if errors.As(err, &reply) {
		code = reply.Code
	}
	switch {
	case code >= 400 && code < 500:
		return result{code: code, text: fmt.Sprintf("The mail server refused the message for now, with code %d.", code), fault: faultProvider, retry: true}
	case code == 535:
		return result{code: code, text: "The mail server did not accept user and password.", fault: faultUser}
	case code >= 500:
		return result{code: code, text: fmt.Sprintf("The mail server refused the message with code %d.", code), fault: faultUser}
	case errors.Is(err, mail.ErrNoSupportedAuthDiscovered), errors.Is(err, mail.ErrPlainAuthNotSupported):
		return result{text: "The mail server offers no way to log in that is safe.", fault: faultUser}
	}
	return unanswered(err)
}

// oneLine keeps a text from becoming another header, or a strange one.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return text
}
