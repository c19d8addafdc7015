package demo

// Whose promise a breakage breaks.
const (
	ofHost = iota
	ofFirst
	ofSecond
)

// breakage is one way to break a promise by hand.
type breakage struct {
	of    int
	facts string // what must be named: promise.fact, several between spaces; promise.* where one change takes many facts along
	how   string // a command that root runs; names in braces are filled in
}

// brokenAtOnce are breakages that do not hide each other, but the last one: what is not mounted hides modes. The address of the
// first unit is the host's, the second unit has a network of its own.
var brokenAtOnce = []breakage{
	// These come first. kloigos-watch would bring addresses back within a second. `disable` has systemd read its files anew, which
	// undoes what later breakages set.
	{ofHost, "services.watch", "systemctl stop kloigos-watch.service"},
	{ofHost, "services.proc", "systemctl --quiet disable kloigos-proc.service"},
	{ofSecond, "address.service", "systemctl --quiet disable kloigos-net@{unit}.service"},
	{ofHost, "slices.system", "systemctl set-property system.slice AllowedCPUs=0-7"},
	{ofHost, "slices.init", "echo 0-7 > /sys/fs/cgroup/init.scope/cpuset.cpus"},
	{ofHost, "fence.program", "chmod 0777 /usr/local/lib/kloigos/fence-python"},
	{ofHost, "table.foreign", "nft insert rule inet kloigos output counter accept"},
	{ofHost, "schedulers.cron", "echo {first} >> /etc/cron.allow"},
	{ofHost, "schedulers.at", "rm /etc/at.allow"},
	{ofHost, "hidepid.proc", "mount -o remount,hidepid=0 /proc"},

	{ofFirst, "user.shell", "usermod --shell /bin/bash {user}"},
	{ofFirst, "user.groups", "usermod --append --groups games {user}"},
	{ofFirst, "keys.list", "cat /home/admin/.ssh/authorized_keys | head -1 >> {keys}"},
	{ofFirst, "limits.cpu_quota", "systemctl set-property {slice} CPUQuota=50%"},
	{ofFirst, "limits.processes_outside", "systemd-run --quiet --uid={user} --unit=kloigos-check-moved --slice={slice} sleep 7200; mkdir -p /sys/fs/cgroup/kloigos-check; " +
		"systemctl show --value --property=MainPID kloigos-check-moved > /sys/fs/cgroup/kloigos-check/cgroup.procs"},
	{ofFirst, "cpuset.cpus", "systemctl set-property --runtime {slice} AllowedCPUs=0-7"},
	{ofFirst, "memory.max", "systemctl set-property {slice} MemoryMax=infinity"},
	{ofFirst, "tasks.max", "systemctl set-property --runtime {slice} TasksMax=infinity"},
	{ofFirst, "nftables.rules", "nft delete rule inet kloigos unit_{uid} handle $(" + `nft --handle list chain inet kloigos unit_{uid} | sed -n 's/^\t\tcounter.* drop # handle //p'` + ")"},
	{ofFirst, "apparmor.profile apparmor.manager", "aa-complain /etc/apparmor.d/kloigos-{unit} || apparmor_parser --replace --Complain /etc/apparmor.d/kloigos-{unit}"},
	{ofFirst, "address.rule", "ip -4 rule del uidrange {uid}-{uid}"},
	{ofFirst, "address.on", "ip address del {address}/32 dev {uplink}"},
	{ofFirst, "modes.volume", "chmod 0777 {mount}"},
	{ofFirst, "modes.home_owner", "chown root:root {mount}/home/{user}"},
	{ofFirst, "modes.shell", "chmod 0777 /usr/local/lib/kloigos/shells/{unit}"},
	{ofFirst, "mount.options", "mount -o remount,dev,suid {mount}"},

	{ofSecond, "user.password", "usermod --password '$6$salt$nohash' {user}"},
	{ofSecond, "user.expires", "chage --expiredate 2020-01-01 {user}"},
	{ofSecond, "keys.mode", "chmod 0644 {keys}"},
	{ofSecond, "limits.cgroups", "echo max > {group}/cgroup.max.descendants"},
	{ofSecond, "limits.processes_outside", "systemd-run --quiet --uid={user} --unit=kloigos-check-stray sleep 7200"},
	{ofSecond, "cpuset.cpus", "echo 0-7 > {group}/cpuset.cpus"},
	{ofSecond, "memory.high", "echo max > {group}/memory.high"},
	{ofSecond, "memory.swap_max", "echo max > {group}/memory.swap.max"},
	{ofSecond, "tasks.max", "echo 5000 > {group}/pids.max"},
	{ofSecond, "nftables.jump", "nft delete rule inet kloigos output handle $(" + `nft --handle list chain inet kloigos output | sed -n 's/.*jump unit_{uid} # handle //p'` + ")"},
	{ofSecond, "nftables.rules", "nft add rule inet kloigos unit_{uid} accept"},
	{ofSecond, "apparmor.profile apparmor.manager", "apparmor_parser --remove /etc/apparmor.d/kloigos-{unit}"},
	{ofSecond, "nftables.path", "nft insert rule inet kloigos units_to_host counter accept"},
	{ofSecond, "address.route", "ip -4 route flush table {uid}"},
	{ofSecond, "address.sshd", "systemctl stop kloigos-sshd@{unit}.service"},
	{ofSecond, "mount.* modes.*", "umount --lazy {mount}"},
}

// brokenWhole are breakages that take much along: whose manifest is gone, nothing else of that unit is seen.
var brokenWhole = []breakage{
	{ofHost, "services.watch", "systemctl --quiet disable --now kloigos-watch.service"},
	{ofHost, "services.nft", "systemctl --quiet disable kloigos-nft.service"},
	{ofHost, "services.runs", "systemctl --quiet disable kloigos-runs.service"},
	{ofHost, "slices.init slices.users", "systemctl set-property --runtime init.scope AllowedCPUs=1-3"}, // the slice without a manifest is no tenant's
	{ofHost, "fence.program", "chown 65534:65534 /usr/local/lib/kloigos/fence-python"},
	{ofHost, "schedulers.cron", "rm /etc/cron.allow"},
	{ofHost, "schedulers.at", "rm /etc/at.allow"},
	{ofHost, "hidepid.proc", "mount -o remount,hidepid=1 /proc"},
	{ofHost, "table.hook", "nft delete table inet kloigos"},
	{ofFirst, "manifest.*", "rm /etc/kloigos/units/{id}.json"},
	{ofSecond, "nftables.*", ":"}, // with the table
	{ofSecond, "manifest.user user.* keys.* modes.*", `sed -i 's/"login_user": *"{user}"/"login_user": "mallory"/' /etc/kloigos/units/{id}.json`},
}
