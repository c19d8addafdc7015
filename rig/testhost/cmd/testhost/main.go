// Command testhost starts and stops throwaway Debian machines; see the README
// beside the package kloigos/rig/testhost, which does all of the work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"kloigos/rig/testhost"
)

const usage = `testhost makes a real Debian 12 host out of nothing and throws it away again.

  testhost image [--cache C]                       build the image, or find it
  testhost up    --dir D [--cache C] [--detach]    start a machine, write D/vm.json
                 [--authorize KEYFILE]... [--cpus N] [--nodes N] [--memory MiB]
                 [--disk GiB] [--hostname NAME] [--addresses A,B|none] [--accel kvm|tcg]
  testhost ssh   --dir D [-- COMMAND...]           log in, or run a command
  testhost down  --dir D [--remove]                stop it; --remove deletes D too

Without --detach, up stays in the foreground and ends the machine with itself.
A directory keeps its disks and keys: up after down is the same machine again.
`

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	if err := dispatch(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "testhost:", err)
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() > 0 {
			os.Exit(exit.ExitCode())
		}
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return errors.New("no command")
	}
	switch command, rest := args[0], args[1:]; command {
	case "image":
		return image(ctx, rest)
	case "up":
		return up(ctx, rest)
	case "ssh":
		return login(rest)
	case "down":
		return down(rest)
	case "help", "-h", "--help":
		fmt.Print(usage)
		return nil
	default:
		fmt.Fprint(os.Stderr, usage)
		return fmt.Errorf("unknown command %q", command)
	}
}

// flags makes a flag set that reports errors in our words.
func flags(name string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	return set
}

func parse(set *flag.FlagSet, args []string) error {
	if err := set.Parse(args); err != nil {
		return fmt.Errorf("%s: %w (testhost help shows the usage)", set.Name(), err)
	}
	return nil
}

func image(ctx context.Context, args []string) error {
	set := flags("image")
	cache := set.String("cache", "", "")
	if err := parse(set, args); err != nil {
		return err
	}
	image, err := testhost.EnsureImage(ctx, *cache, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Println(image.Dir)
	return nil
}

func up(ctx context.Context, args []string) error {
	var options testhost.Options
	var authorize []string
	set := flags("up")
	cache := set.String("cache", "", "")
	addresses := set.String("addresses", "", "")
	set.StringVar(&options.Dir, "dir", "", "")
	set.BoolVar(&options.Detach, "detach", false, "")
	set.IntVar(&options.CPUs, "cpus", 0, "")
	set.IntVar(&options.Nodes, "nodes", 0, "")
	set.IntVar(&options.MemoryMiB, "memory", 0, "")
	set.IntVar(&options.DiskGiB, "disk", 0, "")
	set.StringVar(&options.Hostname, "hostname", "", "")
	set.StringVar(&options.Accelerator, "accel", "", "")
	set.Func("authorize", "", func(file string) error { authorize = append(authorize, file); return nil })
	if err := parse(set, args); err != nil {
		return err
	}
	if options.Dir == "" {
		return errors.New("up: --dir is missing")
	}
	switch *addresses {
	case "":
	case "none":
		options.Addresses = []string{}
	default:
		options.Addresses = strings.Split(*addresses, ",")
	}
	keys, err := readKeys(authorize)
	if err != nil {
		return err
	}
	if err := testhost.CheckPrograms(); err != nil {
		return err
	}
	if options.Image, err = testhost.EnsureImage(ctx, *cache, os.Stderr); err != nil {
		return err
	}
	vm, err := testhost.Start(ctx, options)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := vm.AuthorizeKey(ctx, key); err != nil {
			return errors.Join(err, vm.Stop())
		}
	}
	if vm.Silent != "" {
		fmt.Fprintln(os.Stderr, "testhost: a first start gave no greeting, this is the second:", vm.Silent)
	}
	fmt.Printf("%s@%s port %d, accelerator %s; %s\n", vm.User, vm.SSHHost, vm.SSHPort, vm.Accelerator, filepath.Join(vm.Dir, "vm.json"))
	if options.Detach {
		return nil
	}
	select {
	case <-ctx.Done():
		return vm.Stop()
	case <-vm.Done():
		fmt.Fprintln(os.Stderr, "testhost: the machine was switched off")
		return nil
	}
}

// readKeys reads files of public keys, one on each line.
func readKeys(files []string) ([]string, error) {
	var keys []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the key to authorize: %w", err)
		}
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				keys = append(keys, line)
			}
		}
	}
	return keys, nil
}

func login(args []string) error {
	set := flags("ssh")
	dir := set.String("dir", "", "")
	if err := parse(set, args); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("ssh: --dir is missing")
	}
	vm, err := testhost.Open(*dir)
	if err != nil {
		return err
	}
	ssh := exec.Command("ssh", vm.SSHArgs(set.Args()...)...)
	ssh.Stdin, ssh.Stdout, ssh.Stderr = os.Stdin, os.Stdout, os.Stderr
	return ssh.Run()
}

func down(args []string) error {
	set := flags("down")
	dir := set.String("dir", "", "")
	remove := set.Bool("remove", false, "")
	if err := parse(set, args); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("down: --dir is missing")
	}
	if *remove {
		return testhost.RemoveDir(*dir)
	}
	return testhost.StopDir(*dir)
}
