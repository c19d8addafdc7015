package showcase

import (
	"fmt"
	"strings"
	"time"
)

// several makes a job that was to read several hosts by one Ansible process, of which some did not answer.
func (w *world) several() {
	hosts := w.ended[:min(12, len(w.ended))]
	if len(hosts) < 3 {
		return
	}
	id, asked := w.id(), w.ago(50*time.Minute)
	begun, over := asked.Add(time.Second), asked.Add(31*time.Second)
	var ids, failed []string
	for i, h := range hosts {
		ids = append(ids, h.id.String())
		state, code, message := "succeeded", "", "128 CPUs on 2 NUMA nodes, 515072 MiB of memory, 4 disks; Debian GNU/Linux 12."
		if i%6 == 1 {
			state, code, message = "failed", "unreachable", "dial tcp 198.51.100.23:22: connect: no route to host"
			failed = append(failed, h.name+": "+message)
		}
		w.jobHosts.add(id, h.id, state, code, message, over)
	}
	failure := map[string]string{
		"code":      "unreachable",
		"message":   fmt.Sprintf("%d of %d hosts could not be read; what was read of the others is kept.\n%s", len(failed), len(hosts), strings.Join(failed, "\n")),
		"next_step": "Bring the host back, then retry.",
	}
	w.jobs.add(id, w.workspace, "hosts_probe", map[string][]string{"host_ids": ids}, nil, nil, nil, nil, "failed", 15, asked,
		asked.Add(20*time.Minute), 3, 3, 3, &w.worker, nil, w.playbooks["host_probe"], people[0], failure, "", asked, &begun, &over)
	w.steps.add(id, 0, "probe", "failed", 3, &begun, &over)
	l := newLog(id, "hosts_probe", hosts[0].name, begun, "probe")
	l.told(hosts[0].name, "failed")
	w.logs.rows = append(w.logs.rows, l.rows...)
	for _, h := range hosts {
		w.event(asked, people[0], "host.probe", "host", h.id, h.name, &id, nil, nil)
	}
}
