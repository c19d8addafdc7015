package testhost

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// The ways in which QEMU runs a guest's instructions.
const (
	accelKVM = "kvm"
	accelTCG = "tcg"
)

// kvmTrial bounds the trial of KVM. Where KVM works well, a kernel boots in
// about two seconds; where it takes longer than this, emulation is as fast.
const kvmTrial = 8 * time.Second

// chooseAccelerator returns accelKVM where a kernel really boots with it and
// accelTCG otherwise: /dev/kvm may be there, open, run a boot sector, and then
// hang in the kernel (seen in a nested machine).
func chooseAccelerator(ctx context.Context, image Image) string {
	device, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return accelTCG
	}
	device.Close()
	if answer := rememberedAccelerator(image); answer != "" {
		return answer
	}
	answer := accelTCG
	if tryKVM(ctx, image) {
		answer = accelKVM
	}
	if ctx.Err() == nil {
		rememberAccelerator(image, answer)
	}
	return answer
}

// tryKVM boots the image's kernel up to the point where it misses a first
// process, panics, and resets, which ends QEMU with success.
func tryKVM(ctx context.Context, image Image) bool {
	ctx, cancel := context.WithTimeout(ctx, kvmTrial)
	defer cancel()
	// A hung trial must not outlive us; see spawn for the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, program("qemu-system-x86_64"), trialArgs(image)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second
	return cmd.Run() == nil
}

func trialArgs(image Image) []string {
	return []string{
		"-accel", accelKVM, "-cpu", "host", "-smp", "2", "-m", "512",
		"-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", "-no-reboot",
		"-kernel", image.Kernel, "-initrd", image.Initrd, "-append", "quiet panic=-1 rdinit=/nothing root=/dev/nothing",
	}
}

// The answer is remembered in the cache for each user (who may open /dev/kvm
// differs) and holds until this machine boots again.
func acceleratorMemory(image Image) (file, boot string) {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", ""
	}
	name := fmt.Sprintf("accelerator-%d", os.Geteuid())
	return filepath.Join(filepath.Dir(image.Dir), name), strings.TrimSpace(string(content))
}

func rememberedAccelerator(image Image) string {
	file, boot := acceleratorMemory(image)
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	switch fields := strings.Fields(string(content)); {
	case len(fields) == 2 && fields[0] == boot && (fields[1] == accelKVM || fields[1] == accelTCG):
		return fields[1]
	default:
		return ""
	}
}

func rememberAccelerator(image Image, answer string) {
	if file, boot := acceleratorMemory(image); file != "" {
		// The cache may belong to someone else. Then the next machine tries again.
		_ = writeFile(file, []byte(boot+" "+answer+"\n"), 0o600)
	}
}
