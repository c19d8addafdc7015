package testhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Image is a built root file system with the kernel and the initrd that boot
// it. Machines never write to it.
type Image struct {
	Dir    string // the image's directory in the cache
	Hash   string // of the recipe
	Root   string // raw ext4 image
	Kernel string
	Initrd string
}

// ErrNeedsRoot: the image is not there yet, and only root can build it.
var ErrNeedsRoot = errors.New("building the image of a test host needs root (its files belong to several users): " +
	"run the command `testhost image` once with sudo and the same --cache; starting machines then needs no root")

func imageAt(dir, hash string) Image {
	return Image{
		Dir:    dir,
		Hash:   hash,
		Root:   filepath.Join(dir, "root.img"),
		Kernel: filepath.Join(dir, "vmlinuz"),
		Initrd: filepath.Join(dir, "initrd.img"),
	}
}

// EnsureImage returns the image of the present recipe, building it first if the
// cache lacks it (one to three minutes, mostly downloads). Any number of processes may
// ask at once: one builds, the others wait for it. cacheDir "" means
// DefaultCacheDir. Building needs root; an image that is there can be used by
// everyone who may read it. Progress goes to log, which may be nil.
func EnsureImage(ctx context.Context, cacheDir string, log io.Writer) (Image, error) {
	if log == nil {
		log = io.Discard
	}
	if cacheDir == "" {
		var err error
		if cacheDir, err = DefaultCacheDir(); err != nil {
			return Image{}, err
		}
	}
	// mmdebstrap changes its directory, so that paths must be absolute.
	cacheDir, err := filepath.Abs(cacheDir)
	if err != nil {
		return Image{}, fmt.Errorf("find the cache directory: %w", err)
	}
	recipe, err := NewRecipe()
	if err != nil {
		return Image{}, err
	}
	hash, err := recipe.Hash()
	if err != nil {
		return Image{}, err
	}
	image := imageAt(filepath.Join(cacheDir, "testhost-"+hash), hash)
	if image.complete() {
		return image, nil
	}

	if err := missing(buildRequirements); err != nil {
		return Image{}, err
	}
	// Before the look at who builds: the directory stays its user's, whoever fills it.
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return Image{}, fmt.Errorf("make the image cache: %w", err)
	}
	if os.Geteuid() != 0 {
		return Image{}, ErrNeedsRoot
	}
	unlock, err := lockFile(ctx, filepath.Join(cacheDir, "testhost-"+hash+".lock"))
	if err != nil {
		return Image{}, fmt.Errorf("wait for the image's lock: %w", err)
	}
	defer unlock()
	if image.complete() { // someone else built it meanwhile
		return image, nil
	}
	start := time.Now()
	fmt.Fprintf(log, "testhost: building the image %s in %s\n", hash, cacheDir)
	if err := build(ctx, recipe, image, log); err != nil {
		return Image{}, fmt.Errorf("build the image %s: %w", hash, err)
	}
	fmt.Fprintf(log, "testhost: image built in %s\n", time.Since(start).Round(time.Second))
	return image, nil
}

// complete tells whether the image can be used: its directory appears by one
// rename, after everything in it.
func (i Image) complete() bool {
	_, err := os.Stat(i.Dir)
	return err == nil
}

