package ansible

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

var varNamePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,127}$`)

// encodeVars makes the file of extra variables. Ansible evaluates templates in extra variables on the controller, so
// every string is marked as unsafe, which is how Ansible calls data that is never to be evaluated. Names could do the
// same harm (ansible_connection, ansible_ssh_common_args), and so could a marker of Ansible's own as a key.
func encodeVars(vars any) ([]byte, error) {
	raw, err := json.Marshal(vars)
	if err != nil {
		return nil, fmt.Errorf("variables: %w", err)
	}
	tree, err := decodeTree(raw)
	if err != nil {
		return nil, fmt.Errorf("variables: %w", err)
	}
	if tree == nil {
		return []byte("{}"), nil
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("variables: not an object")
	}
	wrapped, err := wrapUnsafe(object, "")
	if err != nil {
		return nil, err
	}
	return json.Marshal(wrapped)
}

func wrapUnsafe(value any, at string) (any, error) {
	switch v := value.(type) {
	case string:
		return map[string]string{"__ansible_unsafe": v}, nil
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			var err error
			if list[i], err = wrapUnsafe(element, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, element := range v {
			if !varNamePattern.MatchString(key) || strings.HasPrefix(key, "ansible_") {
				return nil, fmt.Errorf("variables: name %q is not allowed (in %q)", key, at)
			}
			var err error
			if object[key], err = wrapUnsafe(element, at+"."+key); err != nil {
				return nil, err
			}
		}
		return object, nil
	default: // numbers, booleans, null
		return v, nil
	}
}

// decodeTree reads exactly one JSON value; numbers keep all their digits.
func decodeTree(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return tree, nil
}
