package agent

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCausesOfReadings(t *testing.T) {
	t.Parallel()
	full := func(percent int64) Reading {
		return Reading{Report: &Report{Disks: []Disk{{Path: "/", Total: 100, Free: 50}, {Path: "/var", Total: 100, Free: 100 - percent}}}}
	}
	now, before := time.Now(), Causes{"disk_nearly_full": time.Unix(1, 0)}
	for name, c := range map[string]struct {
		reading Reading
		before  Causes
		want    []string
	}{
		"fine":                        {full(50), nil, nil},
		"a disk":                      {full(91), nil, []string{"disk_nearly_full"}},
		"between the limits":          {full(88), nil, nil},
		"between the limits, already": {full(88), before, []string{"disk_nearly_full"}},
		"below both":                  {full(84), before, nil},
		"inodes":                      {Reading{Report: &Report{Disks: []Disk{{Total: 100, Free: 90, InodesTotal: 100, InodesFree: 1}}}}, nil, []string{"disk_nearly_full"}},
		"no limit of inodes":          {Reading{Report: &Report{Disks: []Disk{{Total: 100, Free: 90}}}}, nil, nil},
		"no report":                   {Reading{}, nil, []string{"no_report"}},
		"a clock behind":              {Reading{Report: &Report{}, SkewMS: -6000}, nil, []string{"clock_skew"}},
		"versions":                    {Reading{Report: &Report{}, Version: "1", Desired: "2"}, nil, []string{"version_behind"}},
		"no version wanted":           {Reading{Report: &Report{}, Version: "1"}, nil, nil},
		"several":                     {Reading{Report: &Report{FailedUnits: []string{"kloigos-nft.service"}, MemoryFull: 11, IOFull: 41, RebootRequired: true}}, nil, []string{"failed_units", "io_pressure", "memory_pressure", "reboot_required"}},
	} {
		found := c.reading.Find(c.before, now)
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if since, ok := found["disk_nearly_full"]; ok && c.before != nil && !since.Equal(c.before["disk_nearly_full"]) {
			t.Errorf("%s: since %v", name, since)
		}
		for _, told := range c.reading.Tell(found) {
			if told.Message == "" || told.Next == "" || !strings.HasSuffix(told.Message, ".") {
				t.Errorf("%s: %+v", name, told)
			}
		}
	}
	if told := (Reading{}).Tell(Causes{"disk_nearly_full": now}); len(told) != 1 || told[0].Message != "disk nearly full." {
		t.Errorf("a cause whose report is gone: %+v", told)
	}
}

// TestLifecycle: every state but the last can be revoked, and only a quarantined agent is released.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	for _, s := range Lifecycle.States {
		a := Agent{State: s.State}
		if (a.CanRevoke() == nil) != (s.State != Revoked) || (a.CanRelease() == nil) != (s.State == Quarantined) || (a.CanQuarantine() == nil) != (s.State == Enrolled) {
			t.Errorf("%s: revoke %v, release %v, quarantine %v", s.State, a.CanRevoke(), a.CanRelease(), a.CanQuarantine())
		}
	}
}
