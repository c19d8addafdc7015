package reader

import (
	"slices"
	"strings"
)

// mount is a line of mountinfo.
type mount struct {
	source, kind string
	options      string // those that are promised or that break a promise, sorted
	super        string // of the file system
}

// promisedOptions are the options that a promise is about.
var promisedOptions = []string{"discard", "noatime", "nodev", "noexec", "nosuid", "relatime", "ro", "rw"}

// mountsOfInit are the mounts that the host has: those of the reader itself are read-only copies.
func (r *Reader) mountsOfInit() map[string]mount {
	all := map[string]mount{}
	for line := range strings.Lines(r.text("proc/1/mountinfo")) {
		// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,discard (proc_pid_mountinfo(5))
		fields := strings.Fields(line)
		end := slices.Index(fields, "-")
		if end < 6 || len(fields) < end+4 {
			continue
		}
		super := fields[end+3]
		var options []string
		for _, o := range strings.Split(fields[5]+","+super, ",") {
			if slices.Contains(promisedOptions, o) && !slices.Contains(options, o) {
				options = append(options, o)
			}
		}
		slices.Sort(options)
		all[unescape.Replace(fields[4])] = mount{fields[end+2], fields[end+1], strings.Join(options, ","), super}
	}
	return all
}
