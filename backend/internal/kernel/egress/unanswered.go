package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"time"
)

// Unanswered says why a call that leads out of the control plane got no answer.
type Unanswered string

// The reasons, as conditions name them.
const (
	AddressRefused Unanswered = "address_refused" // a Rule forbids the address; the error's Refused says it
	BadCertificate Unanswered = "bad_certificate" // it is not valid for the name, or nobody known vouches for it
	NoAnswer       Unanswered = "no_answer"       // the time was over
	Unreachable    Unanswered = "unreachable"     // all else
)

// Why judges the error of such a call. Only this judgement and a Refused are fit to be shown: other errors may hold what a server said.
func Why(err error) Unanswered {
	var refused Refused
	var authority x509.UnknownAuthorityError
	var verify *tls.CertificateVerificationError
	var timed interface{ Timeout() bool }
	switch {
	case errors.As(err, &refused):
		return AddressRefused
	case errors.As(err, &verify), errors.As(err, &authority):
		return BadCertificate
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timed) && timed.Timeout():
		return NoAnswer
	}
	return Unreachable
}

// IsUsers reports whether the user who named the target can mend it, and nothing else does.
func (u Unanswered) IsUsers() bool { return u == AddressRefused || u == BadCertificate }

// Message is a sentence for people about a target that is called what (the server, the receiver) and had so long to answer.
func (u Unanswered) Message(what string, patience time.Duration, err error) string {
	var refused Refused
	switch {
	case u == AddressRefused && errors.As(err, &refused):
		return refused.Error()
	case u == BadCertificate:
		return "The certificate of " + what + " is not valid for its name, or nobody known vouches for it."
	case u == NoAnswer:
		return "No answer of " + what + " came within " + patience.String() + "."
	}
	return "No connection to " + what + " could be made, or it ended early."
}
