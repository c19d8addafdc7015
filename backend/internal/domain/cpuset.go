package domain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxCPU is the highest CPU number that a set may name (Linux's NR_CPUS limit).
const MaxCPU = 8191

// CPUSet is a sorted set of logical CPU numbers.
type CPUSet []int

// ParseCPUSet reads "0-3", "0,2,4" and "0-7:2" (a range with a step) and
// mixtures of them. A CPU named twice is an error, since it is a mistake.
func ParseCPUSet(s string) (CPUSet, error) {
	if len(s) > 4096 {
		return nil, fmt.Errorf("the CPU set is longer than 4096 characters")
	}
	var set CPUSet
	seen := map[int]bool{}
	for part := range strings.SplitSeq(s, ",") {
		first, last, step, err := parseCPURange(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		for c := first; c <= last; c += step {
			if seen[c] {
				return nil, fmt.Errorf("CPU %d appears twice", c)
			}
			seen[c] = true
			set = append(set, c)
		}
	}
	slices.Sort(set)
	return set, nil
}

func parseCPURange(part string) (first, last, step int, err error) {
	span, stepText, hasStep := strings.Cut(part, ":")
	lo, hi, isRange := strings.Cut(span, "-")
	if first, err = parseCPU(lo); err != nil {
		return 0, 0, 0, err
	}
	last, step = first, 1
	if isRange {
		if last, err = parseCPU(hi); err != nil {
			return 0, 0, 0, err
		}
	}
	if hasStep {
		if !isRange {
			return 0, 0, 0, fmt.Errorf("%q has a step but is not a range", part)
		}
		if step, err = parseCPU(stepText); err != nil || step == 0 {
			return 0, 0, 0, fmt.Errorf("%q has a step that is not a number above zero", part)
		}
	}
	if last < first {
		return 0, 0, 0, fmt.Errorf("range %q ends before it begins", part)
	}
	return first, last, step, nil
}

func parseCPU(s string) (int, error) {
	if s == "" || len(s) > 4 || strings.Trim(s, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not a CPU number", s)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > MaxCPU {
		return 0, fmt.Errorf("%q is not a CPU number up to %d", s, MaxCPU)
	}
	return n, nil
}

// String writes the set in the kernel's list form, such as "0-3,8".
func (s CPUSet) String() string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j+1 < len(s) && s[j+1] == s[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(s[i]))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(s[j]))
		}
		i = j + 1
	}
	return b.String()
}

// Contains tells whether cpu is in the set.
func (s CPUSet) Contains(cpu int) bool {
	_, ok := slices.BinarySearch(s, cpu)
	return ok
}
