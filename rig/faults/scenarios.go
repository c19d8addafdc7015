package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kloigos/rig/faults/host"
)

// rough are hosts that fail and break now and then.
var rough = host.Manners{Failing: 0.03, Unreachable: 0.02}

// roughly are the ends of jobs on such hosts.
var roughly = []string{"task_failed", "unreachable"}

// Scenarios returns all of them, those of most worth first.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "failpoints", Goes: "a backend is killed at every failpoint: what it did goes on elsewhere and ends well", Run: killAtFailpoints},
		{Name: "random_kills", Goes: "backends are killed at random under clients", Spec: Spec{Manners: rough, MayFail: roughly}, Run: randomKills},
		{Name: "orphans", Goes: "the backend, Ansible, its group, the supervisor, and it with the backend are killed: no process is left", Spec: Spec{Lease: 4 * time.Second}, Run: orphans},
		{Name: "paused", Goes: "a backend is stopped for three leases while its Ansible goes on: its run is fenced off", Run: paused},
		{Name: "cut_off", Goes: "a backend loses the database and not the host: its run ends, the job goes on elsewhere", Run: cutOff},
		{Name: "silence", Goes: "packets between one backend, or all, and the database vanish without a word, COMMITs among them: work goes on elsewhere, or when they come through again", Spec: Spec{Own: true, Hosts: 3, Patience: 2 * time.Second}, Run: silence},
		{Name: "cancelled", Goes: "jobs are cancelled while they run, at every failpoint and between two tries: the work on the host stops within 10 s", Run: cancelled},
		{Name: "long_lease", Goes: "a backend dies whose lease is half a minute, and its job is cancelled at once: over within 10 s", Spec: Spec{Backends: 2, Hosts: 1, Lease: 30 * time.Second}, Run: longLease},
		{Name: "database_ends", Goes: "the database is restarted politely, at once, and by kill -9, in the middle of plays", Spec: Spec{Own: true, Hosts: 3}, Run: databaseEnds},
		{Name: "database_full", Goes: "the database's disk is full under clients", Spec: Spec{Own: true, Room: 160 << 20}, Run: databaseFull},
		{Name: "database_slow", Goes: "the database answers 5, 50 and 500 ms late", Spec: Spec{Lease: 10 * time.Second, Patience: 30 * time.Second}, Run: databaseSlow},
		{Name: "clocks", Goes: "the database's clock is an hour ahead of the backends', goes on by half an hour at once and by an hour, and back by some seconds", Spec: Spec{Own: true, Ahead: time.Hour, Waits: 20 * time.Second}, Run: clocks},
		{Name: "lost_commits", Goes: "answers to COMMIT are lost: of requests, of claims, of ends, of logs", Spec: Spec{Hosts: 4}, Run: lostCommits},
		{Name: "serialization", Goes: "transactions are refused with 40001 by the dozen", Spec: Spec{Hosts: 3}, Run: serialization},
		{Name: "hosts_gone", Goes: "hosts are unplugged, rebooted and fall silent, in the middle of plays", Run: hostsGone},
		{Name: "disk_full", Goes: "the disk for running plays is full, and that of a host, before a play and in the middle of one", Run: diskFull},
		{Name: "long_log", Goes: "a play tells very much: none of it is lost, none comes twice", Spec: Spec{Lease: 10 * time.Second}, Run: longLog},
		{Name: "zones", Goes: "record sets are written to a real name server: backends end between the call and its record and at random, the server is killed, another hand changes a record", Spec: Spec{Hosts: 1}, Run: zones},
		{Name: "viewers", Goes: "backends are killed under viewers of a log: each reads all of it, in order, and nothing twice", Run: viewers},
		{Name: "crowd", Goes: "very many follow one job, some a byte a second: all others hear all of it, and its memory is bounded", Spec: Spec{Lease: 10 * time.Second}, Run: crowd},
		{Name: "balancer", Goes: "the load balancer is restarted, gently and not, and backends die behind it, under clients and viewers", Run: balancer},
		{Name: "duplicates", Goes: "every request of whole lives comes 2 to 10 times, at several backends at once, and all again at any time and in any order", Spec: Spec{Hosts: 1, Patience: 30 * time.Second}, Run: duplicates},
		{Name: "repeated_events", Goes: "plays tell every event 2 to 10 times and in any order: what comes of their jobs is the same", Spec: Spec{Hosts: 1}, Run: repeatedEvents},
		{Name: "schedules", Goes: "drawn schedules of requests, claims, takeovers and ends, in the queue's model: thousands in the long form", Spec: Spec{Backends: 1, Hosts: 1}, Run: schedules},
		{Name: "polite", Goes: "backends are asked to stop, while the queue is paused too: they hand over within seconds and leave no process", Spec: Spec{Lease: 10 * time.Second}, Run: polite},
		{Name: "soak", Goes: "a random backend is killed every few seconds under many clients", Spec: Spec{Hosts: 3, Manners: rough, MayFail: roughly}, Run: soak},
	}
}

// named returns the scenarios of these names, in their own order; all for none.
func named(only []string) (some []Scenario, err error) {
	all := Scenarios()
	if len(only) == 0 {
		return all, nil
	}
	var names []string
	for _, one := range all {
		names = append(names, one.Name)
		if slices.Contains(only, one.Name) {
			some = append(some, one)
		}
	}
	unknown := slices.DeleteFunc(slices.Clone(only), func(name string) bool { return slices.Contains(names, name) })
	if len(unknown) > 0 {
		return nil, fmt.Errorf("there is no scenario %q; there are %s", strings.Join(unknown, ", "), strings.Join(names, ", "))
	}
	return some, nil
}
