package releasework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"kloigos/backend/internal/kernel/egress"
)

const (
	patience  = 3 * time.Second
	maxAnswer = 4 << 10
)

var version = regexp.MustCompile(`^[A-Za-z0-9(][A-Za-z0-9._+()-]{0,63}$`)

// Asker asks web apps for their version, in networks that the rule allows. It follows no redirect.
func Asker(rule egress.Rule) func(ctx context.Context, base string) (runs, why string) {
	client := &http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{DialContext: rule.Dialer().DialContext, DisableKeepAlives: true, ResponseHeaderTimeout: patience},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, base string) (runs, why string) {
		runs, err := ask(ctx, client, base+"/web/version")
		if err == nil {
			return runs, ""
		}
		var odd strange
		if errors.As(err, &odd) {
			return "", odd.Error()
		}
		return "", egress.Why(err).Message("the web app", patience, err)
	}
}

// strange is an answer that is none of a web app of ours.
type strange string

func (s strange) Error() string { return string(s) }

func ask(ctx context.Context, client *http.Client, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", fmt.Errorf("ask for a version: %w", err)
	}
	answer, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask for a version: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode == http.StatusNotFound {
		return "", strange("It tells no version: it is of an older release, or is asked through a proxy.")
	}
	if answer.StatusCode != http.StatusOK {
		return "", strange(fmt.Sprintf("It answered %d.", answer.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("read a version: %w", err)
	}
	var told struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(body, &told) != nil || !version.MatchString(told.Version) {
		return "", strange("It answered, but not with a version.")
	}
	return told.Version, nil
}
