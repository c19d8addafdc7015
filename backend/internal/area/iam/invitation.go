package iam

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// InvitationNoun names invitations in events and problems.
const InvitationNoun = "invitation"

const (
	maxInvitationDays = 30
	// maxTakenNames is how many names that others have can be tried with one invitation: its link is no means to find accounts.
	maxTakenNames = 10
)

// Invitation is a role that waits for somebody to accept it with a link.
type Invitation struct {
	ID             uuid.UUID  `db:"id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	Scope          string     `db:"scope"` // noun of the scope
	ScopeID        uuid.UUID  `db:"scope_id"`
	Path           string     `db:"path"` // of the scope
	Role           string     `db:"role"` // its name
	RoleID         *uuid.UUID `db:"role_id"`
	Account        string     `db:"account"` // name of the only account that may accept; "" for any
	Email          string     `db:"email"`
	InviterID      *uuid.UUID `db:"inviter_id"`
	TakenNames     int64      `db:"taken_names"`
	ExpiresAt      time.Time  `db:"expires_at"`
	CreatedBy      string     `db:"created_by"`
	CreatedAt      time.Time  `db:"created_at"`
}

// Person is whom it is for: the name of an account, or a mail address.
func (i Invitation) Person() string {
	if i.Account != "" {
		return i.Account
	}
	return i.Email
}

// facts are what an event tells of an invitation.
func (i Invitation) facts() map[string]any {
	return map[string]any{"person": i.Person(), "role": i.Role, "expires_at": i.ExpiresAt}
}

// NewInvitation is an invitation as somebody asks for one.
type NewInvitation struct {
	Person string // name of an account, or a mail address
	Role   string
	Days   int // how long the link is valid
}

// whom splits the person into the name of an account and a mail address. Nothing is looked up: who invites does not learn
// whether there is such an account.
func (d NewInvitation) whom() (account, email string, err error) {
	var bad fault.Invalid
	if strings.Contains(d.Person, "@") {
		email = d.Person
		bad.Check("person", checkEmail(email))
	} else {
		account = d.Person
		bad.Check("person", checkAccountName(account))
	}
	if d.Days < 1 || d.Days > maxInvitationDays {
		bad.Add("days", "Use 1 to %d days.", maxInvitationDays)
	}
	return account, email, bad.OrNil()
}

// mayAccept tells why an account of this name can't accept; nil if it can.
func (i Invitation) mayAccept(name string) error {
	if i.Account != "" && i.Account != name {
		return fault.Conflictf("other_account", "This invitation is for the account %s. Log in as that account.", i.Account)
	}
	return nil
}

// CheckJoin tells what is wrong with the name and the password of a new account; nil if nothing is.
func CheckJoin(name, password string) error {
	var bad fault.Invalid
	bad.Check("name", checkAccountName(name))
	bad.Check("password", checkPassword(name, password))
	return bad.OrNil()
}
