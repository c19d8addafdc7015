package app_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/cli/internal/app"
	"kloigos/cli/internal/shape"
)

func tree() *cobra.Command {
	return app.New(&shape.App{In: strings.NewReader(""), Getenv: func(string) string { return "" }})
}

// leaves are all commands that do something.
func leaves(cmd *cobra.Command) (all []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.HasSubCommands() {
			all = append(all, leaves(c)...)
		} else if c.Name() != "help" {
			all = append(all, c)
		}
	}
	return all
}

// noCommand are routes that no command is for, each with its reason.
var noCommand = map[string]string{
	"begin-passkey":           "a device answers in a browser",
	"create-passkey":          "a device answers in a browser",
	"begin-passkey-login":     "a device answers in a browser",
	"create-passkey-session":  "a device answers in a browser",
	"list-linkable-providers": "an identity is linked in a browser",
	"start-link":              "an identity is linked in a browser",
	"finish-link":             "an identity is linked in a browser",
}

// notInScripts are routes that no script can reach, each with its reason.
var notInScripts = map[string]string{
	"delete-passkey":       "a passkey comes from a device in a browser",
	"list-login-providers": "the login page of the web app calls it",
	"start-login":          "a login by a provider goes through a browser",
	"finish-login":         "a login by a provider goes through a browser",
	"delete-identity":      "an identity comes from a login by a provider",
}

func TestEveryRouteHasACommand(t *testing.T) {
	t.Parallel()
	called := map[string]bool{}
	for _, c := range leaves(tree()) {
		for _, id := range shape.RoutesOf(c) {
			if _, ok := api.RouteOf(id); !ok {
				t.Errorf("%s calls %q, which is no route", c.CommandPath(), id)
			}
			called[id] = true
		}
	}
	for _, r := range api.Routes {
		reason, excepted := noCommand[r.ID]
		switch {
		case r.Permission == "":
		case !excepted && !called[r.ID]:
			t.Errorf("route %s (%s) has no command: add it to its noun in cli/internal/noun", r.ID, r.Summary)
		case excepted && (called[r.ID] || reason == ""):
			t.Errorf("route %s is excepted, and has a command or no reason", r.ID)
		}
	}
	for id := range noCommand {
		if _, ok := api.RouteOf(id); !ok {
			t.Errorf("%q is excepted and is no route", id)
		}
	}
}

// Every command explains itself, and no two of one group have the same name.
func TestCommandsAreWellFormed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range leaves(tree()) {
		if c.Short == "" || c.RunE == nil && c.Run == nil {
			t.Errorf("%s has no help, or does nothing", c.CommandPath())
		}
		if seen[c.CommandPath()] {
			t.Errorf("there are two commands %s", c.CommandPath())
		}
		seen[c.CommandPath()] = true
	}
}

var quoted = regexp.MustCompile(`"[^"]*"|\S+`)

// TestExamplesAreCommands holds the examples of docs/cli.md and of the help
// against the commands: names, flags and number of arguments.
func TestExamplesAreCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range tree().Commands() {
		if !strings.Contains(string(text), "`"+c.Name()+"`") && !strings.Contains(string(text), "kloigos "+c.Name()) {
			t.Errorf("docs/cli.md does not name the command %s", c.Name())
		}
	}
	var examples []string
	for _, block := range strings.Split(string(text), "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		examples = append(examples, strings.Split(strings.TrimSpace(block), "\n")...)
	}
	for _, c := range leaves(tree()) {
		if c.Parent().Name() != "completion" && c.Example != "" {
			examples = append(examples, strings.Split(strings.TrimSpace(c.Example), "\n")...)
		}
	}
	if len(examples) < 30 {
		t.Fatalf("only %d examples were found", len(examples))
	}
	for _, example := range examples {
		words := quoted.FindAllString(strings.TrimSpace(example), -1)
		for i := range words {
			words[i] = strings.Trim(words[i], `"`)
		}
		if words[0] != "kloigos" {
			t.Errorf("%q is no command of kloigos", example)
			continue
		}
		root := tree()
		root.InitDefaultCompletionCmd(words[1:]...)
		cmd, rest, err := root.Find(words[1:])
		if err != nil || cmd.HasSubCommands() {
			t.Errorf("%q: there is no such command: %v", example, err)
			continue
		}
		cmd.InitDefaultHelpFlag()
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%q: %v", example, err)
			continue
		}
		if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil && !slices.Contains(rest, "--help") {
			t.Errorf("%q: %v", example, err)
		}
	}
}
