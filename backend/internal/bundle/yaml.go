package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

func place(file string, line int) string {
	if line < 1 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

func lineAt(text []byte, at int) int { return 1 + bytes.Count(text[:min(at, len(text))], []byte("\n")) }

var (
	// What YAML 1.1 (Ansible's) and other readers do not agree on: which characters end a line.
	otherBreaks = regexp.MustCompile("[\r\u0085\u2028\u2029\ufeff\v\f]")
	directive   = regexp.MustCompile(`(?m)^%`)
	parserError = regexp.MustCompile(`did not find expected ('[,-]'|node content|key|<)`)
	yamlLine    = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
)

// yaml reads a file and looks at what holds for all of them: one document, written so that every reader reads the same,
// no tags, no aliases that grow, and only harmless templates (none at all where plain).
func (g *gate) yaml(name string, r *role, plain bool) *yaml.Node {
	text := g.files[name]
	switch m := otherBreaks.FindIndex(text); {
	case len(text) > maxYAML:
		g.bad.add(name, "is %d bytes; a YAML file may have %d", len(text), maxYAML)
		return nil
	case m != nil:
		g.bad.add(place(name, lineAt(text, m[0])), "has the character %+q, which readers of YAML do not agree on; lines end with a line feed alone", []rune(string(text[m[0]:m[1]]))[0])
		return nil
	case directive.Match(text):
		g.bad.add(place(name, lineAt(text, directive.FindIndex(text)[0])), "has a directive (%%)")
		return nil
	}
	// Each value stands behind one of these: so many at most become nodes, before any is made.
	values := 0
	for _, mark := range []string{"\n", ",", "[", "{", "- ", "? "} {
		values += bytes.Count(text, []byte(mark))
	}
	if values > maxNodes {
		g.bad.add(name, "holds more than %d values", maxNodes)
		return nil
	}
	if g.values += values; g.values > maxAllNodes {
		g.bad.add(name, "makes the YAML files hold more than %d values together", maxAllNodes)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	err := decode(dec, &doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		g.bad.add(name, "is empty")
		return nil
	}
	if err != nil {
		line := 0
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1])
			if parserError.MatchString(err.Error()) {
				line++ // the library counts these from 0
			}
		}
		g.bad.add(place(name, line), "is not YAML: %s", yamlLine.ReplaceAllString(err.Error(), ""))
		return nil
	}
	if err := decode(dec, &more); !errors.Is(err, io.EOF) {
		g.bad.add(name, "holds more than one document")
		return nil
	}
	root := doc.Content[0]
	l := &yamlLook{gate: g, file: name, role: r, plain: plain, sizes: map[*yaml.Node]int{}}
	if root.Style&yaml.FlowStyle != 0 && len(root.Content) > 0 {
		g.bad.add(place(name, root.Line), "is written in braces as a whole, which Ansible would read as JSON first; write it in lines")
		return nil
	}
	if !l.node(root, 1) {
		return nil
	}
	if l.size(root, 0) > maxNodes {
		g.bad.add(name, "explodes: with its aliases it holds more than %d values", maxNodes)
		return nil
	}
	g.docs[name] = root
	return root
}

// decode keeps a panic of the library from ending more than this look.
func decode(dec *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("yaml: can't be read")
		}
	}()
	return dec.Decode(into)
}

type yamlLook struct {
	*gate
	file  string
	role  *role
	plain bool
	sizes map[*yaml.Node]int // -1 while it is being counted
	count int
}

// node looks at a node and all below it, aliases left to their anchors. It is false if there is no point in looking on.
func (l *yamlLook) node(n *yaml.Node, depth int) bool {
	where := place(l.file, n.Line)
	if l.count++; l.count > maxNodes {
		l.bad.add(where, "holds more than %d values", maxNodes)
		return false
	}
	if depth > maxNested {
		l.bad.add(where, "is nested more than %d deep", maxNested)
		return false
	}
	if n.Style&yaml.TaggedStyle != 0 {
		l.bad.add(where, "has the tag %s; tags can make readers run or decrypt something, and none is taken", shown(n.Tag))
		return false
	}
	switch n.Kind {
	case yaml.ScalarNode:
		l.scalar(n)
		return true
	case yaml.AliasNode:
		return true
	case yaml.MappingNode:
		if !l.keys(n) {
			return false
		}
	}
	for _, child := range n.Content {
		if !l.node(child, depth+1) {
			return false
		}
	}
	return true
}

func (l *yamlLook) keys(n *yaml.Node) bool {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		where := place(l.file, key.Line)
		switch {
		case key.Kind != yaml.ScalarNode:
			l.bad.add(where, "has a key that is not a plain text")
		case key.Value == "<<":
			l.bad.add(where, "merges mappings (<<), which hides keys; write them out")
		case seen[key.Value]:
			l.bad.add(where, "has the key %s twice", shown(key.Value))
		case isTemplate(key.Value):
			l.bad.add(where, "has a template in a key")
		case strings.HasPrefix(key.Value, "__ansible"):
			l.bad.add(where, "has the key %s, which is Ansible's own", shown(key.Value))
		default:
			seen[key.Value] = true
			continue
		}
		return false
	}
	return true
}

func (l *yamlLook) scalar(n *yaml.Node) {
	if strings.HasPrefix(n.Value, "$ANSIBLE_VAULT") {
		l.bad.add(place(l.file, n.Line), "is a vault; secrets of a run come from Kloigos")
		return
	}
	if l.plain {
		if isTemplate(n.Value) {
			l.bad.add(place(l.file, n.Line), "has a template; here Ansible evaluates even descriptions, so none is taken")
		}
		return
	}
	l.text(l.role, n.Value, func(line int) string { return place(l.file, scalarLine(n, line)) })
}

// scalarLine is the place of a line of a scalar's value; near it, where the value is folded.
func scalarLine(n *yaml.Node, line int) int {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		return n.Line
	}
	return n.Line + line
}

// size counts the values of a node with aliases followed, up to a little more than is allowed. An alias of what it
// stands in has no end.
func (l *yamlLook) size(n *yaml.Node, depth int) int {
	if depth > 4*maxNested {
		return maxNodes + 1
	}
	if known, ok := l.sizes[n]; ok {
		if known < 0 {
			return maxNodes + 1
		}
		return known
	}
	l.sizes[n] = -1
	total := 1
	if n.Kind == yaml.AliasNode {
		total += l.size(n.Alias, depth+1)
	}
	for _, child := range n.Content {
		total = min(total+l.size(child, depth+1), maxNodes+1)
	}
	l.sizes[n] = total
	return total
}
