"""Judge texts that Ansible would evaluate, on the tree of Jinja's own parser.

A request is one line of JSON on standard input, its answer one line on standard output. Nothing is ever evaluated. What
is not listed here is refused: kinds of nodes, names, filters, tests, their arguments, methods.

Ansible doubles the backslashes of some texts before Jinja reads them (of values in YAML, not of template files), and so
does ansible-lint of conditions. Each text is judged in every form in which Jinja may come to see it, whatever its place.
"""

import ast
import importlib.util
import json
import os
import re
import resource
import signal
import sys

MAX_MEMORY = 400 << 20  # bytes of address space
MAX_SECONDS = 20  # of one request; the backend gives up earlier
MAX_BRACKETS = 24  # open at a time
MAX_DEPTH = 80  # of a tree
MAX_FAULTS = 200  # of one request

# Before Jinja is loaded: whatever it costs is within the limit.
resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

import datetime  # noqa: E402

import jinja2  # noqa: E402
from jinja2 import nodes  # noqa: E402
from markupsafe import Markup  # noqa: E402


def words(text):
    return frozenset(text.split())


NODES = {
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign, nodes.AssignBlock, nodes.Name, nodes.Const,
    nodes.Tuple, nodes.List, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.CondExpr, nodes.Filter, nodes.Test, nodes.Call,
    nodes.Getitem, nodes.Getattr, nodes.Slice, nodes.Concat, nodes.Compare, nodes.Operand, nodes.Add, nodes.Sub, nodes.Mul,
    nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow, nodes.Not, nodes.Neg, nodes.Pos, nodes.And, nodes.Or,
}
STATEMENTS = words("if elif else endif for endfor set endset")
# Names that are more than a value.
OBJECTS = words("""lookup query q now undef range dict lipsum cycler joiner namespace self context environment caller varargs kwargs
    vars hostvars varnames environ super loop""")
LOOP = words("index index0 revindex revindex0 first last length depth depth0 previtem nextitem")
LOOKUPS = {"template": "templates", "file": "files"}
LOOKUP_FLAGS = words("rstrip lstrip trim_blocks lstrip_blocks convert_data")
LOOP_FILTERS = words("list dict2items sort reverse unique flatten items")
METHODS = {  # how many arguments each may have
    "get": 2, "items": 0, "keys": 0, "values": 0, "split": 2, "rsplit": 2, "splitlines": 1, "strip": 1, "lstrip": 1, "rstrip": 1,
    "lower": 0, "upper": 0, "title": 0, "startswith": 1, "endswith": 1, "join": 1, "count": 1, "find": 1,
}
# Doors out of a value that do not begin with an underscore.
PRIVATE = words("""gi_frame gi_code gi_yieldfrom gi_running gi_suspended cr_frame cr_code cr_await cr_origin cr_running ag_frame ag_code ag_await
    func_globals func_code im_func im_self im_class mro tb_frame tb_next f_globals f_locals f_builtins f_back f_code""")

