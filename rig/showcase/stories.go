package showcase

// story is what jobs of one kind do on a host, and how they fail there.
type story struct {
	play  string
	tasks []task
	fails int    // index of the task that fails
	why   string // first line of its message
	more  string // what the tool said
}

var stories = map[string]story{
	"host_initialize": {
		play: "Prepare the host and its units", tasks: tasks, fails: 4, why: "the volume could not be made",
		more: "Volume group \"kloigos-vg\" has insufficient free space (11264 extents): 30720 required.",
	},
	"host_probe": {
		play: "Probe hosts", fails: 5, why: "the disks could not be read", more: "lsblk: /dev/nvme1n1: Input/output error",
		tasks: []task{
			{"host_probe", "Read the system", "ansible.builtin.command"},
			{"host_probe", "Read the CPUs", "ansible.builtin.command"},
			{"host_probe", "Read the memory", "ansible.builtin.command"},
			{"host_probe", "Read the NUMA nodes", "ansible.builtin.command"},
			{"host_probe", "Read the uplink", "ansible.builtin.command"},
			{"host_probe", "Read the disks", "ansible.builtin.command"},
			{"host_probe", "Read the volume groups", "ansible.builtin.command"},
		},
	},
	"host_decommission": {
		play: "Remove Kloigos from the host", fails: 5, why: "the volume could not be removed", more: "Logical volume kloigos-vg/cu07 is in use.",
		tasks: []task{
			{"host_decommission", "Check the fence", "ansible.builtin.command"},
			{"host_decommission", "Stop the slices of the units", "ansible.builtin.systemd_service"},
			{"host_decommission", "Remove the firewall of the units", "ansible.builtin.file"},
			{"host_decommission", "Remove the AppArmor profiles", "ansible.builtin.file"},
			{"host_decommission", "Unmount the volumes", "ansible.posix.mount"},
			{"host_decommission", "Remove the volumes", "community.general.lvol"},
			{"host_decommission", "Remove the volume group", "community.general.lvg"},
			{"host_decommission", "Remove the fence", "ansible.builtin.file"},
		},
	},
	"unit_allocate": {
		play: "Set the unit up for its tenant", fails: 3, why: "the address could not be added", more: "RTNETLINK answers: File exists",
		tasks: []task{
			{"unit_allocate", "Check the fence", "ansible.builtin.command"},
			{"unit_allocate", "Make the user", "ansible.builtin.user"},
			{"unit_allocate", "Write the SSH keys", "ansible.builtin.template"},
			{"unit_allocate", "Add the address", "ansible.builtin.template"},
			{"unit_allocate", "Write the limits of the slice", "ansible.builtin.template"},
			{"unit_allocate", "Load the firewall", "ansible.builtin.command"},
		},
	},
	"unit_deallocate": {
		play: "Wipe the unit", fails: 4, why: "the volume could not be wiped", more: "blkdiscard: /dev/kloigos-vg/cu07: Device or resource busy",
		tasks: []task{
			{"unit_deallocate", "Check the fence", "ansible.builtin.command"},
			{"unit_deallocate", "End all processes", "ansible.builtin.command"},
			{"unit_deallocate", "Remove the user", "ansible.builtin.user"},
			{"unit_deallocate", "Remove the address", "ansible.builtin.file"},
			{"unit_deallocate", "Wipe the volume", "ansible.builtin.command"},
			{"unit_deallocate", "Make the file system", "community.general.filesystem"},
			{"unit_deallocate", "Look for what is left over", "ansible.builtin.command"},
		},
	},
}

// storyOf is the story of a kind of job: keys are brought by the play that sets a unit up, a plan checks the play that
// prepares a host.
func storyOf(kind string) story {
	switch kind {
	case "allocation_keys":
		kind = "unit_allocate"
	case "hosts_probe":
		kind = "host_probe"
	case "plan":
		kind = "host_initialize"
	}
	return stories[kind]
}
