package playbook

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Ansible templates on the controller, in an environment that is no sandbox: {{ ''.__class__... }} is as good as a
// shell there, and so is a lookup. What is allowed in a template is therefore listed here; all else is refused. The
// look is at tokens, as Jinja's own lexer makes them, and leans on three rules: no attribute that Python keeps
// private can be named, nothing is called but what is listed, and an index is always a literal.

func set(words string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		all[w] = true
	}
	return all
}

var (
	jinjaKeywords   = set("and or not in is if else true false none True False None")
	jinjaConstants  = set("true false none True False None")
	jinjaStatements = set("if elif else endif for endfor set endset")
	jinjaFunctions  = set("lookup range")
	jinjaLookups    = set("template file ansible.builtin.template ansible.builtin.file")
	jinjaMethods    = set("get items keys values split rsplit splitlines strip lstrip rstrip lower upper title startswith endswith join count find")
	// Python's doors out of a value that do not begin with an underscore.
	jinjaPrivate = set("gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await cr_origin ag_frame ag_code ag_await func_globals func_code im_func im_self im_class mro tb_frame tb_next f_globals f_locals f_builtins f_back f_code")
	// Names that are more than a value.
	jinjaObjects = set("lookup query q now undef range dict lipsum cycler joiner namespace self context environment caller varargs kwargs vars hostvars varnames environ")
	jinjaFilters = set(`abs b64decode b64encode basename batch bool capitalize center checksum combinations combine d default dict2items dictsort
		difference dirname e escape first flatten float format from_json groupby hash human_readable human_to_bytes indent int intersect
		items items2dict join last length list log lower map max md5 mandatory min password_hash path_join permutations pow product quote
		regex_escape regex_findall regex_replace regex_search reject rejectattr replace reverse root round select selectattr sha1 slice sort
		split splitext string strftime subelements sum symmetric_difference ternary title to_datetime to_json to_nice_json to_nice_yaml
		to_uuid to_yaml trim truncate type_debug union unique upper urldecode urlencode urlsplit wordcount wordwrap zip zip_longest`)
	jinjaTests = set(`abs all any boolean callable change changed contains defined divisibleby eq equalto even failed failure false falsy
		finished float ge greaterthan gt in integer is_abs issubset issuperset iterable le lessthan lower lt mapping match nan ne none number
		odd regex search sequence skip skipped started string subset succeeded success successful superset true truthy undefined unreachable
		upper version version_compare`)
	// Filters that take the name of an attribute, of a filter or of a test.
	jinjaByName = set("map select reject selectattr rejectattr")
	jinjaByAttr = set("groupby sort sum unique min max items2dict dictsort subelements")
	// Arguments of filters that go by their names. Others are hooks that call what they are given (default= of to_json,
	// parse_int= of from_json), or choose a class.
	filterArguments = set(`attribute base block boolean by case_sensitive default default_value elements end encoding fill_with first format
		hashtype ignorecase indent isbits key_name killwords leeway length levels list_merge method multiline pattern recursive repeat replacement
		reverse skip_missing skip_nulls sort_keys start unit utc value_name width ensure_ascii explicit_start default_flow_style`)
	// What values of Python can do. Named and not called, it is a value that a filter would call; and it is found by an
	// index and by the name of an attribute as well.
	pythonMethods = set(`add append astimezone as_integer_ratio bit_count bit_length capitalize casefold center clear close combine conjugate
		copy count ctime cycle date decode difference difference_update discard dst encode endswith escape expandtabs extend find format
		format_map from_bytes fromhex fromisocalendar fromisoformat fromkeys fromordinal fromtimestamp get hex index insert intersection
		intersection_update is_integer isalnum isalpha isascii isdecimal isdigit isdisjoint isidentifier islower isnumeric isocalendar isoformat
		isoweekday isprintable isspace issubset issuperset istitle isupper items join keys ljust lower lstrip maketrans move_to_end now
		partition pop popitem remove removeprefix removesuffix replace reverse rfind rindex rjust rpartition rsplit rstrip send setdefault sort
		split splitlines startswith strftime strip striptags strptime swapcase symmetric_difference symmetric_difference_update throw time
		timestamp timetuple timetz title to_bytes today toordinal total_seconds translate tzname unescape union update upper utcfromtimestamp
		utcnow utcoffset utctimetuple values weekday zfill group groups groupdict expand end start span`)
	lookupArguments = set("rstrip lstrip template_vars trim_blocks lstrip_blocks convert_data")

	jinjaWord   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)
	jinjaNumber = regexp.MustCompile(`^[0-9]+(_[0-9]+)*(\.[0-9]+)?`)
	jinjaKey    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_ ./:@+-]*$`)
	jinjaAttr   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_]*(\.[A-Za-z0-9][A-Za-z0-9_]*)*$`)
)