# Of each filter how many arguments go by their place, and which go by name. Others are hooks that call what they are
# given (default= of to_json, parse_int= of from_json), choose a class, or reach into attributes.
FILTERS = {
    "abs": (0, ""), "b64decode": (1, "encoding"), "b64encode": (1, "encoding"), "basename": (0, ""), "batch": (2, "linecount fill_with"),
    "bool": (0, ""), "capitalize": (0, ""), "center": (1, "width"), "checksum": (0, ""), "combinations": (1, "r"),
    "combine": (20, "recursive list_merge"), "d": (2, "default_value boolean"), "default": (2, "default_value boolean"),
    "dict2items": (2, "key_name value_name"), "dictsort": (3, "case_sensitive by reverse"), "difference": (1, ""), "dirname": (0, ""),
    "e": (0, ""), "escape": (0, ""), "first": (0, ""), "flatten": (2, "levels skip_nulls"), "float": (1, "default"), "format": (20, ""),
    "from_json": (0, ""), "groupby": (1, "attribute default case_sensitive"), "hash": (1, "hashtype"),
    "human_readable": (2, "isbits unit"), "human_to_bytes": (2, "default_unit isbits"), "indent": (3, "width first blank"),
    "int": (2, "default base"), "intersect": (1, ""), "items": (0, ""), "items2dict": (2, "key_name value_name"),
    "join": (2, "d attribute"), "last": (0, ""), "length": (0, ""), "list": (0, ""), "log": (1, "base"), "lower": (0, ""),
    "mandatory": (1, "msg"), "map": (20, "attribute default"), "max": (0, "attribute case_sensitive"), "md5": (0, ""),
    "min": (0, "attribute case_sensitive"), "password_hash": (5, "hashtype salt salt_size rounds ident"), "path_join": (0, ""),
    "permutations": (1, "r"), "pow": (1, ""), "product": (20, "repeat"), "quote": (0, ""), "regex_escape": (1, "re_type"),
    "regex_findall": (3, "ignorecase multiline"), "regex_replace": (4, "pattern replacement ignorecase multiline"),
    "regex_search": (20, "ignorecase multiline"), "reject": (20, ""), "rejectattr": (20, ""), "replace": (3, "old new count"),
    "reverse": (0, ""), "root": (1, "base"), "round": (2, "precision method"), "select": (20, ""), "selectattr": (20, ""), "sha1": (0, ""),
    "slice": (2, "slices fill_with"), "sort": (3, "reverse case_sensitive attribute"), "split": (2, "sep maxsplit"), "splitext": (0, ""),
    "string": (0, ""), "strftime": (2, "second utc"), "subelements": (2, "skip_missing"), "sum": (2, "attribute start"),
    "symmetric_difference": (1, ""), "ternary": (3, "true_val false_val none_val"), "title": (0, ""), "to_datetime": (1, "format"),
    "to_json": (0, "indent sort_keys ensure_ascii"), "to_nice_json": (2, "indent sort_keys ensure_ascii"),
    "to_nice_yaml": (1, "indent width sort_keys explicit_start"), "to_uuid": (1, "namespace"),
    "to_yaml": (0, "indent width sort_keys explicit_start default_flow_style"), "trim": (1, "chars"),
    "truncate": (4, "length killwords end leeway"), "type_debug": (0, ""), "union": (1, ""), "unique": (2, "case_sensitive attribute"),
    "upper": (0, ""), "urldecode": (0, ""), "urlencode": (0, ""), "urlsplit": (1, "query"), "wordcount": (0, ""),
    "wordwrap": (4, "width break_long_words wrapstring break_on_hyphens"), "zip": (20, ""), "zip_longest": (20, "fillvalue"),
}
TESTS = {
    **dict.fromkeys("""abs any all boolean callable change changed defined even failed failure false finished float integer is_abs iterable lower
        mapping nan none number odd sequence skip skipped started string succeeded success successful true undefined unreachable upper""".split(), (0, "")),
    **dict.fromkeys("""contains divisibleby eq equalto ge greaterthan gt in issubset issuperset le lessthan lt ne subset
        superset""".split(), (1, "")),
    "falsy": (1, "convert_bool"), "truthy": (1, "convert_bool"),
    "match": (3, "pattern ignorecase multiline"), "search": (3, "pattern ignorecase multiline"), "regex": (3, "pattern ignorecase multiline"),
    "version": (3, "version operator strict version_type"), "version_compare": (3, "version operator strict version_type"),
}
# Filters that take the name of a filter or a test, or of attributes.
BY_NAME = words("map select reject selectattr rejectattr")
BY_ATTRIBUTE = words("groupby sort sum unique min max items2dict dictsort subelements")

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_ ./:@+-]*\Z")
ATTRIBUTE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]*(\.[A-Za-z0-9][A-Za-z0-9_]*)*\Z")
TEMPLATE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_ .:@+-]*\.j2\Z")


def methods():
    """What the values of a template can do: named and not called, such a name is a value that a filter would call. The
    same name is found by an index and by the attribute of a filter."""
    kinds = [
        str, bytes, bytearray, memoryview, list, tuple, dict, set, frozenset, int, float, complex, bool, type(None), range, slice,
        type(iter([])), type(iter({})), type({}.keys()), type({}.values()), type({}.items()), type(n for n in ()), map, filter, zip,
        datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone, re.Match, re.Pattern, Markup,
        jinja2.Undefined, type,
    ]
    return frozenset(n for k in kinds for n in dir(k) if callable(getattr(k, n, None)))


