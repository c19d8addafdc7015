package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"kloigos/backend/internal/app"
	"kloigos/backend/internal/kernel/config"
)

const keysetUsage = `kloigos-backend keyset status     list the keys, and how many values each one sealed
kloigos-backend keyset add        add a key that opens and does not seal yet
kloigos-backend keyset promote    have the newest key seal
kloigos-backend keyset reseal     seal again what older keys sealed, beside running backends
kloigos-backend keyset retire     take the older keys out of use; refused while they sealed anything

A rotation is add, promote, reseal, retire, in this order. After each but reseal, copy the file to
every backend and restart one after the other. Each command says what comes next.

Of the settings they read KLOIGOS_DATABASE_URL and KLOIGOS_KEYSET_FILE, from the environment.
`

// keysetCommand is kloigos-backend keyset; what it returns is the exit code.
func keysetCommand(args []string, stdout, stderr io.Writer) int {
	does := map[string]func(context.Context, config.Config, io.Writer) error{
		"status": app.KeysetStatus, "add": app.AddKey, "promote": app.PromoteKey, "reseal": app.Reseal, "retire": app.RetireKeys,
	}
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
		_, _ = io.WriteString(stdout, keysetUsage)
		return 0
	}
	if len(args) != 1 || does[args[0]] == nil {
		_, _ = io.WriteString(stderr, keysetUsage)
		return 2
	}
	cfg, err := config.Load(nil, os.Getenv)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		err = does[args[0]](ctx, cfg, stdout)
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "kloigos-backend keyset %s: %v\n", args[0], err)
		return 1
	}
	return 0
}
