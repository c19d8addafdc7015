package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"kloigos/backend/internal/domain"
)

// UploadLimits bound what a playbook from outside may be. They are some ten times what the packaged ones need, and so
// small that looking at one takes a few MiB of memory, whatever it holds.
var UploadLimits = Limits{ContentBytes: 1 << 20, DecodedBytes: 4 << 20, FileBytes: 512 << 10, Files: 512, Depth: 8}

const (
	maxPath    = 200
	maxRatio   = 40 // decoded to compressed, beyond the first MiB: text shrinks to a fifth, bombs to a millionth
	freeBytes  = 1 << 20
	maxFaults  = 50 // told of one upload
	fieldFiles = "files"
)

// Faults collects what is wrong with an upload, place by place. A place is a path, or a path and a line: "a/b.yml:7".
type Faults struct {
	bad  domain.Invalid
	more int
	seen map[domain.FieldError]bool
}

func (f *Faults) add(place, format string, args ...any) {
	e := domain.FieldError{Field: place, Problem: fmt.Sprintf(format, args...)}
	switch {
	case f.seen[e]:
	case len(f.bad.Fields) >= maxFaults:
		f.more++
	default:
		if f.seen == nil {
			f.seen = map[domain.FieldError]bool{}
		}
		f.seen[e] = true
		f.bad.Fields = append(f.bad.Fields, e)
	}
}

// OrNil is a *domain.Invalid with one entry for each bad place, or nil.
func (f *Faults) OrNil() error {
	if f.more > 0 {
		f.bad.Fields = append(f.bad.Fields, domain.FieldError{Field: fieldFiles, Problem: fmt.Sprintf("has %d further faults that are not listed", f.more)})
		f.more = 0
	}
	return f.bad.OrNil()
}

// Open reads the files of an uploaded tar.zst into memory, by their paths. Unlike what Build makes, it may come from any
// tar: a leading "./", owners and times are taken and left out. What is refused is told for each entry; a stream that
// can't be read on, or grows beyond its limits, ends the look.
func Open(content []byte, l Limits) (map[string][]byte, error) {
	var bad Faults
	files := map[string][]byte{}
	if int64(len(content)) > l.ContentBytes {
		bad.add(fieldFiles, "is %d bytes compressed; at most %d are taken", len(content), l.ContentBytes)
		return nil, bad.OrNil()
	}
	dec, err := zstd.NewReader(bytes.NewReader(content), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		return nil, fmt.Errorf("open upload: %w", err)
	}
	defer dec.Close()
	stream := &limitedReader{r: dec, left: min(l.DecodedBytes, freeBytes+maxRatio*int64(len(content)))}
	archive := tar.NewReader(stream)
	names := newNames(l)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			bad.add(fieldFiles, "can't be read as a tar compressed with zstd: %s", reason(err))
			return nil, bad.OrNil()
		}
		if h.Typeflag == tar.TypeXGlobalHeader { // git archive's comment
			continue
		}
		name, ok := names.entry(h, &bad)
		if names.over {
			return nil, bad.OrNil()
		}
		if !ok {
			continue
		}
		file := make([]byte, h.Size)
		if _, err := io.ReadFull(archive, file); err != nil {
			bad.add(fieldFiles, "can't be read as a tar compressed with zstd: %s", reason(err))
			return nil, bad.OrNil()
		}
		files[name] = file
	}
	if _, err := io.Copy(io.Discard, stream); err != nil {
		bad.add(fieldFiles, "can't be read as a tar compressed with zstd: %s", reason(err))
	}
	return files, bad.OrNil()
}

// reason is an error of a reader as a person may see it.
func reason(err error) string {
	switch {
	case errors.Is(err, errTooLarge):
		return "it grows beyond what is allowed while it is decompressed"
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return "it was compressed with a window of more than 8 MiB"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "it ends too early"
	case errors.Is(err, zstd.ErrMagicMismatch):
		return "it is not zstd"
	default:
		return "it is damaged"
	}
}

// FromTexts takes the files of an upload as texts by their paths.
func FromTexts(texts map[string]string, l Limits) (map[string][]byte, error) {
	var bad Faults
	names := newNames(l)
	files := make(map[string][]byte, len(texts))
	total := int64(0)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		total += int64(len(text))
		if total > l.DecodedBytes {
			bad.add(fieldFiles, "is more than %d bytes", l.DecodedBytes)
			break
		}
		if names.file(name, int64(len(text)), &bad) {
			files[name] = []byte(text)
		}
		if names.over {
			break
		}
	}
	return files, bad.OrNil()
}

// names watches over the paths of an upload.
type names struct {
	limits Limits
	count  int
	over   bool              // too many: no further look
	files  map[string]string // by their lower case: A and a are one file on some machines
	dirs   map[string]string
}

func newNames(l Limits) *names {
	return &names{limits: l, files: map[string]string{}, dirs: map[string]string{}}
}

var kinds = map[byte]string{
	tar.TypeLink: "is a hard link", tar.TypeSymlink: "is a symbolic link", tar.TypeChar: "is a device", tar.TypeBlock: "is a device",
	tar.TypeFifo: "is a fifo", tar.TypeGNUSparse: "is a sparse file",
}

