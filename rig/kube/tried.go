package kube

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// TriedFile holds what the last test of clusters on VMs that passed was about. Whoever changes that runs the test again, or CI does.
const TriedFile = "rig/kube/tried.txt"

// metByVMs are the files that only that test tries as they are: what runs on hosts, and the test itself.
var metByVMs = []string{
	"playbooks/kube*/*", "playbooks/roles/kube*/*/*", "playbooks/library/kloigos_kube*.py", "playbooks/library/kloigos_etcd*.py",
	"playbooks/module_utils/*.py", "rig/kube/*.go", "rig/kube/kubevm/*.go", "rig/kube/kubevm/guest/*", "rig/kube/cmd/kubeanswer/*.go", "rig/kube/cmd/kubepause/*.go",
}

// TriedDigest is the SHA-256 of all files that the test of clusters on VMs meets, with their names. root is the source tree.
func TriedDigest(root string) (string, error) {
	sum := sha256.New()
	for _, pattern := range metByVMs {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err == nil && len(names) == 0 {
			err = errors.New("there is none")
		}
		if err != nil {
			return "", fmt.Errorf("files %s: %w", pattern, err)
		}
		slices.Sort(names)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			short, err := filepath.Rel(root, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "%s %d\n", filepath.ToSlash(short), len(text))
			sum.Write(text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Tried tells whether the test of clusters on VMs passed with just these files.
func Tried(root string) (bool, error) {
	now, err := TriedDigest(root)
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(filepath.Join(root, TriedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	kept, _, _ := bytes.Cut(text, []byte(" "))
	return err == nil && string(kept) == now, err
}

// WriteTried notes that the test passed with the files of a digest, and in which form.
func WriteTried(root, digest, form string) error {
	return os.WriteFile(filepath.Join(root, TriedFile), []byte(strings.TrimSpace(digest+" "+form)+"\n"), 0o600)
}
