package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"

	"kloigos/backend/api"
)

const (
	maxDepth  = 64     // of nesting in a body
	maxValues = 10_000 // in a body; keeps what 1 MiB of "[],[],..." becomes in memory small
	maxNames  = 512    // of one object; each unknown one becomes a fault to tell
	maxNumber = 32     // characters of a number
	maxName   = 256    // bytes of a name as it is written
	maxFaults = 20     // told of one body
	// Larger bodies are decoded one at a time, since each becomes several times its size in memory. That is collected
	// after so many bytes of them: the collector by itself would let it pile up first.
	smallBody      = 16 << 10
	collectAfter   = 4 << 20
	maxLargeBodies = 1
)

// strict refuses what the types alone would let pass, before anything is
// decoded: a query or a body that two readers can read in two ways. archive: the
// body may be an artifact instead of JSON, which the handler looks at.
func (s *Server) strict(takesBody, archive bool) func(huma.Context, func(huma.Context)) {
	return func(c huma.Context, next func(huma.Context)) {
		u := c.URL()
		faults := checkQuery(u.Query())
		// Fiber would decompress the body, whatever size it grows to.
		if e := c.Header("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
			s.answer(c, problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "Compressed bodies are not taken."))
			return
		}
		// The very bytes of the server: a copy for each look would add up.
		body := humafiber.UnwrapV2(c).Request().Body()
		if len(body) > smallBody {
			select {
			case s.largeBodies <- struct{}{}:
				r := requestOf(c.Context())
				r.decoded = sync.OnceFunc(func() { s.collector.Done(len(body)); <-s.largeBodies })
				defer r.decoded()
			case <-c.Context().Done():
				s.answer(c, c.Context().Err())
				return
			}
		}
		if archive && isArchive(c.Header("Content-Type")) {
			takesBody, body = true, nil
		}
		p := checkBody(body, c.Header("Content-Type"), takesBody)
		switch {
		case p != nil && len(p.Errors) == 0: // of another type
			s.answer(c, p)
			return
		case p != nil:
			faults = append(faults, p.Errors...)
		}
		// What can't be read as a whole is not decoded. The rest is told together
		// with what the types and the meaning of the fields say.
		if slices.ContainsFunc(faults, func(f api.FieldProblem) bool { return f.Field == "" || len(faults) == maxFaults }) {
			s.answer(c, invalid(faults...))
			return
		}
		requestOf(c.Context()).faults = faults
		next(c)
	}
}

func checkQuery(q url.Values) []api.FieldProblem {
	var faults []api.FieldProblem
	for name, values := range q {
		switch {
		case !utf8.ValidString(name) || strings.ContainsFunc(name, isControl):
			faults = append(faults, api.FieldProblem{Message: "the query has a name that is no text"})
		case len(values) > 1:
			faults = append(faults, api.FieldProblem{Field: name, Message: "is given more than once"})
		case !utf8.ValidString(values[0]) || strings.ContainsFunc(values[0], isControl):
			faults = append(faults, api.FieldProblem{Field: name, Message: "holds bytes that are no text"})
		}
	}
	return faults
}

func isArchive(contentType string) bool {
	return strings.EqualFold(strings.TrimSpace(contentType), zstdType)
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

func checkBody(body []byte, contentType string, takesBody bool) *api.Problem {
	if len(body) == 0 {
		return nil // whether one is needed, the types say
	}
	if !takesBody {
		if t := strings.TrimSpace(string(body[:min(len(body), 64)])); t == "{}" || t == "" {
			return nil
		}
		return badField("", "this request takes no body")
	}
	media, parameters, _ := strings.Cut(contentType, ";")
	charset := strings.ToLower(strings.ReplaceAll(parameters, " ", ""))
	if m := strings.TrimSpace(media); m != "" && !strings.EqualFold(m, "application/json") || charset != "" && charset != "charset=utf-8" {
		return problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "The body must be application/json in UTF-8.")
	}
	if faults := checkJSON(body); len(faults) > 0 {
		return invalid(faults...)
	}
	return nil
}

// checkJSON finds what encoding/json lets pass or repairs in silence: bytes
// that are not UTF-8, lone surrogates, NUL (which the database can't hold),
// names given twice, deep nesting, and numbers that are not whole 64-bit ones
// (the API has no others).
func checkJSON(body []byte) []api.FieldProblem {
	if !utf8.Valid(body) {
		return []api.FieldProblem{{Message: "the body is not UTF-8"}}
	}
	if !json.Valid(body) { // which, unlike decoding, needs no memory
		message := "the body is not JSON"
		err := json.Unmarshal(body, &struct{}{})
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			message += ": " + syntax.Error() + ", at byte " + strconv.FormatInt(syntax.Offset, 10)
		}
		return []api.FieldProblem{{Message: message}}
	}
	w := jsonWalk{text: body}
	w.value(1)
	return w.faults
}

