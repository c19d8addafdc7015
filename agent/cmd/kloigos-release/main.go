// Command kloigos-release makes release keys and signs builds of the agent. It runs where releases are made, on no backend and on
// no host.
//
//	kloigos-release key FILE                    makes FILE (the private key) and FILE.pub
//	kloigos-release sign -key FILE ... BUILD    writes BUILD.json and BUILD.json.minisig
//	kloigos-release verify -keys FILE BUILD     checks both against public keys
//
// The private key is encrypted if KLOIGOS_RELEASE_PASSWORD_FILE names a file with a password.
package main

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"aead.dev/minisign"

	"kloigos/agent/release"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kloigos-release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("use: kloigos-release key|sign|verify")
	}
	switch args[0] {
	case "key":
		return makeKey(args[1:])
	case "sign":
		return sign(args[1:])
	case "verify":
		return verify(args[1:])
	}
	return fmt.Errorf("unknown command %q: use key, sign or verify", args[0])
}

func password() (string, error) {
	file := os.Getenv("KLOIGOS_RELEASE_PASSWORD_FILE")
	if file == "" {
		return "", nil
	}
	content, err := os.ReadFile(file)
	return strings.TrimRight(string(content), "\n"), err
}

func makeKey(args []string) error {
	if len(args) != 1 {
		return errors.New("use: kloigos-release key FILE")
	}
	secret, err := password()
	if err != nil {
		return err
	}
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	var text []byte
	if secret != "" {
		text, err = minisign.EncryptKey(secret, private)
	} else {
		text, err = private.MarshalText()
	}
	if err != nil {
		return err
	}
	if err := writeNew(args[0], text, 0o600); err != nil {
		return err
	}
	line, err := public.MarshalText()
	if err != nil {
		return err
	}
	if err := writeNew(args[0]+".pub", append(line, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Printf("%s\n%s.pub\n", args[0], args[0])
	return nil
}

// writeNew writes a file that is not there: no key is ever overwritten.
func writeNew(path string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

func sign(args []string) error {
	flags := flag.NewFlagSet("sign", flag.ContinueOnError)
	key := flags.String("key", "", "file with the private key")
	version := flags.String("version", "", "version of the build, such as v1.4.0")
	arch := flags.String("arch", "", "amd64 or arm64")
	before := flags.String("lowest-before", "", "lowest version that a host may run before; none: any")
	days := flags.Int("days", 180, "days after which the build is not installed any more")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *key == "" || *days < 1 {
		return errors.New("use: kloigos-release sign -key FILE -version VERSION -arch ARCH [-lowest-before VERSION] [-days N] BUILD")
	}
	secret, err := password()
	if err != nil {
		return err
	}
	private, err := load(secret, *key)
	if err != nil {
		return err
	}
	build, err := os.Open(flags.Arg(0))
	if err != nil {
		return err
	}
	defer func() { _ = build.Close() }()
	text, signature, err := release.Sign(private, release.Manifest{
		Version: *version, Arch: *arch, LowestBefore: *before, Expires: time.Now().AddDate(0, 0, *days),
	}, build)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(flags.Arg(0)+release.ManifestEnding, text, 0o644),       // public
		os.WriteFile(flags.Arg(0)+release.SignatureEnding, signature, 0o644)) // public
}

func load(secret, file string) (minisign.PrivateKey, error) {
	content, err := release.Limited(file, 4<<10)
	if err != nil {
		return minisign.PrivateKey{}, fmt.Errorf("read the private key: %w", err)
	}
	if minisign.IsEncrypted(content) {
		return minisign.DecryptKey(secret, content)
	}
	var key minisign.PrivateKey
	return key, key.UnmarshalText(content)
}

func verify(args []string) error {
	flags := flag.NewFlagSet("verify", flag.ContinueOnError)
	file := flags.String("keys", "", "file with public keys")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *file == "" {
		return errors.New("use: kloigos-release verify -keys FILE BUILD")
	}
	keys, err := release.LoadKeys(*file)
	if err != nil {
		return err
	}
	b, err := release.Read(flags.Arg(0))
	if err != nil {
		return err
	}
	m, err := keys.Verify(b.Text, b.Signature)
	if err != nil {
		return err
	}
	fmt.Printf("%s %s for %s, expires %s\n", m.Program, m.Version, m.Arch, m.Expires.Format(time.DateOnly))
	return nil
}