const maxBrackets = 24 // open at a time: what stands between them is read once for each

type tokenKind byte

const (
	tokName tokenKind = iota
	tokString
	tokNumber
	tokOperator
)

type token struct {
	kind tokenKind
	text string // of a string: between the quotes, escapes as they are
	at   int    // offset in the text
}

func (t token) is(operator string) bool { return t.kind == tokOperator && t.text == operator }

// list names what is allowed, for a person.
func list(allowed map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(allowed)), ", ")
}

// template is one text that Ansible would template.
type template struct {
	text    string
	role    *role // whose files a lookup may name; nil outside of roles
	jobVars map[string]bool
	fault   func(at int, why string)
	declare func(at int, name string) // a name that the template sets
}

// isTemplate tells whether Ansible would look at a text at all.
func isTemplate(s string) bool {
	return strings.Contains(s, "{{") || strings.Contains(s, "{%") || strings.Contains(s, "{#")
}

// check looks at a text with {{ }}, {% %} and {# #} in it.
func (t template) check() {
	if i := strings.Index(t.text, "#jinja2:"); i >= 0 {
		t.fault(i, "changes the delimiters of templates (#jinja2:)")
		return
	}
	for at := 0; ; {
		open := nextOpen(t.text, at)
		if open < 0 {
			return
		}
		kind := t.text[open+1]
		if kind == '#' {
			end := strings.Index(t.text[open+2:], "#}")
			if end < 0 {
				t.fault(open, "has a comment that does not end")
				return
			}
			if isTemplate(t.text[open+2 : open+2+end]) {
				t.fault(open, "has a template within a comment")
			}
			at = open + 2 + end + 2
			continue
		}
		closing := "}}"
		if kind == '%' {
			closing = "%}"
		}
		from := open + 2
		if from < len(t.text) && strings.IndexByte("-+", t.text[from]) >= 0 {
			from++
		}
		tokens, end, why := lex(t.text, from, closing)
		if why != "" {
			t.fault(open, why)
			return
		}
		if kind == '%' {
			t.statement(open, tokens)
		} else {
			t.expression(tokens)
		}
		at = end
	}
}

