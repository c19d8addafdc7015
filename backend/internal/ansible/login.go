package ansible

import (
	"context"
	"errors"
)

// ErrLoginRefused says that a host proved its key, and does not let us in.
var ErrLoginRefused = errors.New("the host refused the login")

// LogIn logs in to a host over a connection of its own, and does no more. ErrLoginRefused if the host lets the key not in. Any other error
// is in words for people.
func LogIn(ctx context.Context, h *Host) error {
	client, unknown, err := connect(ctx, h, nil)
	switch {
	case err == nil:
		return client.Close()
	case loginRefused(err):
		return ErrLoginRefused
	default:
		return errors.New(whyNot(ctx, h, unknown, err))
	}
}
