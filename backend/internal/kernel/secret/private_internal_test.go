package secret

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"
)

// file is what the kernel tells of one.
type file struct {
	mode     fs.FileMode
	uid, gid uint32
}

func (f file) Name() string       { return "keyset.json" }
func (f file) Size() int64        { return 1 }
func (f file) Mode() fs.FileMode  { return f.mode }
func (f file) ModTime() time.Time { return time.Time{} }
func (f file) IsDir() bool        { return false }
func (f file) Sys() any           { return &syscall.Stat_t{Uid: f.uid, Gid: f.gid} }

// A credential that systemd gave by an access list shows a right of root's own
// group; the same of another group, or for everyone, is refused.
func TestWhoGetsAtTheKeyset(t *testing.T) {
	t.Parallel()
	service := os.Geteuid() != 0 // a root process has no need of an access list
	for _, c := range []struct {
		file file
		want bool
	}{
		{file{0o600, 7, 7}, true},
		{file{0o400, 0, 0}, true},
		{file{0o440, 0, 0}, service},
		{file{0o440, 0, 7}, false},
		{file{0o440, 7, 0}, false},
		{file{0o460, 0, 0}, false},
		{file{0o444, 0, 0}, false},
		{file{0o640, 7, 7}, false},
	} {
		if got := private(c.file); got != c.want {
			t.Errorf("%v: %v", c.file, got)
		}
	}
}
