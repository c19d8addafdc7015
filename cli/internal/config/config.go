// Package config owns the file of the command line: one context for each
// server, with its token. It refuses a file that other users can read.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"
)

// Context is one server and how to use it.
type Context struct {
	Name      string    `yaml:"name"`
	Server    string    `yaml:"server"`
	CAFile    string    `yaml:"ca_file,omitempty"`
	Account   string    `yaml:"account,omitempty"`
	Token     string    `yaml:"token,omitempty"`
	TokenID   string    `yaml:"token_id,omitempty"`
	ExpiresAt time.Time `yaml:"expires_at,omitempty"`
	Workspace string    `yaml:"workspace,omitempty"` // what commands are about, where they name none
}

// File is the whole configuration.
type File struct {
	Current  string    `yaml:"current,omitempty"`
	Contexts []Context `yaml:"contexts"`
}

// Path returns the place of the file: $XDG_CONFIG_HOME/kloigos/config.yaml, or
// below ~/.config.
func Path(getenv func(string) string) (string, error) {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the specification says to ignore a relative one
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("neither XDG_CONFIG_HOME nor HOME says where the configuration is")
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "kloigos", "config.yaml"), nil
}

// Load reads the file. A missing file is an empty one.
func Load(path string) (File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, fmt.Errorf("read the configuration: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return File{}, fmt.Errorf("other users can read the tokens in %s; run: chmod 600 %s", path, path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("read the configuration: %w", err)
	}
	var f File
	if err := yaml.Unmarshal(raw, &f); err != nil {
		return File{}, fmt.Errorf("read %s: %w", path, err)
	}
	return f, nil
}

// Update loads the file, lets change work on it and writes it, so that two
// commands at once lose nothing of each other's. If change fails, nothing is
// written.
func Update(path string, change func(*File) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock the configuration: %w", err)
	}
	f, err := Load(path)
	if err != nil {
		return err
	}
	if err := change(&f); err != nil {
		return err
	}
	raw, err := yaml.Marshal(f)
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return replace(path, raw)
}

// replace writes a file that nobody ever sees half of; CreateTemp makes it 0600.
func replace(path string, raw []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".config-*")
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(raw)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return os.Rename(tmp.Name(), path)
}

// Find returns the context of this name; nil if there is none.
func (f *File) Find(name string) *Context {
	if i := slices.IndexFunc(f.Contexts, func(c Context) bool { return c.Name == name }); i >= 0 {
		return &f.Contexts[i]
	}
	return nil
}

// Set adds a context, or replaces the one of the same name.
func (f *File) Set(c Context) {
	if old := f.Find(c.Name); old != nil {
		*old = c
		return
	}
	f.Contexts = append(f.Contexts, c)
}

// Delete removes a context and tells whether it was there.
func (f *File) Delete(name string) bool {
	before := len(f.Contexts)
	f.Contexts = slices.DeleteFunc(f.Contexts, func(c Context) bool { return c.Name == name })
	if f.Current == name {
		f.Current = ""
	}
	return len(f.Contexts) < before
}
