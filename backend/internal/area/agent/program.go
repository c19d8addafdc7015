package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"kloigos/backend/internal/kernel/fault"
)

// Program is the program of an agent for one architecture.
type Program struct {
	SHA256 string // in hexadecimal
	Size   int64
}

// architectures are the names of machines, as the kernel has them, with those of files.
var architectures = map[string]string{"x86_64": "amd64", "aarch64": "arm64"}

// maxProgram bounds a file that is taken for a program.
const maxProgram = 64 << 20

// Programs are the programs in a directory. A file is read again when its size or time changes.
type Programs struct {
	dir string

	mu    sync.Mutex
	known map[string]hashed // by path
}

type hashed struct {
	Program
	changed time.Time
}

// NewPrograms finds the programs in a directory.
func NewPrograms(dir string) *Programs { return &Programs{dir: dir, known: map[string]hashed{}} }

// Of is the program for a machine; why says why there is none.
func (p *Programs) Of(machine string) (program Program, why string) {
	name, ok := architectures[machine]
	if !ok {
		return Program{}, fmt.Sprintf("there is no agent for machines of type %q", plain(machine))
	}
	path := p.path(name)
	program, err := p.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Program{}, fmt.Sprintf("the backend has no %s; ./task build makes it, and KLOIGOS_AGENT_DIR says where it is", path)
	}
	if err != nil {
		return Program{}, "the backend cannot read " + path
	}
	return program, ""
}

func (p *Programs) path(name string) string { return filepath.Join(p.dir, "kloigos-agent-"+name) }

// read tells what a file is. Its checksum is computed once.
func (p *Programs) read(path string) (Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return Program{}, err
	}
	if k, ok := p.known[path]; ok && k.Size == info.Size() && k.changed.Equal(info.ModTime()) {
		return k.Program, nil
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxProgram {
		return Program{}, fmt.Errorf("%s is no program", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return Program{}, err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return Program{}, err
	}
	k := hashed{Program{hex.EncodeToString(sum.Sum(nil)), n}, info.ModTime()}
	p.known[path] = k
	return k.Program, nil
}

// Part is a part of the program with a checksum: at most limit bytes from offset on. fault.ErrNotFound where there is none.
func (p *Programs) Part(sum string, offset, limit int64) ([]byte, error) {
	if p == nil || offset < 0 {
		return nil, fault.ErrNotFound
	}
	for _, name := range architectures {
		path := p.path(name)
		program, err := p.read(path)
		if err != nil || program.SHA256 != sum || offset >= program.Size {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("open the program of the agent: %w", err)
		}
		defer func() { _ = f.Close() }()
		part := make([]byte, min(limit, program.Size-offset))
		if _, err := f.ReadAt(part, offset); err != nil {
			return nil, fmt.Errorf("read the program of the agent: %w", err)
		}
		return part, nil
	}
	return nil, fault.ErrNotFound
}
