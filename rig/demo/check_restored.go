package demo

import (
	"context"
	_ "embed" // the script that says what a host is like
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed guest/snapshot.py
var snapshotScript []byte

// picture is what a host is like: a value for each thing, by kind and name.
// What a kind says several times under one name is told apart by its value.
type picture map[string]string

// parsePicture reads what the script says.
func parsePicture(text string) (picture, error) {
	p := picture{}
	for line := range strings.Lines(text) {
		kind, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		name, value, more := strings.Cut(rest, "\t")
		if !ok || !more {
			return nil, fmt.Errorf("the host says %s, which is no line of a picture", strconv.Quote(line))
		}
		key := kind + " " + name
		for n := 2; ; n++ {
			if _, twice := p[key]; !twice {
				break
			}
			key = fmt.Sprintf("%s %s (%d)", kind, name, n)
		}
		p[key] = value
	}
	return p, nil
}

// changes are what changed from one picture to another, a line each: "-"
// for what is gone, "+" for what came, "~" for what is otherwise.
func changes(before, after picture) (all []string) {
	for key, was := range before {
		switch now, there := after[key]; {
		case !there:
			all = append(all, "- "+key+" "+was)
		case now != was:
			all = append(all, "~ "+key+": "+was+" => "+now)
		}
	}
	for key, now := range after {
		if _, there := before[key]; !there {
			all = append(all, "+ "+key+" "+now)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
	return all
}

// mayDiffer is what a decommissioned host may have otherwise than before, and
// why. Whatever is not listed must be as it was.
var mayDiffer = []struct {
	what *regexp.Regexp // of a line of differences
	why  string
}{
	{regexp.MustCompile(`^[-+~] file /var/lib/(dpkg|apt|ucf|pam|python|systemd/deb-systemd-helper-enabled)(/|$| )`), "the package manager's own state"},
	{regexp.MustCompile(`^[-+~] file /var/lib/(systemd/(timers|random-seed|timesync|rfkill|catalog|coredump)|logrotate|private|chrony|dhcp|NetworkManager)(/|$| |:)`), "what running services keep for themselves"},
	{regexp.MustCompile(`^[-+~] file /home/[^/]+/(\.ansible|\.cache|\.ssh/authorized_keys)(/|$| |:)`), "the administrator's: Ansible's empty directory, and the key that lets the control plane in"},
	{regexp.MustCompile(`^[-+~] file /root/(\.ansible|\.cache)(/|$| |:)`), "Ansible's empty directory"},
	{regexp.MustCompile(`^[-+~] file /etc/(ld\.so\.cache|mtab|\.pwd\.lock)( |:)`), "rebuilt by the system from what is installed"},
	{regexp.MustCompile(`^~ file /etc/(passwd-|group-|shadow-|gshadow-|subuid-|subgid-): `), "useradd's own copy of what was there before its last change"},
	{regexp.MustCompile(`^[-+~] file /etc/lvm/(archive|backup|devices)(/|$| |:)`), "LVM's own history of volume groups"},
	{regexp.MustCompile(`^([-+~] unit|[-+] unit-file) (user@|user-runtime-dir@|user-|session-|run-user-)`), "logins of the administrator"},
	{regexp.MustCompile(`^~ unit-file (dm-event|lvm2|blk-availability|apparmor|nftables)[^ ]*: `), "enabled or not by its package when it was installed"},
	{regexp.MustCompile(`^[-+~] unit (apt-|dpkg-|man-db|logrotate|fstrim|e2scrub|systemd-(tmpfiles|random|update|hostnamed|timedated|fsck|logind|journal-flush|udev)|emergency|rescue|dev-|sys-|lvm2?|dm-event|blk-availability|modprobe@)`), "one-off services and devices come and go by themselves"},
	{regexp.MustCompile(`^[-+~] unit (system-|run-)[^ ]*\.(slice|mount)`), "empty slices of templates and systemd's own credentials' mounts, until the next boot"},
	{regexp.MustCompile(`^[-+~] mount /run/(user/|credentials)`), "logins of the administrator; systemd's own"},
	{regexp.MustCompile(`^~ mount /proc/sys/fs/binfmt_misc: autofs `), "the number of a pipe of systemd's automount, another one at each boot"},
	{regexp.MustCompile(`^([-+] mount /proc/sys/fs/binfmt_misc |[-+~] unit proc-sys-fs-binfmt_misc\.(auto)?mount)`), "systemd mounts it when somebody looks, and not before"},
	{regexp.MustCompile(`^[-+] unit network-pre\.target `), "a target that only orders; what a boot has pulled in stays until the next"},
	{regexp.MustCompile(`^\+ module `), "a module that was loaded once stays until the next boot; nothing of ours loads one at boot"},
	{regexp.MustCompile(`^[-+~] sysctl (fs\.(dentry-state|file-nr|inode-nr|inode-state|quota)|kernel\.(ns_last_pid|pty\.nr|random\.|threads-max|perf_event_max|tainted|cad_pid)|net\.netfilter|net\.nf_|vm\.(stat_refresh|nr_pdflush|user_reserve_kbytes|min_free_kbytes)|fs\.(epoll|inotify|fanotify)\.max_user_|user\.max_(inotify_|fanotify_|[a-z]+_namespaces)|net\.ipv4\.(tcp_mem|udp_mem|tcp_fastopen_key|route\.)|net\.ipv6\.conf\.[^ ]*stable_secret|kernel\.(hostname|sched_domain))`), "counters, keys and shares of the memory that a boot finds, which the kernel itself sets, and those that came with a module"},
	{regexp.MustCompile(`^[-+~] ip-route -6 .* proto (ra|kernel)`), "IPv6 routes that the router announces"},
	{regexp.MustCompile(`^~ disk `), "what is on the disks that were given to Kloigos"},
	{regexp.MustCompile(`^[-+] disk /dev/(vd|sd|nvme|loop)`), "what is on the disks that were given to Kloigos"},
	{regexp.MustCompile(`^[-+~] file /var/lib/(PackageKit|command-not-found|shells\.state|polkit-1|sgml-base|xml-core|ca-certificates[^ ]*|dbus|cloud|fwupd)(/|$| |:)`), "packages' own state"},
}

// restored are the differences that nothing allows.
func restored(before, after picture) (wrong []string) {
	for _, line := range changes(before, after) {
		allowed := false
		for _, m := range mayDiffer {
			allowed = allowed || m.what.MatchString(line)
		}
		if !allowed {
			wrong = append(wrong, line)
		}
	}
	return wrong
}

// takePicture asks the host what it is like.
func (i *Installation) takePicture(ctx context.Context) (picture, error) {
	text, err := i.onHost(ctx, snapshotScript, struct{}{})
	if err != nil {
		return nil, fmt.Errorf("take a picture of the host: %w", err)
	}
	return parsePicture(text)
}

// lookBefore takes the picture that the decommissioned host is compared with.
func (i *Installation) lookBefore(ctx context.Context) (err error) {
	i.before, err = i.takePicture(ctx)
	return err
}

// asBefore compares the host after its decommissioning with what it was before
// its initialization.
func (c *checker) asBefore(ctx context.Context) error {
	if c.i.before == nil || c.i.Host.State != "decommissioned" {
		return errNoGround
	}
	after, err := c.i.takePicture(ctx)
	if err != nil {
		return err
	}
	wrong := restored(c.i.before, after)
	if len(wrong) == 0 {
		return nil
	}
	const shown = 60
	more := ""
	if n := len(wrong) - shown; n > 0 {
		wrong, more = wrong[:shown], fmt.Sprintf("\nand %d more", n)
	}
	return fmt.Errorf("not as before:\n%s%s", strings.Join(wrong, "\n"), more)
}
