package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// ResetPassword writes a link to out with which a person sets another password, once. It is for whoever has the server and
// no operator who can log in.
func ResetPassword(ctx context.Context, databaseURL, name string, out io.Writer) error {
	link := iam.NewLink()
	err := onAccount(ctx, databaseURL, name, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Account]) error {
		_, err := iam.ResetPassword(ctx, tx, ref, link)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "link: %s\nUse it once within 7 days: kloigos password set\n", link)
	return err
}

// ResetSecondFactor ends the second factor and the passkeys of a person who lost the device and the recovery codes.
func ResetSecondFactor(ctx context.Context, databaseURL, name string, out io.Writer) error {
	err := onAccount(ctx, databaseURL, name, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Account]) error {
		_, err := iam.ResetSecondFactor(ctx, tx, ref, 0)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "The second factor of %s is reset: logins ask for the password only.\n", name)
	return err
}

// onAccount runs an intent on the account of a person, in the name of this machine's operator.
func onAccount(ctx context.Context, databaseURL, name string, do func(context.Context, *intent.Tx, scope.Ref[iam.Account]) error) error {
	opened, err := db.Open(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer opened.Close()
	_, ref, err := iam.FindPerson(ctx, opened.Reader, name)
	if errors.Is(err, fault.ErrNotFound) {
		return fmt.Errorf("no person has an account %q", name)
	}
	if err != nil {
		return fmt.Errorf("look for the account: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read the name of this machine: %w", err)
	}
	call := intent.Call{Actor: audit.Actor{Kind: audit.Init, Name: "command line on " + host}, Installation: true}
	return intent.Engine{DB: opened}.Do(ctx, call, func(tx *intent.Tx) error { return do(ctx, tx, ref) })
}
