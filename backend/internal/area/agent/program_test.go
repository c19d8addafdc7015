package agent_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/kernel/fault"
)

// TestProgramsAreServedByTheirChecksum: in parts, and another file under the same name is another program.
func TestProgramsAreServedByTheirChecksum(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programs := agent.NewPrograms(dir)
	if _, why := programs.Of("x86_64"); why == "" {
		t.Error("an empty directory has a program")
	}
	if _, why := programs.Of("riscv64"); why == "" {
		t.Error("there is a program for a machine that we do not build for")
	}
	content := bytes.Repeat([]byte("agent "), 100)
	sum := sha256.Sum256(content)
	write := func(content []byte) {
		if err := os.WriteFile(filepath.Join(dir, "kloigos-agent-amd64"), content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(content)
	program, why := programs.Of("x86_64")
	if why != "" || program.SHA256 != hex.EncodeToString(sum[:]) || program.Size != 600 {
		t.Fatalf("%+v, %q", program, why)
	}
	var got []byte
	for int64(len(got)) < program.Size {
		part, err := programs.Part(program.SHA256, int64(len(got)), 256)
		if err != nil || len(part) == 0 || len(part) > 256 {
			t.Fatalf("%d bytes, %v", len(part), err)
		}
		got = append(got, part...)
	}
	if !bytes.Equal(got, content) {
		t.Error("the parts are not the program")
	}
	for _, at := range []int64{-1, 600, 1 << 40} {
		if _, err := programs.Part(program.SHA256, at, 256); !errors.Is(err, fault.ErrNotFound) {
			t.Errorf("a part at %d: %v", at, err)
		}
	}
	write(append(content, '!'))
	if _, err := programs.Part(program.SHA256, 0, 256); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("a program that is gone: %v", err)
	}
}
