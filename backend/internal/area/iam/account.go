package iam

import (
	"net/mail"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// Nouns of accounts, as events and problems name them.
const (
	AccountNoun        = "account"
	ServiceAccountNoun = "service_account"
)

// linkLifetime is how long a person has to set the first password, or one after a reset.
const linkLifetime = 7 * 24 * time.Hour

// accountName is the form of a person's name. A service account has an @ before the beginning of its organization's id.
var accountName = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`)

func checkAccountName(name string) error {
	if !accountName.MatchString(name) {
		return sentence("Use lower-case letters, digits, ., _ and -; begin and end with a letter or a digit; at most 63 characters.")
	}
	if _, err := uuid.Parse(name); err == nil {
		return sentence("Use another name: this one has the form of an id.")
	}
	return nil
}

// checkEmail tells what is wrong with an address; it may be empty.
func checkEmail(email string) error {
	if email == "" {
		return nil
	}
	if parsed, err := mail.ParseAddress(email); err != nil || parsed.Address != email || len(email) > 254 {
		return sentence("Use an address such as ada@example.org.")
	}
	return nil
}

// NewAccount is a person as somebody asks for one.
type NewAccount struct{ Name, Email string }

func (d NewAccount) check() error {
	var bad fault.Invalid
	bad.Check("name", checkAccountName(d.Name))
	bad.Check("email", checkEmail(d.Email))
	return bad.OrNil()
}

// checkChange lets a name stay that an identity provider made.
func (d NewAccount) checkChange(before Account) error {
	var bad fault.Invalid
	if d.Name != before.Name {
		bad.Check("name", checkAccountName(d.Name))
	}
	bad.Check("email", checkEmail(d.Email))
	return bad.OrNil()
}

// facts are what an event tells of an account.
func (a Account) facts() map[string]any {
	return map[string]any{"name": a.Name, "kind": a.Kind, "email": a.Email, "state": a.State}
}

// CanDisable tells why it cannot be disabled; nil if it can.
func (a Account) CanDisable() error {
	if a.State == AccountDisabled {
		return fault.Conflictf("account_state", "The account is disabled already.")
	}
	return nil
}

// CanEnable tells why it cannot be enabled; nil if it can.
func (a Account) CanEnable() error {
	if a.State == AccountActive {
		return fault.Conflictf("account_state", "The account is active already.")
	}
	return nil
}

// Label is the name of a service account in its organization; of a person, the name.
func (a Account) Label() string {
	label, _, _ := strings.Cut(a.Name, "@")
	return label
}

// named tells whether the name is one that an account can have.
func (a Account) named() bool {
	label, organization, service := strings.Cut(a.Name, "@")
	return checkAccountName(label) == nil && (!service || len(organization) == organizationBytes)
}

// organizationBytes of its organization's id end the name of a service account.
const organizationBytes = 8

func (a Account) noun() string {
	if a.Kind == Service {
		return ServiceAccountNoun
	}
	return AccountNoun
}
