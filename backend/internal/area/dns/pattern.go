package dns

import (
	"slices"
	"strings"
)

// MaxPatterns of a zone.
const MaxPatterns = 100

// Pattern names the part of a zone that a credential may change, such as "*.apps.example.org.". A label may contain one
// "*", which stands for one or more characters of that label, never for a dot. A pattern without "*" is one name.
type Pattern string

// ParsePattern reads a pattern of a zone. The final dot is optional. The error is a Refusal.
func ParsePattern(zone Name, text string) (Pattern, error) {
	text = strings.TrimSuffix(ideographicDots.Replace(strings.TrimSpace(text)), ".")
	if text == "" || len(text) > 4*maxName {
		return "", refuse("A pattern must have 1 to %d octets.", maxName)
	}
	labels := strings.Split(text, ".")
	for i, label := range labels {
		parsed, err := parsePatternLabel(label)
		if err != nil {
			return "", err
		}
		labels[i] = parsed
	}
	pattern := Pattern(strings.Join(labels, ".") + ".")
	if Name(pattern).octets() > maxName {
		return "", refuse("The pattern has %d octets. At most %d are allowed.", Name(pattern).octets(), maxName)
	}
	if !Name(pattern).Within(zone) {
		return "", refuse("The pattern %s is not in the zone %s.", strings.TrimSuffix(string(pattern), "."), zone.Display())
	}
	return pattern, nil
}

func parsePatternLabel(label string) (string, error) {
	switch strings.Count(label, "*") {
	case 0:
		return parseLabel(label)
	case 1:
	default:
		return "", refuse("The label %q has more than one *. One is allowed.", label)
	}
	// A digit in place of "*" keeps hyphens at either side valid. Unicode beside "*" would have no single A-label.
	if !isASCII(label) || strings.HasPrefix(strings.ToLower(label), "xn--") {
		return "", refuse("The label %q has a * beside an internationalized name. Use one or the other.", label)
	}
	if _, err := parseLabel(strings.Replace(label, "*", "0", 1)); err != nil {
		return "", err
	}
	return strings.ToLower(label), nil
}

// CheckPatterns reads all patterns of a zone. The problems name them by their place: "patterns[1]".
func CheckPatterns(zone Name, texts []string) ([]Pattern, Problems) {
	if len(texts) > MaxPatterns {
		return nil, Problems{{"patterns", refuse("There are %d patterns. At most %d are allowed.", len(texts), MaxPatterns).Error()}}
	}
	var patterns []Pattern
	var problems Problems
	for i, text := range texts {
		pattern, err := ParsePattern(zone, text)
		if err == nil && slices.Contains(patterns, pattern) {
			err = refuse("The pattern %s is there twice.", text)
		}
		if err != nil {
			problems = append(problems, Problem{indexed("patterns", i), err.Error()})
			continue
		}
		patterns = append(patterns, pattern)
	}
	if problems != nil {
		return nil, problems
	}
	return patterns, nil
}

// Match reports whether the name has the pattern's labels, one for one.
func (p Pattern) Match(name Name) bool {
	wanted, labels := strings.Split(string(p), "."), strings.Split(string(name), ".")
	if len(wanted) != len(labels) {
		return false
	}
	for i, want := range wanted {
		before, after, star := strings.Cut(want, "*")
		label := labels[i]
		if !star && label != want {
			return false
		}
		if star && (len(label) <= len(before)+len(after) || !strings.HasPrefix(label, before) || !strings.HasSuffix(label, after)) {
			return false
		}
	}
	return true
}

// Delegated reports whether a credential with these patterns may change the name. Without patterns it may change them all.
func Delegated(patterns []Pattern, name Name) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Match(name) })
}