func nextOpen(s string, at int) int {
	for i := at; i+1 < len(s); i++ {
		if s[i] == '{' && strings.IndexByte("{%#", s[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// bare looks at a text that Ansible takes for an expression without {{ }}.
func (t template) bare() {
	if isTemplate(t.text) || strings.Contains(t.text, "%}") || strings.Contains(t.text, "#jinja2:") {
		t.fault(0, "is a condition with {{ }} or {% %}; what such a template yields would be evaluated once more")
		return
	}
	tokens, _, why := lex(t.text, 0, "")
	if why != "" {
		t.fault(0, why)
		return
	}
	t.expression(tokens)
}

var operators = []string{"//", "**", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%", "~", "[", "]", "(", ")", "{", "}", "<", ">", "=", ".", ":", "|", ",", ";"}

// lex cuts the inside of a template into tokens, up to closing ("" for the end of the text), which counts only where
// no bracket is open. end is the offset behind it.
func lex(s string, at int, closing string) (tokens []token, end int, why string) {
	depth := 0
	for at < len(s) {
		rest := s[at:]
		if depth == 0 && closing != "" {
			if strings.HasPrefix(rest, closing) {
				return tokens, at + len(closing), ""
			}
			if (rest[0] == '-' || rest[0] == '+') && strings.HasPrefix(rest[1:], closing) {
				return tokens, at + 1 + len(closing), ""
			}
		}
		switch rest[0] {
		case ' ', '\t', '\n', '\r':
			at++
			continue
		case '\'', '"':
			n := stringEnd(rest)
			if n < 0 {
				return nil, 0, "has a string that does not end"
			}
			// Ansible doubles backslashes before Jinja reads a template, so Jinja sees the end of a string there.
			if strings.Contains(rest[:n], `\'`) || strings.Contains(rest[:n], `\"`) {
				return nil, 0, "has a backslash before a quote in a template; Ansible and Jinja end such a string in different places"
			}
			tokens = append(tokens, token{tokString, rest[1 : n-1], at})
			at += n
			continue
		}
		if w := jinjaWord.FindString(rest); w != "" {
			tokens = append(tokens, token{tokName, w, at})
			at += len(w)
			continue
		}
		if n := jinjaNumber.FindString(rest); n != "" {
			tokens = append(tokens, token{tokNumber, n, at})
			at += len(n)
			continue
		}
		i := slices.IndexFunc(operators, func(o string) bool { return strings.HasPrefix(rest, o) })
		if i < 0 {
			return nil, 0, fmt.Sprintf("has the character %+q in a template", []rune(rest)[0])
		}
		switch operators[i] {
		case "(", "[", "{":
			if depth++; depth > maxBrackets {
				return nil, 0, fmt.Sprintf("has brackets within brackets, more than %d deep", maxBrackets)
			}
		case ")", "]", "}":
			if depth--; depth < 0 {
				return nil, 0, "has a bracket that was not opened"
			}
		}
		tokens = append(tokens, token{tokOperator, operators[i], at})
		at += len(operators[i])
	}
	if closing != "" {
		return nil, 0, "has a template that does not end"
	}
	if depth != 0 {
		return nil, 0, "has a bracket that is not closed"
	}
	return tokens, at, ""
}

// stringEnd is the length of a string with its quotes; -1 if it does not end.
func stringEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return -1
}

func (t template) statement(at int, tokens []token) {
	if len(tokens) == 0 || tokens[0].kind != tokName || !jinjaStatements[tokens[0].text] {
		word := ""
		if len(tokens) > 0 {
			word = tokens[0].text
		}
		t.fault(at, fmt.Sprintf("has the statement %q; only if, for and set are taken", shown(word)))
		return
	}
	word, rest := tokens[0].text, tokens[1:]
	if word == "for" || word == "set" {
		for _, name := range rest {
			if name.is("=") || name.kind == tokName && name.text == "in" {
				break
			}
			if name.kind == tokName {
				t.declare(name.at, name.text)
			}
		}
	}
	if len(rest) > 0 {
		t.expression(rest)
	}
}

// expression looks at the tokens of one expression.
func (t template) expression(tokens []token) {
	prev := func(i int) token {
		if i == 0 {
			return token{kind: tokOperator}
		}
		return tokens[i-1]
	}
	next := func(i int) token {
		if i+1 >= len(tokens) {
			return token{kind: tokOperator}
		}
		return tokens[i+1]
	}
	ends := map[int]bool{} // tokens that end a value, so that ( calls it and [ looks into it
	for i := 0; i < len(tokens); i++ {
		tok := tokens[i]
		switch {
		case tok.kind == tokString || tok.kind == tokNumber:
			ends[i] = true
		case tok.kind == tokName:
			p := prev(i)
			switch {
			case p.is("."):
				t.attribute(tok, next(i).is("("), i == 2 && tokens[0].text == "loop" || i > 2 && tokens[i-2].text == "loop" && !tokens[i-3].is("."))
				ends[i] = true
			case p.is("|"):
				i = t.named(tokens, i, "filter", jinjaFilters)
			case p.kind == tokName && (p.text == "is" || p.text == "not" && i > 1 && tokens[i-2].kind == tokName && tokens[i-2].text == "is"):
				if tok.text != "not" {
					i = t.named(tokens, i, "test", jinjaTests)
				}
			case jinjaKeywords[tok.text]:
				ends[i] = jinjaConstants[tok.text] // none['...'] looks into a value too
			case next(i).is("("):
				if !jinjaFunctions[tok.text] {
					t.fault(tok.at, fmt.Sprintf("calls %s; the functions that are taken are lookup (of a template or a file of the same role) and range", tok.text))
				} else if tok.text == "lookup" {
					t.lookup(tok, arguments(tokens, i+1))
				}
			case jinjaObjects[tok.text] && !next(i).is("="):
				t.fault(tok.at, fmt.Sprintf("reads %s, which is more than a value", tok.text))
			default:
				ends[i] = true
			}
		case tok.is("("):
			if i > 0 && ends[i-1] && tokens[i-1].kind != tokName {
				t.fault(tok.at, "calls what an expression yields")
			}
			if n := next(i); n.is("*") || n.is("**") {
				t.fault(n.at, "spreads arguments")
			}
		case tok.is(","):
			if n := next(i); n.is("*") || n.is("**") {
				t.fault(n.at, "spreads arguments")
			}
		case tok.is("["):
			if i > 0 && ends[i-1] {
				t.index(tokens, i)
			}
		case tok.is(")") || tok.is("]") || tok.is("}"):
			ends[i] = true
		case tok.is("."):
			if n := next(i); n.kind != tokName && n.kind != tokNumber {
				t.fault(tok.at, "has a dot before something that is no name")
			}
		case tok.is(";"):
			t.fault(tok.at, "has a semicolon in a template")
		}
	}
}

func method(name string) bool { return pythonMethods[name] }

func private(name string) bool { return strings.HasPrefix(name, "_") || jinjaPrivate[name] }

func (t template) attribute(tok token, called, ofLoop bool) {
	switch {
	case private(tok.text):
		t.fault(tok.at, fmt.Sprintf("names the attribute %s, which Python keeps private", tok.text))
	case !called && pythonMethods[tok.text] && (!ofLoop || tok.text != "index"):
		t.fault(tok.at, fmt.Sprintf("names the method %s without calling it; use .get('%s') for a value of that name", tok.text, tok.text))
	case called && !jinjaMethods[tok.text]:
		t.fault(tok.at, fmt.Sprintf("calls the method %s; taken are %s", tok.text, list(jinjaMethods)))
	}
}

// named looks at the name of a filter or a test, and what it takes. It returns the index of the name's last token.
func (t template) named(tokens []token, i int, what string, allowed map[string]bool) int {
	first := tokens[i]
	name := first.text
	for i+2 < len(tokens) && tokens[i+1].is(".") && tokens[i+2].kind == tokName {
		name += "." + tokens[i+2].text
		i += 2
	}
	name = strings.TrimPrefix(name, "ansible.builtin.")
	if !allowed[name] {
		t.fault(first.at, fmt.Sprintf("uses the %s %s, which is not among those that are taken", what, name))
		return i
	}
	if what == "filter" && i+1 < len(tokens) && tokens[i+1].is("(") {
		t.filterArguments(first, name, arguments(tokens, i+1))
	}
	return i
}

// argument is one argument of a call: name is "" where it goes by its place.
type argument struct {
	name   string
	tokens []token
}

func (a argument) literal() (string, bool) {
	if len(a.tokens) != 1 || a.tokens[0].kind != tokString {
		return "", false
	}
	return a.tokens[0].text, true
}

// arguments cuts what stands between the bracket at i and its end.
func arguments(tokens []token, i int) []argument {
	var all []argument
	depth, from := 0, i+1
	take := func(to int) {
		if to > from {
			a := argument{tokens: tokens[from:to]}
			if len(a.tokens) > 1 && a.tokens[0].kind == tokName && a.tokens[1].is("=") {
				a.name, a.tokens = a.tokens[0].text, a.tokens[2:]
			}
			all = append(all, a)
		}
		from = to + 1
	}
	for j := i; j < len(tokens); j++ {
		switch tok := tokens[j]; {
		case tok.is("(") || tok.is("[") || tok.is("{"):
			depth++
		case tok.is(")") || tok.is("]") || tok.is("}"):
			if depth--; depth == 0 {
				take(j)
				return all
			}
		case tok.is(",") && depth == 1:
			take(j)
		}
	}
	return all
}

// filterArguments keeps names that are given as strings to those that could be written out.
func (t template) filterArguments(at token, filter string, args []argument) {
	attr := func(a argument) {
		if text, ok := a.literal(); !ok || !jinjaAttr.MatchString(text) || slices.ContainsFunc(strings.Split(text, "."), private) || slices.ContainsFunc(strings.Split(text, "."), method) {
			t.fault(at.at, fmt.Sprintf("gives the filter %s an attribute that is not a plain name, written out", filter))
		}
	}
	known := func(a argument, what string, allowed map[string]bool) {
		if text, ok := a.literal(); !ok || !allowed[strings.TrimPrefix(text, "ansible.builtin.")] || jinjaByName[text] || jinjaByAttr[text] {
			t.fault(at.at, fmt.Sprintf("gives the filter %s a %s that is not written out, or not among those that are taken", filter, what))
		}
	}
	place := 0
	for _, a := range args {
		switch {
		case a.name == "attribute":
			attr(a)
			continue
		case a.name != "":
			if !filterArguments[a.name] || a.name == "default" && strings.HasPrefix(filter, "to_") {
				t.fault(at.at, fmt.Sprintf("gives the filter %s the argument %s, which is not among those that are taken", filter, shown(a.name)))
			}
			if jinjaByName[filter] && a.name != "default" {
				t.fault(at.at, fmt.Sprintf("gives the filter %s the argument %s", filter, a.name))
			}
			if jinjaByAttr[filter] && strings.HasSuffix(a.name, "_name") {
				attr(a)
			}
			continue
		}
		switch {
		case filter == "map" && place == 0:
			known(a, "filter", jinjaFilters)
		case (filter == "select" || filter == "reject") && place == 0:
			known(a, "test", jinjaTests)
		case (filter == "selectattr" || filter == "rejectattr") && place == 0:
			attr(a)
		case (filter == "selectattr" || filter == "rejectattr") && place == 1:
			known(a, "test", jinjaTests)
		case filter == "join" && place == 1:
			attr(a)
		case jinjaByAttr[filter]:
			if len(a.tokens) != 1 || a.tokens[0].kind != tokName || !jinjaKeywords[a.tokens[0].text] {
				attr(a)
			}
		}
		place++
	}
}

// index looks at what stands in the brackets behind a value: literals only, since anything else could come to name
// what Python keeps private.
func (t template) index(tokens []token, i int) {
	for j := i + 1; j < len(tokens) && !tokens[j].is("]"); j++ {
		tok := tokens[j]
		switch {
		case tok.kind == tokNumber || tok.is("-") || tok.is(":"):
		case tok.kind == tokString && tokens[j-1].is("[") && j+1 < len(tokens) && tokens[j+1].is("]") && jinjaKey.MatchString(tok.text) && !private(tok.text) && !method(tok.text):
		default:
			t.fault(tok.at, "looks into a value with something else than a number or a plain text; use .get(...)")
			return
		}
	}
}

// lookup takes the templates and files of the same role, by their names.
func (t template) lookup(at token, args []argument) {
	if len(args) < 2 || args[0].name != "" || args[1].name != "" {
		t.fault(at.at, "calls lookup without naming its kind and a file")
		return
	}
	kind, ok := args[0].literal()
	if !ok || !jinjaLookups[kind] {
		t.fault(at.at, "uses a lookup that is not ansible.builtin.template or ansible.builtin.file, written out; lookups run on the controller")
		return
	}
	isTemplate := strings.HasSuffix(kind, "template")
	folder := "files"
	if isTemplate {
		folder = "templates"
	}
	file, ok := args[1].literal()
	if w := args[1].tokens; !ok && len(w) == 3 && w[0].kind == tokName && w[0].text == "role_path" && w[1].is("~") && w[2].kind == tokString {
		folder, file, ok = strings.Cut(strings.TrimPrefix(w[2].text, "/"), "/")
		ok = ok && (folder == "templates" || folder == "files")
	}
	switch {
	case !ok || !jinjaKey.MatchString(file) || strings.Contains(file, ".."):
		t.fault(at.at, "looks up a file whose name is not written out, or leaves the role")
	case t.role == nil:
		t.fault(at.at, "looks up a file outside of a role")
	case !t.role.has(folder + "/" + file):
		t.fault(at.at, fmt.Sprintf("looks up %s/%s, which the role does not have", folder, file))
	case isTemplate && (folder != "templates" || strings.Contains(file, "/") || !strings.HasSuffix(file, ".j2")):
		// Ansible looks for the name in further places, wherever a variable happens to be read. Of such a name there is
		// nothing but what was looked at.
		t.fault(at.at, "looks up a template that does not lie as templates/<name>.j2")
	}
	for _, a := range args[2:] {
		switch {
		case !lookupArguments[a.name]:
			t.fault(at.at, fmt.Sprintf("gives lookup the argument %q", a.name))
		case a.name == "template_vars":
			t.templateVars(at, a.tokens)
		case len(a.tokens) != 1 || !jinjaConstants[a.tokens[0].text]:
			t.fault(at.at, fmt.Sprintf("gives lookup the argument %s with something else than true or false", a.name))
		}
	}
}

// templateVars takes what Ansible can't evaluate a second time when the template reads it: texts without braces, numbers,
// and variables of the job, which are data to Ansible wherever they go.
func (t template) templateVars(at token, tokens []token) {
	bad := func() {
		t.fault(at.at, "gives template_vars something else than {'name': value}, with values that are written out without braces, or variables of the job; Ansible evaluates them once more")
	}
	if len(tokens) < 2 || !tokens[0].is("{") || !tokens[len(tokens)-1].is("}") {
		bad()
		return
	}
	for rest := tokens[1 : len(tokens)-1]; len(rest) > 0; {
		if len(rest) < 3 || rest[0].kind != tokString || !rest[1].is(":") || len(rest) > 3 && !rest[3].is(",") {
			bad()
			return
		}
		t.declare(rest[0].at, rest[0].text)
		switch v := rest[2]; {
		case v.kind == tokNumber:
		case v.kind == tokString && !strings.ContainsAny(v.text, `{}\`):
		case v.kind == tokName && (jinjaConstants[v.text] || t.jobVars[v.text]):
		default:
			bad()
			return
		}
		rest = rest[min(len(rest), 4):]
	}
}