// build makes the image beside its place and moves it there at the end. The
// caller holds the image's lock, so a leftover of a build that was killed is
// nobody's and is removed.
func build(ctx context.Context, recipe Recipe, image Image, log io.Writer) error {
	work := filepath.Join(filepath.Dir(image.Dir), ".building-"+image.Hash)
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("remove an unfinished build: %w", err)
	}
	// A killed mmdebstrap may leave mounts below its root: RemoveAll then fails
	// on the next build instead of following them, because they are busy.
	defer os.RemoveAll(work)
	recipeDir, root, out := filepath.Join(work, "recipe"), filepath.Join(work, "root"), filepath.Join(work, "image")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := copyRecipe(recipe, recipeDir); err != nil {
		return err
	}

	fmt.Fprintf(log, "testhost: unpacking Debian %s\n", release)
	if err := run(ctx, log, "mmdebstrap", mmdebstrapArgs(recipe, recipeDir, root)...); err != nil {
		return err
	}
	init, err := fs.ReadFile(recipe.Files, "init")
	if err != nil {
		return fmt.Errorf("read the init script: %w", err)
	}
	initrd, err := buildInitrd(root, init, recipe.Modules)
	if err != nil {
		return fmt.Errorf("make the initrd: %w", err)
	}
	built := imageAt(out, image.Hash)
	if err := os.WriteFile(built.Initrd, initrd, 0o644); err != nil {
		return err
	}
	kernels, err := filepath.Glob(filepath.Join(root, "boot/vmlinuz-*"))
	if err != nil || len(kernels) != 1 {
		return fmt.Errorf("find the guest's kernel: %d in /boot, want 1", len(kernels))
	}
	kernel, err := os.ReadFile(kernels[0])
	if err != nil {
		return fmt.Errorf("read the guest's kernel: %w", err)
	}
	if err := os.WriteFile(built.Kernel, kernel, 0o644); err != nil {
		return err
	}

	fmt.Fprintln(log, "testhost: making the root file system")
	if err := run(ctx, log, "mke2fs", mke2fsArgs(recipe, root, built.Root)...); err != nil {
		return err
	}
	if err := os.Rename(out, image.Dir); err != nil {
		return fmt.Errorf("put the image in place: %w", err)
	}
	return nil
}

func mmdebstrapArgs(recipe Recipe, recipeDir, root string) []string {
	return []string{
		"--mode=root",
		"--variant=minbase",
		"--include=" + strings.Join(recipe.Packages, ","),
		// Pages that nobody reads there, and an initrd that we replace by our own.
		"--dpkgopt=path-exclude=/usr/share/man/*",
		"--dpkgopt=path-exclude=/usr/share/locale/*",
		"--dpkgopt=path-exclude=/usr/share/doc/*",
		"--dpkgopt=path-exclude=/etc/kernel/postinst.d/initramfs-tools",
		`--aptopt=Acquire::Retries "3"`,
		"--customize-hook=" + filepath.Join(recipeDir, "customize"),
		release,
		root,
		filepath.Join(recipeDir, "debian.sources"),
	}
}

func mke2fsArgs(recipe Recipe, root, file string) []string {
	return []string{
		"-q", "-F", "-t", "ext4", "-L", "testhost", "-m", "0", "-J", "size=32",
		// Nothing is left for the guest's kernel to initialize at run time: that
		// would copy blocks into the overlay of every machine.
		"-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard",
		"-N", "262144",
		"-d", root, file, fmt.Sprintf("%dG", recipe.GiB),
	}
}

// copyRecipe puts the guest folder and apt's sources where mmdebstrap and its
// hook find them.
func copyRecipe(recipe Recipe, dir string) error {
	if err := os.CopyFS(dir, recipe.Files); err != nil {
		return fmt.Errorf("unpack the guest files: %w", err)
	}
	if err := os.Chmod(filepath.Join(dir, "customize"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "debian.sources"), []byte(recipe.Sources), 0o644)
}

// run runs a program in a process group of its own, ends the whole group when
// ctx does, and puts the end of its output into the error. The program is told
// to end when this process is killed; see spawn for the thread.
func run(ctx context.Context, log io.Writer, name string, args ...string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var tail tailBuffer
	cmd := exec.CommandContext(ctx, program(name), args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	cmd.Stdout = io.MultiWriter(log, &tail)
	cmd.Stderr = cmd.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	// mmdebstrap unmounts and cleans up on SIGTERM.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Run(); err != nil {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return fmt.Errorf("%s: %w\n%s", name, err, tail.String())
	}
	return nil
}

// tailBuffer keeps the last few kilobytes that are written to it.
type tailBuffer struct{ bytes.Buffer }

const tailSize = 4 << 10

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.Buffer.Write(p)
	if extra := t.Buffer.Len() - tailSize; extra > 0 {
		t.Buffer.Next(extra)
	}
	return len(p), nil
}

// lockFile takes an exclusive lock that ends with the process. It polls, since
// flock(2) can't be interrupted by a context.
func lockFile(ctx context.Context, name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			_ = file.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
