package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// ErrUnsafe is wrapped by every refusal of an artifact: it is broken, hostile, or larger than allowed.
var ErrUnsafe = errors.New("unsafe bundle")

// Limits bound what an artifact may be. A gigabyte of zeros fits in 33 KB, so sizes are counted as they come out.
type Limits struct {
	ContentBytes int64 // compressed
	DecodedBytes int64 // the whole tar
	FileBytes    int64 // one file
	Files        int   // entries, directories among them
	Depth        int   // elements of a path
}

// DefaultLimits are some fifty times what the packaged playbooks need.
var DefaultLimits = Limits{ContentBytes: 16 << 20, DecodedBytes: 64 << 20, FileBytes: 8 << 20, Files: 4096, Depth: 16}

// File is one file of an artifact.
type File struct {
	Path string
	Size int64
	Mode fs.FileMode
}

// Unpack writes the files of an artifact into dir, which must exist and be empty. On an error dir may hold a part of
// them; nothing is ever written outside of it.
func Unpack(content []byte, dir string, l Limits) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("unpack bundle: %w", err)
	}
	defer root.Close()
	err = walk(content, l, func(h *tar.Header, name string, r io.Reader) error {
		if h.Typeflag == tar.TypeDir {
			return root.Mkdir(name, 0o700)
		}
		return writeFile(root, name, r)
	})
	if err != nil {
		return fmt.Errorf("unpack bundle: %w", err)
	}
	return nil
}

func writeFile(root *os.Root, name string, r io.Reader) error {
	// O_EXCL: whatever is there already was not put there by this artifact, or it was and has the name twice.
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Files lists the files of an artifact in its order. It reads all of it, so that a listed artifact is a sound one.
func Files(content []byte, l Limits) ([]File, error) {
	var files []File
	err := walk(content, l, func(h *tar.Header, name string, _ io.Reader) error {
		if h.Typeflag == tar.TypeReg {
			files = append(files, File{Path: name, Size: h.Size, Mode: fs.FileMode(h.Mode) & fs.ModePerm})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list bundle: %w", err)
	}
	return files, nil
}

// ReadFile returns one file of an artifact; [fs.ErrNotExist] if there is none of that path.
func ReadFile(content []byte, name string, l Limits) ([]byte, error) {
	var found []byte
	err := walk(content, l, func(h *tar.Header, entry string, r io.Reader) error {
		if entry != name || h.Typeflag != tar.TypeReg {
			return nil
		}
		var err error
		found, err = io.ReadAll(r)
		if found == nil {
			found = []byte{}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %q from bundle: %w", name, err)
	}
	if found == nil {
		return nil, fmt.Errorf("read %q from bundle: %w", name, fs.ErrNotExist)
	}
	return found, nil
}

// walk calls fn for each entry, all of whose properties it has checked, and reads to the very end, where the
// compressor's checksum is.
func walk(content []byte, l Limits, fn func(h *tar.Header, name string, r io.Reader) error) error {
	if int64(len(content)) > l.ContentBytes {
		return fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrUnsafe, len(content), l.ContentBytes)
	}
	dec, err := zstd.NewReader(bytes.NewReader(content), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderMaxMemory(uint64(l.DecodedBytes)))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	defer dec.Close()
	limited := &limitedReader{r: dec, left: l.DecodedBytes}
	r := tar.NewReader(limited)
	seen := map[string]byte{}
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnsafe, err)
		}
		name, err := check(h, l, seen)
		if err != nil {
			return fmt.Errorf("%w: entry %q: %w", ErrUnsafe, h.Name, err)
		}
		body := &errorReader{r: r}
		if err := fn(h, name, body); err != nil {
			if body.err != nil {
				return fmt.Errorf("%w: entry %q: %w", ErrUnsafe, h.Name, err)
			}
			return err
		}
	}
	if _, err := io.Copy(io.Discard, limited); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	return nil
}

// check returns the clean path of an entry, or why it is refused.
func check(h *tar.Header, l Limits, seen map[string]byte) (string, error) {
	if len(seen) >= l.Files {
		return "", fmt.Errorf("more than %d entries", l.Files)
	}
	if h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir {
		return "", fmt.Errorf("type %q is neither a file nor a directory", h.Typeflag)
	}
	if h.Size < 0 || h.Size > l.FileBytes {
		return "", fmt.Errorf("%d bytes, at most %d are allowed", h.Size, l.FileBytes)
	}
	for key := range h.PAXRecords {
		// Others set owners or attributes, or describe sparse files.
		if key != "path" {
			return "", fmt.Errorf("record %q", key)
		}
	}
	name := h.Name
	if h.Typeflag == tar.TypeDir {
		name = strings.TrimSuffix(name, "/")
	}
	if err := checkPath(name, l.Depth); err != nil {
		return "", err
	}
	if _, twice := seen[name]; twice {
		return "", errors.New("is there twice")
	}
	if parent := path.Dir(name); parent != "." && seen[parent] != tar.TypeDir {
		return "", errors.New("its directory does not stand before it")
	}
	seen[name] = h.Typeflag
	return name, nil
}

func checkPath(name string, depth int) error {
	switch {
	case name == "" || name == "." || len(name) > 512:
		return errors.New("empty or too long")
	case !utf8.ValidString(name):
		return errors.New("not UTF-8")
	case !fs.ValidPath(name):
		return errors.New("absolute, or not in its shortest form")
	case strings.Count(name, "/") >= depth:
		return fmt.Errorf("deeper than %d", depth)
	}
	for _, c := range name {
		if c == '\\' || !unicode.IsPrint(c) {
			return fmt.Errorf("character %q", c)
		}
	}
	for element := range strings.SplitSeq(name, "/") {
		if len(element) > 200 || strings.HasPrefix(element, "-") {
			return errors.New("an element is too long or begins with a dash")
		}
	}
	return nil
}

var errTooLarge = errors.New("decompressed content is larger than allowed")

// limitedReader fails, where io.LimitReader would just end, beyond its limit.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// errorReader remembers a failure of the source, to tell it from one of the destination.
type errorReader struct {
	r   io.Reader
	err error
}

func (e *errorReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		e.err = err
	}
	return n, err
}
