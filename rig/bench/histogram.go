package bench

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// histogram is one of a backend's histograms: how many values were at most each bound, in the order of the bounds.
type histogram []bucketCount

type bucketCount struct {
	bound float64 // seconds; +Inf last
	count int64
}

// histogram reads one without labels from the backend's metrics.
func (s *backend) histogram(ctx context.Context, name string) (histogram, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.listen+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var h histogram
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name+`_bucket{le="`)
		if !ok {
			continue
		}
		bound, count, _ := strings.Cut(rest, `"} `)
		le, err := strconv.ParseFloat(bound, 64)
		if err != nil {
			return nil, fmt.Errorf("read metrics: %w", err)
		}
		n, err := strconv.ParseFloat(count, 64)
		if err != nil {
			return nil, fmt.Errorf("read metrics: %w", err)
		}
		h = append(h, bucketCount{le, int64(n)})
	}
	if len(h) == 0 {
		return nil, fmt.Errorf("%s has no histogram %s (status %d)", s.Name, name, response.StatusCode)
	}
	return h, lines.Err()
}

// since is what came after an earlier reading.
func (h histogram) since(before histogram) histogram {
	later := make(histogram, len(h))
	for i, b := range h {
		later[i] = b
		if i < len(before) {
			later[i].count -= before[i].count
		}
	}
	return later
}

func (h histogram) count() int64 { return h[len(h)-1].count }

// quantile is interpolated inside of its bucket, as Prometheus does it.
func (h histogram) quantile(q float64) float64 {
	rank := q * float64(h.count())
	low, below := 0.0, int64(0)
	for _, b := range h {
		if float64(b.count) >= rank {
			if math.IsInf(b.bound, 1) || b.count == below {
				return low
			}
			return low + (b.bound-low)*(rank-float64(below))/float64(b.count-below)
		}
		low, below = b.bound, b.count
	}
	return low
}
