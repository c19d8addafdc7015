package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Lines splits what was typed into a text area, empty lines left out.
func Lines(s string) []string {
	var all []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// Words splits what was typed at commas and spaces.
func Words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}

// Labels reads "key=value" pairs, one a line or separated by commas.
func Labels(s string) (map[string]string, error) {
	var labels map[string]string
	for _, pair := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '\n' }) {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		k, v, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not of the form key=value", pair)
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[strings.TrimSpace(k)] = strings.TrimSpace(v)
	}
	return labels, nil
}

var units = map[string]float64{
	"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30, "t": 1 << 40, "tib": 1 << 40,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
}

// Size reads "20 GiB", "512M" or a number of bytes; "" is 0.
func Size(s string) (int64, error) {
	s = strings.ToLower(strings.ReplaceAll(s, " ", ""))
	if s == "" {
		return 0, nil
	}
	digits := strings.TrimRight(s, "kmgtib")
	factor, ok := units[s[len(digits):]]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !ok || n < 0 || n*factor >= 1<<62 {
		return 0, fmt.Errorf("%q is not a size such as 20 GiB or 512 MiB", s)
	}
	return int64(n * factor), nil
}

// Number reads a whole number; "" is 0.
func Number(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return n, nil
}

// NewKey makes an idempotency key for a form that is drawn: however often that
// form is sent, it does its work once.
func NewKey() string { return uuid.NewString() }

// KeyOr returns the key that came with a form, or a new one in place of
// anything else.
func KeyOr(s string) string {
	if _, err := uuid.Parse(s); err != nil {
		return NewKey()
	}
	return s
}
