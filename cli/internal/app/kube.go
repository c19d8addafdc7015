package app

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/cli/internal/shape"
)

// kubeCommand is about kubeconfigs of one's own.
func kubeCommand(a *shape.App) *cobra.Command {
	cmd := shape.Group("kube", "Access to Kubernetes clusters")
	cmd.AddCommand(shape.Calls(kubeLoginCommand(a), "issue-kubeconfig"))
	return cmd
}

func kubeLoginCommand(a *shape.App) *cobra.Command {
	var in api.IssueKubeconfig
	var file string
	cmd := &cobra.Command{
		Use: "login CLUSTER", Short: "Write a kubeconfig with a short client certificate of your own",
		Long: "Asks for a client certificate of your own account and writes a kubeconfig, which only you can read.\n" +
			"The certificate ends by itself after one hour. Your role in the cluster is what its bindings say.",
		Example: "  kloigos kube login apps\n  kloigos kube login apps --hours 8 --file ~/.kube/apps",
		Args:    shape.Exactly("CLUSTER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			found, err := c.IssueKubeconfig(cmd.Context(), args[0], in)
			if err != nil {
				return err
			}
			if file == "" {
				if file, err = kubeconfigFile(found.Cluster); err != nil {
					return err
				}
			}
			if err := writePrivate(file, found.Kubeconfig); err != nil {
				return err
			}
			a.Say("You are %s in %s until %s. Now run:", found.Role, found.Cluster, found.ExpiresAt.Local().Format("15:04"))
			_, err = fmt.Fprintf(a.Out, "export KUBECONFIG=%s\n", file)
			return err
		},
	}
	cmd.Flags().IntVar(&in.Hours, "hours", 1, "how long the certificate is good for, at most 24")
	cmd.Flags().StringVar(&file, "file", "", "file to write (default: ~/.kube/kloigos-CLUSTER)")
	return cmd
}

// fileName is what the name of a cluster may be to stand in the name of a file.
var fileName = regexp.MustCompile(`^[a-z0-9-]+$`)

func kubeconfigFile(cluster string) (string, error) {
	if !fileName.MatchString(cluster) {
		return "", shape.Fail(shape.CodeError, "the cluster has an unusable name; choose a file with --file")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find your home directory: %w; choose a file with --file", err)
	}
	return filepath.Join(home, ".kube", "kloigos-"+cluster), nil
}

// writePrivate replaces a file by one that only its owner can read. Nobody finds half a file.
func writePrivate(file, text string) error {
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	temporary, err := os.CreateTemp(folder, ".kloigos-*")
	if err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.WriteString(text) // CreateTemp made it for the owner alone
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	return nil
}
