package demo

import (
	"slices"
	"strings"
	"testing"
)

func TestPicturesAreCompared(t *testing.T) {
	t.Parallel()
	read := func(lines ...string) picture {
		p, err := parsePicture(strings.Join(lines, "\n") + "\n")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	before := read("file\t/etc/a\t0644 root:root 11", "file\t/etc/b\t0644 root:root 22", "user\troot\t0 0 /root /bin/bash", "ip-rule\t-4 0: from all lookup local\t",
		"mount\t/tmp\ttmpfs", "mount\t/tmp\ttmpfs", "file\t/var/lib/dpkg/status\t0644 root:root 1")
	after := read("file\t/etc/a\t0600 root:root 11", "user\troot\t0 0 /root /bin/bash", "user\teve\t200001 200001 /mnt /bin/sh", "ip-rule\t-4 0: from all lookup local\t",
		"mount\t/tmp\ttmpfs", "file\t/var/lib/dpkg/status\t0644 root:root 2", "module\tip_tables\t")
	want := []string{
		"~ file /etc/a: 0644 root:root 11 => 0600 root:root 11", "- file /etc/b 0644 root:root 22", "- mount /tmp (2) tmpfs", "+ user eve 200001 200001 /mnt /bin/sh",
	}
	if got := restored(before, after); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if got := restored(before, before); len(got) > 0 {
		t.Errorf("a host differs from itself: %v", got)
	}
	if _, err := parsePicture("file\t/etc/a\n"); err == nil {
		t.Error("half a line was read")
	}
}

// TestNothingOfOursMayStay: no entry of the list lets pass what Kloigos makes.
func TestNothingOfOursMayStay(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"file\t/etc/kloigos\t0711 root:root directory", "file\t/etc/systemd/system/system.slice.d/50-kloigos.conf\t0644 root:root 1",
		"file\t/etc/systemd/system/mnt-kloigos-demo-cu01.mount\t0644 root:root 1", "file\t/usr/local/lib/kloigos/fence-python\t0755 root:root 1",
		"file\t/etc/ssh/sshd_config.d/50-kloigos.conf\t0644 root:root 1", "file\t/etc/cron.allow\t0644 root:root 1", "file\t/etc/modprobe.d/50-kloigos.conf\t0644 root:root 1",
		"file\t/var/lib/systemd/linger/alice\t0644 root:root 1", "file\t/var/spool/cron/crontabs/alice\t0600 alice:crontab 1",
		"user\talice\t200001 200001 /mnt/kloigos/demo/cu01/home/alice /bin/sh", "group\tkloigos-tenants\t990 ", "group\talice\t200001 ",
		"unit-file\tkloigos-nft.service\tenabled", "unit\tkloigos-nft.service\tloaded active exited", "unit\tmnt-kloigos-demo-cu01.mount\tloaded active mounted",
		"nft\t0001\ttable inet kloigos {", "ip-rule\t-4 1000: from all uidrange 200001-200001 lookup 200001\t", "ip-route\t-4 default via 10.0.2.2 dev ens3 table 200001 src 10.0.2.101\t",
		"address\tens3 inet 10.0.2.101/32 scope global ens3\t", "mount\t/mnt/kloigos/demo/cu01\text4", "apparmor\tkloigos-demo-cu01\tenforce",
		"lvm-vg\tkloigos-vg 17 kloigos\t", "lvm-lv\tkloigos-vg cu01 2147483648 kloigos\t", "disk\t/dev/mapper/kloigos--vg-cu01 lvm 2G ext4\t",
		"cpuset\tsystem.slice\t0,4", "sysctl\tkernel.unprivileged_userns_clone\t0",
	} {
		after, err := parsePicture(line + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := restored(picture{}, after); len(got) != 1 {
			t.Errorf("it may stay: %s", strings.ReplaceAll(line, "\t", " "))
		}
	}
	for _, line := range []string{"mount\t/proc\tproc proc rw hidepid=invisible", "unit-file\tcron.service\tdisabled", "file\t/etc/pam.d/sshd\t0644 root:root 2"} {
		was, err := parsePicture(strings.Split(line, "\t")[0] + "\t" + strings.Split(line, "\t")[1] + "\tas it was\n")
		if err != nil {
			t.Fatal(err)
		}
		now, err := parsePicture(line + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := restored(was, now); len(got) != 1 {
			t.Errorf("it may change: %s", line)
		}
	}
	for _, m := range mayDiffer {
		if len(m.why) < 10 {
			t.Errorf("%s may differ, and nobody says why", m.what)
		}
	}
}
