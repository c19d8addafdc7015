package work_test

import (
	"testing"

	"kloigos/backend/internal/kernel/work"
)

// TestReadSubject: a draft is the same text however its fields were ordered, and its numbers are as exact as they were.
func TestReadSubject(t *testing.T) {
	t.Parallel()
	const want = `{"a":9007199254740993,"bb":[{"x":"1","yy":2}]}`
	for _, text := range []string{
		`{"objects":[],"draft":{"bb":[{"yy":2,"x":"1"}],"a":9007199254740993}}`,
		`{"draft": {"a": 9007199254740993, "bb": [{"x": "1", "yy": 2}]}, "objects": []}`,
	} {
		s, err := work.ReadSubject([]byte(text))
		if err != nil || string(s.Draft) != want {
			t.Errorf("%s, %v; want %s", s.Draft, err, want)
		}
	}
	if s, err := work.ReadSubject([]byte(`{"objects":[]}`)); err != nil || s.Draft != nil {
		t.Errorf("%s, %v; want no draft", s.Draft, err)
	}
	if _, err := work.ReadSubject([]byte(`{"draft":`)); err == nil {
		t.Error("half a subject was read")
	}
}