// jsonWalk goes through text that is known to be JSON.
type jsonWalk struct {
	text   []byte
	at     int
	path   []step
	values int
	faults []api.FieldProblem
	over   bool // too deep or too much: no further look
}

// step is one step into a document: a name, or an index where name is "".
type step struct {
	name  string
	index int
}

func (w *jsonWalk) fault(message string) {
	if len(w.faults) < maxFaults {
		w.faults = append(w.faults, api.FieldProblem{Field: w.field(), Message: message})
	}
}

func (w *jsonWalk) field() string {
	var b strings.Builder
	for _, s := range w.path {
		if s.name == "" {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.name[:min(len(s.name), 100)])
	}
	return b.String()
}

func (w *jsonWalk) space() {
	for w.at < len(w.text) && strings.IndexByte(" \t\r\n", w.text[w.at]) >= 0 {
		w.at++
	}
}

func (w *jsonWalk) value(depth int) {
	w.space()
	if w.values++; w.values > maxValues && !w.over {
		w.path, w.over = nil, true
		w.fault("the body holds more than " + strconv.Itoa(maxValues) + " values")
	}
	if w.over {
		return
	}
	switch c := w.text[w.at]; c {
	case '{', '[':
		if depth > maxDepth {
			w.path, w.over = nil, true
			w.fault("the body is nested more than " + strconv.Itoa(maxDepth) + " deep")
			return
		}
		w.at++
		if c == '{' {
			w.object(depth)
		} else {
			w.array(depth)
		}
	case '"':
		w.string()
	case 't', 'n':
		w.at += 4
	case 'f':
		w.at += 5
	default:
		w.number()
	}
}

func (w *jsonWalk) object(depth int) {
	seen := map[string]bool{}
	for !w.over {
		w.space()
		switch w.text[w.at] {
		case '}':
			w.at++
			return
		case ',':
			w.at++
			continue
		}
		from := w.at
		w.string()
		if len(seen) == maxNames || w.at-from > maxName {
			w.path, w.over = nil, true
			w.fault("the body has an object of more than " + strconv.Itoa(maxNames) + " names, or a name of more than " + strconv.Itoa(maxName) + " bytes")
			return
		}
		var name string
		_ = json.Unmarshal(w.text[from:w.at], &name) // known to be a string
		w.path = append(w.path, step{name: name})
		if seen[name] {
			w.fault("is given more than once")
		}
		seen[name] = true
		w.space()
		w.at++ // the colon
		w.value(depth + 1)
		w.pop()
	}
}

func (w *jsonWalk) array(depth int) {
	for i := 0; !w.over; {
		w.space()
		switch w.text[w.at] {
		case ']':
			w.at++
			return
		case ',':
			w.at++
			continue
		}
		w.path = append(w.path, step{index: i})
		w.value(depth + 1)
		w.pop()
		i++
	}
}

func (w *jsonWalk) pop() {
	if len(w.path) > 0 {
		w.path = w.path[:len(w.path)-1]
	}
}

// string goes over a string.
func (w *jsonWalk) string() {
	nul, lone := false, false
	for w.at++; w.text[w.at] != '"'; {
		if w.text[w.at] != '\\' {
			w.at++
			continue
		}
		if w.text[w.at+1] != 'u' {
			w.at += 2
			continue
		}
		r := w.unit(w.at)
		w.at += 6
		switch {
		case r == 0:
			nul = true
		case r >= 0xdc00 && r < 0xe000:
			lone = true
		case r >= 0xd800 && r < 0xdc00:
			if low := w.unit(w.at); low >= 0xdc00 && low < 0xe000 {
				w.at += 6
			} else {
				lone = true
			}
		}
	}
	w.at++
	if nul {
		w.fault("holds a NUL character")
	}
	if lone {
		w.fault("holds half of a surrogate pair")
	}
}

// unit reads the \uXXXX at a place; -1 if there is none.
func (w *jsonWalk) unit(at int) int64 {
	if at+6 > len(w.text) || w.text[at] != '\\' || w.text[at+1] != 'u' {
		return -1
	}
	n, err := strconv.ParseInt(string(w.text[at+2:at+6]), 16, 32)
	if err != nil {
		return -1
	}
	return n
}

func (w *jsonWalk) number() {
	from := w.at
	for w.at < len(w.text) && strings.IndexByte("+-.eE0123456789", w.text[w.at]) >= 0 {
		w.at++
	}
	if _, err := strconv.ParseInt(string(w.text[from:min(w.at, from+maxNumber)]), 10, 64); err != nil || w.at-from >= maxNumber {
		w.fault("must be a whole number of at most 64 bits, written plainly")
	}
}
