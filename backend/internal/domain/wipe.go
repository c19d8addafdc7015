package domain

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Wipe is the evidence that a unit was wiped: what its host told, checked, and
// which job asked for it.
type Wipe struct {
	JobID         string    `json:"job_id"`
	AllocationID  string    `json:"allocation_id"`
	LoginUser     string    `json:"login_user"`
	UID           int64     `json:"uid"`
	Method        string    `json:"method"` // one of WipeMethods
	Device        string    `json:"device"`
	Bytes         int64     `json:"bytes"`           // of the volume
	BytesReadBack int64     `json:"bytes_read_back"` // that were read, and found to be zeroes
	Seconds       float64   `json:"seconds"`         // that the zeroes took
	FileSystem    string    `json:"file_system"`     // UUID of the new one
	WipedAt       time.Time `json:"wiped_at"`        // by the host's clock
	Removed       []Removed `json:"removed"`         // beside the volume
	RemovedMore   int       `json:"removed_more"`    // not listed
	Leftovers     []string  `json:"leftovers"`       // what could not be removed
	LeftoversMore int       `json:"leftovers_more"`
}

// Removed is one thing of the tenant's that was removed beside the volume.
type Removed struct {
	Kind string `json:"kind"` // crontab, at, mail, linger, journal, ipc, core_dump, subordinate_ids, file
	What string `json:"what"`
}

// WipeMethods are the ways in which a volume is made to read as zeroes: by the
// device (which vouches for them; a sample is read back), by a discard and then
// writing what was not zero, or by writing. In the latter two every byte is
// read back.
var WipeMethods = []string{"discard", "discard+zero", "zero"}

// Bounds of the lists in a piece of evidence: a tenant can leave any number of
// files anywhere, under any name.
const (
	maxWipeEntries = 200
	maxWipeEntry   = 256 // bytes
)

var fileSystemUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// WipeOf is what a wipe has to be evidence of.
type WipeOf struct {
	JobID, AllocationID, UnitID, LoginUser string
	UID                                    int64
	VolumeGroup, Volume                    string
	MinBytes                               int64 // the volume has at least so many
}

// ReadWipe checks what a host told of a wipe, which may be a lie: it must be
// whole, of the right volume, unit and allocation, and agree with itself.
func ReadWipe(raw []byte, of WipeOf) (Wipe, error) {
	var told struct {
		AllocationID  string   `json:"allocation_id"`
		UnitID        string   `json:"unit_id"`
		Method        string   `json:"method"`
		Device        string   `json:"device"`
		Bytes         int64    `json:"bytes"`
		BytesReadBack int64    `json:"bytes_read_back"`
		Seconds       float64  `json:"seconds"`
		FileSystem    string   `json:"file_system"`
		WipedAt       string   `json:"wiped_at"`
		Removed       []string `json:"removed"`
		Leftovers     []string `json:"leftovers"`
	}
	if err := json.Unmarshal(raw, &told); err != nil {
		return Wipe{}, fmt.Errorf("it can't be read")
	}
	at, err := time.Parse(time.RFC3339, told.WipedAt)
	switch device := "/dev/" + of.VolumeGroup + "/" + of.Volume; {
	case told.AllocationID != of.AllocationID || told.UnitID != of.UnitID:
		return Wipe{}, fmt.Errorf("it is of another unit or allocation")
	case told.Device != device:
		return Wipe{}, fmt.Errorf("it is of another volume than %s", device)
	case !slices.Contains(WipeMethods, told.Method):
		return Wipe{}, fmt.Errorf("it names none of the ways %s", strings.Join(WipeMethods, ", "))
	case told.Bytes < of.MinBytes || told.Bytes > maxBytes:
		return Wipe{}, fmt.Errorf("it is of %d bytes, the volume has %d", told.Bytes, of.MinBytes)
	case told.BytesReadBack <= 0 || told.BytesReadBack > told.Bytes:
		return Wipe{}, fmt.Errorf("of %d bytes it read %d back", told.Bytes, told.BytesReadBack)
	case told.Method != WipeMethods[0] && told.BytesReadBack != told.Bytes:
		return Wipe{}, fmt.Errorf("only %d of %d bytes were read back after writing", told.BytesReadBack, told.Bytes)
	case !(told.Seconds >= 0 && told.Seconds < 1e7):
		return Wipe{}, fmt.Errorf("it took %v seconds", told.Seconds)
	case !fileSystemUUID.MatchString(told.FileSystem):
		return Wipe{}, fmt.Errorf("it names no new file system")
	case err != nil || at.Year() < 2000 || at.Year() > 9999:
		return Wipe{}, fmt.Errorf("it does not say when")
	}
	w := Wipe{
		JobID: of.JobID, AllocationID: of.AllocationID, LoginUser: of.LoginUser, UID: of.UID, Method: told.Method, Device: told.Device,
		Bytes: told.Bytes, BytesReadBack: told.BytesReadBack, Seconds: told.Seconds, FileSystem: told.FileSystem, WipedAt: at.UTC(),
		Removed: []Removed{}, Leftovers: []string{},
	}
	for _, what := range told.Removed[:min(len(told.Removed), maxWipeEntries)] {
		what = plain(what, maxWipeEntry)
		w.Removed = append(w.Removed, Removed{Kind: kindOfRemoved(what), What: what})
	}
	w.RemovedMore = len(told.Removed) - len(w.Removed)
	for _, what := range told.Leftovers[:min(len(told.Leftovers), maxWipeEntries)] {
		w.Leftovers = append(w.Leftovers, plain(what, maxWipeEntry))
	}
	w.LeftoversMore = len(told.Leftovers) - len(w.Leftovers)
	return w, nil
}

// kindOfRemoved tells from the host's words what was removed.
func kindOfRemoved(what string) string {
	for _, k := range []struct{ prefix, kind string }{
		{"/var/spool/cron/crontabs/", "crontab"},
		{"/var/spool/cron/atjobs/", "at"},
		{"/var/mail/", "mail"},
		{"/var/spool/mail/", "mail"},
		{"/var/lib/systemd/linger/", "linger"},
		{"/var/log/journal/", "journal"},
		{"/run/log/journal/", "journal"},
		{"ipc ", "ipc"},
		{"/dev/mqueue/", "ipc"},
		{"/var/lib/systemd/coredump/", "core_dump"},
		{"/var/crash/", "core_dump"},
		{"/etc/subuid ", "subordinate_ids"},
		{"/etc/subgid ", "subordinate_ids"},
	} {
		if strings.HasPrefix(what, k.prefix) {
			return k.kind
		}
	}
	return "file"
}
