package egress

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

var hostName = regexp.MustCompile(`^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)*[a-zA-Z]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`)

// maxURL is the length of a URL in bytes.
const maxURL = 2048

// CheckURL returns the URL of a webhook in one form, or says in a sentence why it is not used. An address that is written as
// such is judged here; a name is judged when it is connected to. The error is a Refused.
func (r Rule) CheckURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(text) > maxURL || u.Opaque != "" {
		return "", Refused("Use a URL such as https://hooks.example.org/kloigos.")
	}
	if u.User != nil || u.Fragment != "" {
		return "", Refused("Leave user, password and fragment out: they would be shown. A secret signs the message.")
	}
	port := u.Port()
	if port == "" {
		port = "443" // any: it is only looked at
	}
	if _, err := r.CheckServer(net.JoinHostPort(u.Hostname(), port), ""); err != nil {
		return "", err
	}
	return u.String(), nil
}

// CheckServer returns 'host:port', with the default port where none is named, or says in a sentence why it is not used. The
// error is a Refused.
func (r Rule) CheckServer(text, defaultPort string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), defaultPort
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return "", Refused("Give a port from 1 to 65535.")
	}
	if address, err := netip.ParseAddr(host); err == nil {
		if address.Zone() != "" {
			return "", Refused(host + " names an interface of this machine.")
		}
		return net.JoinHostPort(host, port), r.Check(address)
	}
	// A last label of digits makes some resolvers read the whole as an address in a strange form.
	if name := strings.TrimSuffix(host, "."); len(name) > 253 || !hostName.MatchString(name) {
		return "", Refused("Use the name of a host, or an address.")
	}
	return net.JoinHostPort(host, port), nil
}