CALLABLE = methods()


def environment():
    """Jinja as Ansible sets it up; only what matters to a parser."""
    return jinja2.Environment(trim_blocks=True)


def doubling():
    """Ansible's own function, taken out of its source: to load all of Ansible for it would read its configuration."""
    spec = importlib.util.find_spec("ansible")
    if spec is None:
        raise LookupError("Ansible is not installed")
    path = os.path.join(os.path.dirname(spec.origin), "template", "__init__.py")
    with open(path, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "_escape_backslashes":
            scope = {}
            exec(compile(ast.Module([node], []), path, "exec"), scope)
            return scope["_escape_backslashes"]
    raise LookupError("this Ansible reads templates in a way that is not known")


class Refused(Exception):
    """No further look at a text."""


class Look:
    """One look at one form of a text."""

    def __init__(self, judge, text):
        self.judge, self.text = judge, text

    def fault(self, line, why):
        self.judge.fault(self.text["n"], line, why)

    def stop(self, line, why):
        self.fault(line, why)
        raise Refused

    def tree(self, source):
        """Look at the tokens, then make the tree."""
        try:
            self.tokens(source)
            return self.judge.env.parse(source)
        except jinja2.TemplateSyntaxError as e:
            self.stop(e.lineno, unreadable(e.message or ""))
        except RecursionError:
            self.stop(1, "has a template that is nested too deep")

    def tokens(self, source):
        depth, first = 0, False
        for line, kind, value in self.judge.env.lex(source):
            if kind == "raw_begin":
                self.stop(line, 'has the statement "raw"; only if, for and set are taken')
            if kind == "comment" and re.search(r"\{[{%#]", value):
                self.stop(line, "has a template within a comment")
            if kind == "string" and re.search(r"""\\['"]""", value):
                self.stop(line, "has a backslash before a quote in a template; Ansible and Jinja end such a string in different places")
            if kind == "name" and not WORD.match(value):
                self.stop(line, f"has the character {odd(value)} in a template")
            if kind == "operator" and value in ("(", "[", "{"):
                depth += 1
                if depth > MAX_BRACKETS:
                    self.stop(line, f"has brackets within brackets, more than {MAX_BRACKETS} deep")
            if kind == "operator" and value in (")", "]", "}"):
                depth -= 1
            if kind == "operator" and value == ";":
                self.stop(line, "has a semicolon in a template")
            if first and kind != "whitespace":
                if kind != "name" or value not in STATEMENTS:
                    self.stop(line, f"has the statement {json.dumps(value[:40])}; only if, for and set are taken")
                first = False
            if kind == "block_begin":
                first = True

    def walk(self, node, depth=0):
        """Look at a node and all below it."""
        if depth > MAX_DEPTH:
            self.stop(node.lineno, f"has a template that is nested more than {MAX_DEPTH} deep")
        if type(node) not in NODES:
            self.stop(node.lineno, f"has {type(node).__name__} in a template, which is not taken")
        look = getattr(self, "look_" + type(node).__name__.lower(), None)
        if look is not None:
            look(node)
        for child in node.iter_child_nodes():
            # Of loop there are only the fields that are listed.
            if isinstance(node, nodes.Getattr) and isinstance(child, nodes.Name) and child.name == "loop" and node.attr in LOOP:
                continue
            # What is called is looked at by look_call; a name there is no value.
            if isinstance(node, nodes.Call) and child is node.node:
                if isinstance(child, nodes.Getattr):
                    self.walk(child.node, depth + 1)
                continue
            self.walk(child, depth + 1)

    def look_for(self, node):
        if node.recursive:
            self.fault(node.lineno, "has a loop that calls itself")

    def look_assignblock(self, node):
        if node.filter is not None:
            self.fault(node.lineno, "has a set block with a filter")

    def look_name(self, node):
        if node.ctx == "load":
            if node.name in OBJECTS or node.name.startswith("__"):
                self.fault(node.lineno, f"reads {node.name}, which is more than a value")
        else:
            self.judge.declare(self.text["n"], node.lineno, node.name)

    def look_getattr(self, node):
        name = node.attr
        if private(name):
            self.fault(node.lineno, f"names the attribute {name}, which Python keeps private")
        elif isinstance(node.node, nodes.Name) and node.node.name == "loop" and name in LOOP:
            pass
        elif name in CALLABLE:
            self.fault(node.lineno, f"names the method {name} without calling it; use .get('{name}') for a value of that name")

    def look_getitem(self, node):
        if not isinstance(node.arg, nodes.Slice) and not number(node.arg) and not key(node.arg):
            self.fault(node.lineno, "looks into a value with something else than a number or a plain text; use .get(...)")

    def look_slice(self, node):
        if not all(n is None or number(n) for n in (node.start, node.stop, node.step)):
            self.fault(node.lineno, "looks into a value with something else than a number or a plain text; use .get(...)")

    def look_call(self, node):
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            self.fault(node.lineno, "spreads arguments")
        what = node.node
        if isinstance(what, nodes.Getattr):
            if private(what.attr):
                self.fault(node.lineno, f"names the attribute {what.attr}, which Python keeps private")
            elif what.attr not in METHODS:
                self.fault(node.lineno, f"calls the method {what.attr}; taken are {', '.join(sorted(METHODS))}")
            elif len(node.args) > METHODS[what.attr] or node.kwargs:
                self.fault(node.lineno, f"gives the method {what.attr} other arguments than it has")
        elif not isinstance(what, nodes.Name):
            self.fault(node.lineno, "calls what an expression yields")
        elif what.name == "lookup":
            self.lookup(node)
        elif what.name != "range":
            self.fault(node.lineno, f"calls {what.name}; the functions that are taken are lookup (of a template or a file of the same role) and range")
        elif node.kwargs:
            self.fault(node.lineno, "gives range other arguments than it has")

    def look_filter(self, node):
        if node.node is None:
            self.fault(node.lineno, "has a filter without a value")
        self.plugin(node, "filter", FILTERS)

    def look_test(self, node):
        self.plugin(node, "test", TESTS)

    def plugin(self, node, what, taken):
        """Look at a filter or a test with its arguments."""
        name = node.name.removeprefix("ansible.builtin.")
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            self.fault(node.lineno, "spreads arguments")
        if name not in taken:
            self.fault(node.lineno, f"uses the {what} {name}, which is not among those that are taken")
            return
        self.arguments(node, what, name, taken[name], node.args, node.kwargs)
        if what == "filter":
            self.named(node, name, node.args, node.kwargs)

    def arguments(self, node, what, name, taken, args, kwargs):
        count, names = taken
        if len(args) > count:
            self.fault(node.lineno, f"gives the {what} {name} more arguments than are taken ({count})")
        for k in kwargs:
            if k.key not in names.split():
                self.fault(node.lineno, f"gives the {what} {name} the argument {k.key[:60]}, which is not among those that are taken")

    def named(self, node, name, args, kwargs):
        """Keep what a filter finds by name to names that could be written out."""
        for k in kwargs:
            if k.key == "attribute" or name in BY_ATTRIBUTE and k.key.endswith("_name"):
                self.attribute(node, name, k.value)
        for place, arg in enumerate(args):
            if name == "map" and place == 0:
                self.inner(node, name, "filter", FILTERS, arg, args[1:])
            elif name in ("select", "reject") and place == 0:
                self.inner(node, name, "test", TESTS, arg, args[1:])
            elif name in ("selectattr", "rejectattr") and place == 0:
                self.attribute(node, name, arg)
            elif name in ("selectattr", "rejectattr") and place == 1:
                self.inner(node, name, "test", TESTS, arg, args[2:])
            elif name == "join" and place == 1:
                self.attribute(node, name, arg)
            elif name in BY_ATTRIBUTE and not (isinstance(arg, nodes.Const) and (arg.value is None or isinstance(arg.value, bool))):
                self.attribute(node, name, arg)

    def attribute(self, node, name, arg):
        value = arg.value if isinstance(arg, nodes.Const) else None
        if not isinstance(value, str) or not ATTRIBUTE.match(value) or any(private(p) or p in CALLABLE for p in value.split(".")):
            self.fault(node.lineno, f"gives the filter {name} an attribute that is not a plain name, written out")

    def inner(self, node, name, what, taken, arg, rest):
        value = arg.value if isinstance(arg, nodes.Const) else None
        short = value.removeprefix("ansible.builtin.") if isinstance(value, str) else None
        if short not in taken or short in BY_NAME or short in BY_ATTRIBUTE or what == "filter" and short == "join" and rest[1:]:
            self.fault(node.lineno, f"gives the filter {name} a {what} that is not written out, or not among those that are taken")
        else:
            self.arguments(node, what, short, taken[short], rest, [])

    def lookup(self, node):
        """Take the templates and files of the same role, by their names."""
        line, args = node.lineno, node.args
        kind = text(args[0]).removeprefix("ansible.builtin.") if args else ""
        if len(args) != 2:
            self.fault(line, "calls lookup without naming its kind and a file")
            return
        if kind not in LOOKUPS:
            self.fault(line, "uses a lookup that is not ansible.builtin.template or ansible.builtin.file, written out; lookups run on the controller")
            return
        folder, name = LOOKUPS[kind], text(args[1])
        if isinstance(args[1], nodes.Concat) and len(args[1].nodes) == 2 and isinstance(args[1].nodes[0], nodes.Name) and args[1].nodes[0].name == "role_path":
            folder, _, name = text(args[1].nodes[1]).removeprefix("/").partition("/")
        if folder not in ("templates", "files") or not KEY.match(name) or ".." in name:
            self.fault(line, "looks up a file whose name is not written out, or leaves the role")
        elif self.text["files"] is None:
            self.fault(line, "looks up a file outside of a role")
        elif f"{folder}/{name}" not in self.text["files"]:
            self.fault(line, f"looks up {folder}/{name}, which the role does not have")
        elif kind == "template" and (folder != "templates" or not TEMPLATE_NAME.match(name)):
            # Ansible looks for the name in further places, wherever a variable happens to be read. Of such a name there
            # is nothing but what was looked at.
            self.fault(line, "looks up a template that does not lie as templates/<name>.j2")
        for k in node.kwargs:
            if k.key == "template_vars":
                self.template_vars(k.value)
            elif k.key not in LOOKUP_FLAGS:
                self.fault(line, f"gives lookup the argument {json.dumps(k.key[:60])}")
            elif not isinstance(k.value, nodes.Const) or not isinstance(k.value.value, bool):
                self.fault(line, f"gives lookup the argument {k.key} with something else than true or false")

    def template_vars(self, node):
        """Take what Ansible can't evaluate a second time when the template reads it: texts without braces, numbers, and
        variables of the job, which are data to Ansible wherever they go."""
        pairs = node.items if isinstance(node, nodes.Dict) else None
        if pairs is None or not all(text(p.key) and (inert(p.value) or isinstance(p.value, nodes.Name) and p.value.name in self.judge.job) for p in pairs):
            self.fault(node.lineno, "gives template_vars something else than {'name': value}, with values that are written out without braces, or variables of the job; Ansible evaluates them once more")
            return
        for p in pairs:
            self.judge.declare(self.text["n"], node.lineno, text(p.key))

    def alone(self, tree):
        """The one expression of a text that is nothing but {{ it }}; None otherwise."""
        body = tree.body
        if len(body) == 1 and isinstance(body[0], nodes.Output) and len(body[0].nodes) == 1 and isinstance(body[0].nodes[0], nodes.Expr):
            found = body[0].nodes[0]
            return None if isinstance(found, nodes.TemplateData) else found
        return None

    def loop(self, tree):
        """Take a variable of the job, with fields and a few filters. What a template of the playbook's own yields could be
        a template again, and the items of a loop are evaluated once more; the job's values never are."""
        node = self.alone(tree)
        while True:
            if isinstance(node, nodes.Filter) and node.node is not None and node.name in LOOP_FILTERS and not node.args and not node.kwargs:
                node = node.node
            elif isinstance(node, nodes.Getattr) and not private(node.attr) and node.attr not in CALLABLE:
                node = node.node
            else:
                break
        if not isinstance(node, nodes.Name) or node.name not in self.judge.job:
            self.fault(1, f"takes a list that is written out, or {{{{ a variable of the job }}}}, with the filters {', '.join(sorted(LOOP_FILTERS))}")


def unreadable(message):
    found = re.match(r"unexpected char (.+) at \d+\Z", message, re.DOTALL)
    if found and found[1].strip("'\"\\") == "":
        return "has a string that does not end"
    if found:
        return f"has the character {found[1]} in a template"
    if "unexpected end of template" in message or message.startswith("Missing end of"):
        return "has a template that does not end"
    return f"has a template that Jinja can't read: {message[:200]}"


def odd(value):
    return next((ascii(c) for c in value if not WORD.match("a" + c)), ascii(value[:1]))


def private(name):
    return name.startswith("_") or name in PRIVATE


def text(node):
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else ""


def number(node):
    if isinstance(node, nodes.Neg):
        node = node.node
    return isinstance(node, nodes.Const) and type(node.value) in (int,)


def key(node):
    value = text(node)
    return bool(KEY.match(value)) and not private(value) and value not in CALLABLE


def inert(node):
    return isinstance(node, nodes.Const) and (node.value is None or isinstance(node.value, (bool, int, float)) or isinstance(node.value, str) and not re.search(r"[{}\\]", node.value))


class Judge:
    def __init__(self):
        self.env, self.double = environment(), doubling()

    def answer(self, request):
        self.faults, self.declared, self.job = [], [], frozenset(request["job"] or ())
        for n, given in enumerate(request["texts"] or ()):
            if len(self.faults) >= MAX_FAULTS:
                break
            role = given.get("role")
            one = {"n": n, "files": None if role is None else frozenset(request["roles"][role] or ())}
            self.one(one, given["kind"], given["text"])
        return {"faults": self.faults[:MAX_FAULTS], "declared": self.declared}

    def one(self, given, kind, source):
        for form in self.forms(kind, source):
            look = Look(self, given)
            try:
                # The doubled form is made of tokens, so the text must have some.
                if isinstance(form, Exception):
                    look.stop(form.lineno, unreadable(form.message or ""))
                tree = look.tree(form)
                if kind == "loop":
                    look.loop(tree)
                if kind == "condition" and not self.condition(look, tree):
                    look.stop(1, "is a condition that ends within itself")
                look.walk(tree)
            except Refused:
                return
            except RecursionError:
                look.fault(1, "has a template that is nested too deep")
                return
            except MemoryError:
                raise
            except Exception as e:  # a text that nobody thought of is no text to be taken
                look.fault(1, f"has a template that can't be judged ({type(e).__name__})")
                return

    def forms(self, kind, source):
        """In what forms Jinja may come to see a text."""
        if kind == "condition":
            yield "{% if " + source + " %} True {% else %} False {% endif %}"
            source = "{{ " + source + " }}"
        yield source
        if "\\" in source:
            try:
                doubled = self.double(source, self.env)
            except jinja2.TemplateSyntaxError as e:
                doubled = e
            # Whatever is between {% and %} is left alone there, and some releases double it as well.
            if doubled != source:
                yield doubled

    def condition(self, look, tree):
        if look.alone(tree) is not None:
            return True
        body = tree.body
        return len(body) == 1 and isinstance(body[0], nodes.If) and not body[0].elif_ and all(
            len(part) == 1 and isinstance(part[0], nodes.Output) and [type(n) for n in part[0].nodes] == [nodes.TemplateData]
            for part in (body[0].body, body[0].else_)
        )

    def fault(self, n, line, why):
        if [n, line, why] not in self.faults[-50:]:
            self.faults.append([n, line, why])

    def declare(self, n, line, name):
        if [n, line, name] not in self.declared[-50:]:
            self.declared.append([n, line, name])


def main():
    try:
        judge = Judge()
        ready = {"ready": True, "jinja": jinja2.__version__}
    except Exception as e:  # told to the backend, which then refuses uploads
        judge, ready = None, {"ready": False, "why": str(e)[:500]}
    out = sys.stdout
    out.write(json.dumps(ready) + "\n")
    out.flush()
    if judge is None:
        return
    for line in sys.stdin:
        signal.alarm(MAX_SECONDS)
        answer = judge.answer(json.loads(line))
        out.write(json.dumps(answer) + "\n")
        out.flush()
        signal.alarm(0)


if __name__ == "__main__":
    main()
