package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"kloigos/rig/demo"
)

const (
	// toldASecond is what each of the jobs tells that browsers follow.
	toldASecond = 100
	logPage     = 2000
)

// stream has browsers follow jobs through the web app and a backend that does not run them, and looks at how old an
// entry is when it is there, by the time that it was told with.
func stream(ctx context.Context, b *Bed, scale Scale) (results []Result, err error) {
	database, err := b.fleet(ctx, unitsAHost, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	s, err := b.startBackend(ctx, database, "api")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Kill()) }()
	ports, err := demo.FreePorts(0, 1)
	if err != nil {
		return nil, err
	}
	site := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	p, err := b.group.Start(fmt.Sprintf("webapp-%d", b.made.Add(1)), b.path("kloigos-webapp"), []string{
		"KLOIGOS_WEB_LISTEN=" + strings.TrimPrefix(site, "http://"), "KLOIGOS_API_URL=http://" + s.listen, "KLOIGOS_WEB_INSECURE_COOKIE=true",
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Kill() }()
	if err := awaitReady(ctx, p, site+"/web/healthz"); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var ages []time.Duration
	var errs []error
	var all sync.WaitGroup
	for range scale.Watched {
		all.Go(func() {
			some, err := b.watched(ctx, s, site, database, scale.Told)
			mu.Lock()
			defer mu.Unlock()
			ages, errs = append(ages, some...), append(errs, err)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return []Result{{
		What: fmt.Sprintf("p99 from the telling of an entry to the browser, through the job log, another backend and the web app; %d jobs, %d entries a second each",
			scale.Watched, toldASecond),
		Limit: Limit{Value: 1000, Unit: "ms"}, Measured: float64(percentile(ages, 99)) / float64(time.Millisecond),
		Raw: fmt.Sprintf("median %s; %d entries, each once and in order", milliseconds(percentile(ages, 50)), len(ages)),
	}}, nil
}

// watched has one job tell, and one browser follow it, and returns how old each entry was.
func (b *Bed) watched(ctx context.Context, s *backend, site, database string, entries int) ([]time.Duration, error) {
	t, err := b.newTeller(ctx, database)
	if err != nil {
		return nil, err
	}
	seen := make(chan error, 1)
	var arrived []time.Time
	open := make(chan struct{})
	go func() {
		var err error
		arrived, err = browse(ctx, site+"/jobs/"+t.job+"/stream", s.token, open)
		seen <- err
	}()
	select {
	case <-open:
	case err := <-seen:
		return nil, errors.Join(err, t.end())
	}
	_, err = t.tell(entries, toldASecond)
	if err = errors.Join(err, t.end(), <-seen); err != nil {
		return nil, err
	}
	if len(arrived) != entries {
		return nil, fmt.Errorf("a browser saw %d of %d entries", len(arrived), entries)
	}
	ages := make([]time.Duration, 0, entries)
	for len(ages) < entries {
		page, err := s.client.GetJobLog(ctx, t.job, int64(len(ages)), logPage)
		if err != nil || len(page.Items) == 0 {
			return nil, fmt.Errorf("read the log from entry %d: %w", len(ages), err)
		}
		for _, e := range page.Items {
			ages = append(ages, arrived[len(ages)].Sub(e.Time))
		}
	}
	return ages, nil
}

var drawnLine = regexp.MustCompile(`<li id="L(\d+)"`)

// browse reads a job's stream as a browser does, to its end, and returns when each line was there, of which none may be
// missing and none may come again. open is closed at the first event.
func browse(ctx context.Context, url, token string, open chan<- struct{}) (arrived []time.Time, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	request.AddCookie(&http.Cookie{Name: "kloigos", Value: token})
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("follow a job: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("follow a job: %s", answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 4<<20)
	first := true
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "event: ") && first {
			first = false
			close(open)
		}
		if lines.Text() == "event: end" {
			return arrived, nil
		}
		for _, found := range drawnLine.FindAllStringSubmatch(lines.Text(), -1) {
			if found[1] != strconv.Itoa(len(arrived)+1) {
				return nil, fmt.Errorf("line %s follows line %d", found[1], len(arrived))
			}
			arrived = append(arrived, time.Now())
		}
	}
	return nil, errors.Join(errors.New("the stream broke off"), lines.Err())
}
