package demo

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"kloigos/rig/testhost"
)

// What has ended is started again after a moment, as systemd does it in an installation (inventory/systemd), and after a
// longer one each time that it does not last: a backend ends at once where its database, killed with it, is not back
// yet. What does not last at all is given up: a person should then read why.
const (
	restartPause = time.Second
	lasting      = 10 * time.Second
	mostEnds     = 6
)

// part is something of the installation that is kept running.
type part struct {
	name  string
	now   running
	again func(context.Context) (running, error)
}

// running is a part from its start to its end.
type running struct {
	pid  int
	done <-chan struct{}
	said func() string // what it said at last, or where that stands
}

// Wait keeps everything running until the context ends: whatever is killed is started again where it was, which is what
// a person who tries the demo may want to see. It fails when something ends again and again.
func (i *Installation) Wait(ctx context.Context) error {
	keeping, ctx := errgroup.WithContext(ctx)
	for _, p := range i.parts() {
		keeping.Go(func() error { return i.keep(ctx, p, restartPause) })
	}
	return keeping.Wait()
}

// keep starts one part again each time that it ends.
func (i *Installation) keep(ctx context.Context, p part, pause time.Duration) error {
	ends, began := 0, time.Now()
	for {
		select {
		case <-ctx.Done():
		case <-p.now.done:
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // whatever has ended by now should
		}
		if time.Since(began) >= lasting {
			ends = 0
		}
		if ends++; ends == mostEnds {
			return fmt.Errorf("%s ended %d times without lasting %s; %s", p.name, ends, lasting, p.now.said())
		}
		i.stages.Line("%s (process %d) ended; starting it again", p.name, p.now.pid)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause << (ends - 1)):
		}
		now, err := p.again(ctx)
		began = time.Now()
		if err != nil {
			i.stages.Line("%s: %v", p.name, err) // an end like the others
			continue
		}
		p.now = now
		i.stages.Line("%s runs again, as process %d", p.name, now.pid)
	}
}

// parts are all that runs, in the order in which it was started.
func (i *Installation) parts() []part {
	var all []part
	if i.database != nil {
		all = append(all, part{"database", i.databaseNow(), func(ctx context.Context) (running, error) {
			again, err := i.database.Again(ctx)
			if err != nil {
				return running{}, err
			}
			i.database = again
			return i.databaseNow(), nil
		}})
	}
	for n := range i.Backends {
		all = append(all, i.processPart(&i.Backends[n]))
	}
	for n := range i.Webapps {
		all = append(all, i.processPart(&i.Webapps[n]))
	}
	if i.proxy != nil {
		all = append(all, i.processPart(&i.proxy))
	}
	if i.VM != nil {
		all = append(all, part{"vm", i.vmNow(), func(ctx context.Context) (running, error) {
			again, err := testhost.Start(ctx, i.vmOptions) // in the same directory: the same machine, switched on
			if err != nil {
				return running{}, err
			}
			i.VM = again
			return i.vmNow(), nil
		}})
	}
	return all
}

func (i *Installation) processPart(p **Process) part {
	now := func() running { return running{(*p).PID, (*p).Done(), (*p).lastWords} }
	return part{(*p).Name, now(), func(context.Context) (running, error) {
		again, err := i.group.replace(*p)
		if err != nil {
			return running{}, err
		}
		*p = again
		return now(), nil
	}}
}

func (i *Installation) databaseNow() running {
	return running{i.database.PID, i.database.Done(), i.database.LastWords}
}

func (i *Installation) vmNow() running {
	return running{i.VM.PID(), i.VM.Done(), func() string { return "its console is in " + i.VM.Dir }}
}

// processes names what may be killed.
func (i *Installation) processes() []string {
	var named []string
	for _, p := range i.parts() {
		named = append(named, fmt.Sprintf("%s %d", p.name, p.now.pid))
	}
	return named
}