// harmless are the extended records that say nothing of a file's content; what they say is left out.
var harmless = map[string]bool{
	"path": true, "mtime": true, "atime": true, "ctime": true, "uid": true, "gid": true, "uname": true, "gname": true, "comment": true,
	"LIBARCHIVE.creationtime": true,
}

// entry tells the path of an entry of a tar, and whether it is a file to be read.
func (n *names) entry(h *tar.Header, bad *Faults) (string, bool) {
	name := strings.TrimPrefix(h.Name, "./")
	if h.Typeflag == tar.TypeDir {
		name = strings.TrimSuffix(name, "/")
		if name != "" && name != "." && n.counted(bad) {
			n.path(name, bad)
		}
		return "", false
	}
	if h.Typeflag != tar.TypeReg {
		kind, known := kinds[h.Typeflag]
		if !known {
			kind = fmt.Sprintf("is an entry of type %q", h.Typeflag)
		}
		if n.counted(bad) {
			bad.add(shown(h.Name), "%s; a playbook has plain files only", kind)
		}
		return "", false
	}
	for key := range h.PAXRecords {
		if !harmless[key] {
			bad.add(shown(h.Name), "carries the record %q; attributes and sparse files are not taken", shown(key))
			n.counted(bad)
			return "", false
		}
	}
	return name, n.file(name, h.Size, bad)
}

func (n *names) counted(bad *Faults) bool {
	if n.count++; n.count > n.limits.Files {
		n.over = true
		bad.add(fieldFiles, "has more than %d entries", n.limits.Files)
	}
	return !n.over
}

// file checks the path and size of a file.
func (n *names) file(name string, size int64, bad *Faults) bool {
	if !n.counted(bad) || !n.path(name, bad) {
		return false
	}
	if size < 0 || size > n.limits.FileBytes {
		bad.add(name, "is %d bytes; at most %d are taken", size, n.limits.FileBytes)
		return false
	}
	low := strings.ToLower(name)
	if other, twice := n.files[low]; twice {
		if other == name {
			bad.add(name, "is there twice")
		} else {
			bad.add(name, "differs from %s by upper and lower case only", other)
		}
		return false
	}
	if _, dir := n.dirs[low]; dir {
		bad.add(name, "is a file and a directory")
		return false
	}
	n.files[low] = name
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		low := strings.ToLower(dir)
		if _, file := n.files[low]; file {
			bad.add(name, "lies below %s, which is a file", dir)
			return false
		}
		if other, known := n.dirs[low]; known && other != dir {
			bad.add(name, "lies in a directory that differs from %s by upper and lower case only", other)
			return false
		}
		n.dirs[low] = dir
	}
	return true
}

var pathElement = regexp.MustCompile(`^[A-Za-z0-9_.@+-]+$`)

// path checks the form of a path.
func (n *names) path(name string, bad *Faults) bool {
	place := shown(name)
	switch {
	case name == "" || name == ".":
		bad.add(fieldFiles, "has an entry without a name")
	case len(name) > maxPath:
		bad.add(place, "has a path of more than %d bytes", maxPath)
	case !utf8.ValidString(name):
		bad.add(place, "has a path that is not UTF-8")
	case strings.HasPrefix(name, "/"):
		bad.add(place, "has an absolute path")
	case slices.Contains(strings.Split(name, "/"), ".."):
		bad.add(place, "has a path with ..")
	case !fs.ValidPath(name):
		bad.add(place, "has a path that is not in its shortest form")
	case strings.Count(name, "/") >= n.limits.Depth:
		bad.add(place, "has a path of more than %d parts", n.limits.Depth)
	default:
		for element := range strings.SplitSeq(name, "/") {
			if !pathElement.MatchString(element) || strings.HasPrefix(element, "-") {
				bad.add(place, "has a path with other characters than A-Z a-z 0-9 _ . @ + -, or a part that begins with a dash")
				return false
			}
		}
		return true
	}
	return false
}

// shown is a name from outside as it can stand in a sentence.
func shown(name string) string {
	short := name
	if len(short) > maxPath {
		short = short[:maxPath] + "..."
	}
	if quoted := fmt.Sprintf("%+q", short); quoted != `"`+short+`"` {
		return quoted
	}
	return short
}

// Pack makes the canonical artifact of files: the same files give the same TreeSHA256, whatever tar they came in.
func Pack(name string, files map[string][]byte) (Bundle, error) {
	archive, err := pack(files)
	if err != nil {
		return Bundle{}, fmt.Errorf("pack %s: %w", name, err)
	}
	content, err := compress(archive)
	if err != nil {
		return Bundle{}, fmt.Errorf("pack %s: %w", name, err)
	}
	return Bundle{
		Name: name, SHA256: Digest(content), TreeSHA256: Digest(archive), Content: content,
		DecodedBytes: int64(len(archive)), Files: len(files),
	}, nil
}

// All returns every file of an artifact of ours.
func All(content []byte, l Limits) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := walk(content, l, func(h *tar.Header, name string, r io.Reader) error {
		if h.Typeflag != tar.TypeReg {
			return nil
		}
		file := make([]byte, h.Size)
		_, err := io.ReadFull(r, file)
		files[name] = file
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	return files, nil
}
