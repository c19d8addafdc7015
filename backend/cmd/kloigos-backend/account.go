package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"kloigos/backend/internal/app"
)

const accountUsage = `kloigos-backend account reset-password NAME
kloigos-backend account reset-second-factor NAME

For an account that nobody can help otherwise, such as the last operator's. The first prints
a link with which the person sets another password, once, within 7 days. The second ends
the codes that logins of the account ask for. Each writes an event that the account sees.

Of the settings they read KLOIGOS_DATABASE_URL only, from the environment.
`

// accountCommand is kloigos-backend account; what it returns is the exit code.
func accountCommand(args []string, stdout, stderr io.Writer) int {
	does := map[string]func(ctx context.Context, databaseURL, name string, out io.Writer) error{
		"reset-password": app.ResetPassword, "reset-second-factor": app.ResetSecondFactor,
	}
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
		_, _ = io.WriteString(stdout, accountUsage)
		return 0
	}
	if len(args) != 2 || does[args[0]] == nil {
		_, _ = io.WriteString(stderr, accountUsage)
		return 2
	}
	url := os.Getenv(databaseVariable)
	if url == "" {
		_, _ = fmt.Fprintf(stderr, "kloigos-backend account: %s is not set\n", databaseVariable)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := does[args[0]](ctx, url, args[1], stdout); err != nil {
		_, _ = fmt.Fprintf(stderr, "kloigos-backend account %s: %v\n", args[0], err)
		return 1
	}
	return 0
}
