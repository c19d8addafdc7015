// Command kloigos is the command line of Kloigos; docs/cli.md describes it.
package main

import (
	"os"

	"kloigos/cli/internal/app"
)

func main() { os.Exit(app.Main()) }
