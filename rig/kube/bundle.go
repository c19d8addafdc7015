package kube

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// AnswerImage is in each bundle that is made here, for tests: a pod of it answers on AnswerPort.
const (
	AnswerImage = "kloigos.local/answer:1"
	AnswerPort  = 8080
)

// BundlePrograms are those that a bundle is made of.
func BundlePrograms() []string {
	return slices.DeleteFunc(Programs(), func(p string) bool { return p == kamaji || p == kwok })
}

// Bundle makes the bundle of docs/kubernetes.md out of programs that were built, without any registry: programs of the host under bin,
// and images under the names by which kubeadm asks for them. It returns the SHA-256. root is the source tree.
//
// It has no CoreDNS, and the etcd that it calls by kubeadm's name is EtcdVersion.
func (b Builder) Bundle(ctx context.Context, root, file string) (digest string, err error) {
	if missing := b.Missing(BundlePrograms()...); len(missing) > 0 {
		return "", fmt.Errorf("not built for %s: %s; run ./task kube:binaries -- --version %[1]s all", b.version(), strings.Join(missing, ", "))
	}
	images, clean, err := b.images(ctx, root)
	if err != nil {
		return "", err
	}
	defer clean()
	made, err := os.Create(file + ".new")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	hash := sha256.New()
	out := tar.NewWriter(io.MultiWriter(made, hash))
	for _, program := range []string{"kubeadm", "kubelet", "kubectl", etcdutl} {
		content, err := os.ReadFile(b.Path(program))
		if err != nil {
			return "", err
		}
		if err := writeFile(out, "bin/"+program, content, 0o755); err != nil {
			return "", err
		}
	}
	for _, i := range images {
		fmt.Fprintf(b.Log, "Image %s\n", i.name)
		content, err := i.archive()
		if err != nil {
			return "", err
		}
		if err := writeFile(out, "images/"+short(i.name)+".tar", content, 0o644); err != nil {
			return "", err
		}
	}
	if err := out.Close(); err != nil {
		return "", err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// short is the last part of an image's name, without its tag.
func short(name string) string {
	name, _, _ = strings.Cut(path.Base(name), ":")
	return name
}

// images are those that kubeadm asks for, except CoreDNS, and the one for tests. clean removes what they are made of.
func (b Builder) images(ctx context.Context, root string) (all []image, clean func(), err error) {
	out, err := b.run(ctx, root, b.Path("kubeadm"), "config", "images", "list", "--kubernetes-version", b.version())
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "kloigos-images-")
	if err != nil {
		return nil, nil, err
	}
	clean = func() { _ = os.RemoveAll(dir) }
	for _, program := range []string{"kubepause", "kubeanswer"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, program), "./rig/kube/cmd/"+program)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if said, err := cmd.CombinedOutput(); err != nil {
			clean()
			return nil, nil, fmt.Errorf("build %s: %w: %s", program, err, said)
		}
	}
	for _, name := range strings.Fields(string(out)) {
		i, err := b.image(ctx, name, dir)
		if err != nil {
			clean()
			return nil, nil, err
		}
		if i.name != "" {
			all = append(all, i)
		}
	}
	const answer = "/usr/local/bin/answer"
	return append(all, image{AnswerImage, map[string]string{answer: filepath.Join(dir, "kubeanswer")}, []string{answer}}), clean, nil
}

// image is one that kubeadm asks for; without a name if it is not made here.
func (b Builder) image(ctx context.Context, name, dir string) (image, error) {
	program := short(name)
	at := "/usr/local/bin/" + program
	switch {
	case program == "coredns":
		return image{}, nil
	case program == "pause":
		return image{name, map[string]string{"/pause": filepath.Join(dir, "kubepause")}, []string{"/pause"}}, nil
	case !slices.Contains(Programs(), program):
		return image{}, fmt.Errorf("kubeadm asks for the image %s, which nobody here can make", name)
	}
	made := image{name, map[string]string{at: b.Path(program)}, []string{at}}
	if program == "kube-proxy" { // it calls nft
		nft, err := withLibraries(ctx, "/usr/sbin/nft")
		if err != nil {
			return image{}, err
		}
		for _, file := range nft {
			made.files[file] = file
		}
	}
	return made, nil
}

var library = regexp.MustCompile(`(?m)(/[^\s:()]+) \(0x`)

// withLibraries is a program of this machine with the libraries that it loads.
func withLibraries(ctx context.Context, program string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "ldd", program).Output()
	if err != nil {
		return nil, fmt.Errorf("find the libraries of %s, of the package nftables: %w", program, err)
	}
	all := []string{program}
	for _, found := range library.FindAllStringSubmatch(string(out), -1) {
		all = append(all, found[1])
	}
	return all, nil
}
