package kube

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kloigos/backend/internal/kernel/fault"
)

func TestNamespaceDraft(t *testing.T) {
	t.Parallel()
	d, err := NamespaceDraft{Name: "shop", QuotaCPU: "50m", QuotaMemory: "8192Mi", QuotaPods: 7}.checked()
	if err != nil || d.DefaultCPU != "50m" || d.QuotaMemory != "8Gi" || d.DefaultMemory != defaultMemory {
		t.Errorf("%+v, %v", d, err)
	}
	n := Namespace{QuotaCPU: d.QuotaCPU, QuotaPods: d.QuotaPods, DefaultCPU: d.DefaultCPU}
	if got := fmt.Sprint(n.Hard(), n.Defaults()); got != "map[limits.cpu:50m pods:7] map[cpu:50m]" {
		t.Error(got)
	}
	if d, err := (NamespaceDraft{Name: "shop"}).checked(); err != nil || d.DefaultCPU != "" || d.DefaultMemory != "" {
		t.Errorf("without a quota: %+v, %v", d, err)
	}
}

// Whatever is typed is refused at once, with the name of its field.
func TestHostileNamespaces(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range maxLabels + 1 {
		many[fmt.Sprint("label-", i)] = ""
	}
	begun := time.Now()
	for field, drafts := range map[string][]NamespaceDraft{
		"name": {
			{},
			{Name: "default"},
			{Name: "kube-system"},
			{Name: "kloigos-x"},
			{Name: "-a"},
			{Name: "A"},
			{Name: "a/b"},
			{Name: "../secrets"},
			{Name: "a\n"},
			{Name: "shop?dryRun=All"},
			{Name: "ſhop"},
			{Name: strings.Repeat("a", 64)},
			{Name: "a\x00"},
		},
		"quota_cpu": {
			{QuotaCPU: "lots"}, {QuotaCPU: "-1"}, {QuotaCPU: "0"}, {QuotaCPU: "0.0"}, {QuotaCPU: "1e-99999999"}, {QuotaCPU: "1e9"}, {QuotaCPU: " 1"}, {QuotaCPU: "1\n"}, {QuotaCPU: "+1"},
		},
		"quota_memory":   {{QuotaMemory: "8GiB"}, {QuotaMemory: "9999999999999999Gi"}},
		"quota_storage":  {{QuotaStorage: "1e-2147483647"}},
		"quota_pods":     {{QuotaPods: -1}, {QuotaPods: maxPods + 1}},
		"default_cpu":    {{DefaultCPU: "many"}, {DefaultCPU: "2", QuotaCPU: "1"}},
		"default_memory": {{DefaultMemory: "1n"}, {DefaultMemory: "2Gi", QuotaMemory: "1Gi"}},
		"labels": {
			{Labels: many},
			{Labels: map[string]string{"kloigos.io/namespace": "x"}},
			{Labels: map[string]string{"x.kloigos.io/y": ""}},
			{Labels: map[string]string{"kubernetes.io/metadata.name": "default"}},
			{Labels: map[string]string{"app.kubernetes.io/managed-by": "me"}},
			{Labels: map[string]string{"a b": ""}},
			{Labels: map[string]string{"a": "b\n"}},
			{Labels: map[string]string{"": ""}},
			{Labels: map[string]string{"a": strings.Repeat("b", 64)}},
			{Labels: map[string]string{"x.pod-security.kubernetes.io/enforce": "privileged"}},
		},
	} {
		for _, d := range drafts {
			if field != "name" {
				d.Name = "shop"
			}
			var bad *fault.Invalid
			if _, err := d.checked(); !errors.As(err, &bad) || len(bad.Fields) != 1 || bad.Fields[0].Field != field {
				t.Errorf("%s: %+v: %v", field, d, err)
			}
		}
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
