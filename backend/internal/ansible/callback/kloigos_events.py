"""Tells the Kloigos backend what happens in a play: one JSON object a line, into an inherited pipe.

It takes the place of Ansible's own output, so that what still comes on stdout and stderr is worth a look. Callback
plugins are given results as they are; so this one redacts and cuts before anything leaves the process.
"""

import difflib
import json
import os
import re
import time

from ansible import context
from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: kloigos_events
    type: stdout
    short_description: task events as JSON lines for the Kloigos backend
    description:
      - Writes JSON lines to the file descriptor in KLOIGOS_EVENTS_FD.
"""

MESSAGE_BYTES = 8 << 10
OUTPUT_BYTES = 64 << 10
DIFF_BYTES = 256 << 10
RESULT_BYTES = 1 << 20
STDERR_BYTES = 4 << 10
NAME_BYTES = 512
# Comparing is quadratic at worst, and both sides come from the host.
DIFF_INPUT_BYTES = 512 << 10
DIFF_INPUT_LINES = 8000
DEPTH = 40
# Of a check: what one task says that it would change.
CHANGES = 2500
CHANGE_BYTES = 32 << 10

# What the modules that are not ours change, by module: the kind of thing, and the arguments that name it.
KINDS = {
    "user": ("user", ("name",)),
    "group": ("group", ("name",)),
    "service": ("service", ("name",)),
    "systemd": ("service", ("name",)),
    "systemd_service": ("service", ("name",)),
    "apt": ("package", ("name", "deb", "upgrade")),
    "package": ("package", ("name",)),
    "sysctl": ("sysctl", ("name",)),
    "mount": ("mount", ("path",)),
    "cron": ("cron job", ("name",)),
    "hostname": ("host name", ("name",)),
    "authorized_key": ("SSH key", ("user",)),
    "known_hosts": ("host key", ("name",)),
    "lvg": ("volume group", ("vg",)),
    "lvol": ("volume", ("lv",)),
    "filesystem": ("file system", ("dev",)),
    "modprobe": ("kernel module", ("name",)),
}
FILE_ARGUMENTS = ("path", "dest", "name")
FILE_MODULES = {"file", "copy", "template", "blockinfile", "lineinfile", "replace", "get_url", "unarchive", "ini_file", "assemble"}

HIDDEN = "[redacted]"
SECRET_KEY = re.compile(r"pass(word|wd|phrase)?$|passw|secret|token|private_?key|credential|api_?key", re.IGNORECASE)
# What modules return beside their own findings.
BOOKKEEPING = {
    "changed", "failed", "skipped", "unreachable", "rc", "msg", "stdout", "stderr", "stdout_lines", "stderr_lines",
    "module_stdout", "module_stderr", "exception", "invocation", "diff", "warnings", "deprecations", "start", "end",
    "delta", "cmd", "kloigos_result", "ansible_facts", "results", "censored", "attempts", "retries", "item",
    "ansible_loop_var", "skip_reason", "false_condition", "kloigos_changes",
}


def _text(value):
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else str(value)


def _cut(text, limit, tail=False):
    """Cuts to a number of bytes of UTF-8, and says so."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return raw.decode("utf-8")
    keep = limit - 64
    note = "[%d bytes left out]" % (len(raw) - keep)
    if tail:
        return note + "\n" + raw[-keep:].decode("utf-8", "ignore")
    return raw[:keep].decode("utf-8", "ignore") + "\n" + note


class Redactor:
    def __init__(self, secrets):
        found = set()
        for secret in secrets:
            parts = [secret] + [line.strip() for line in secret.splitlines() if len(line.strip()) >= 8]
            for part in parts:
                if len(part) >= 4:
                    found.add(part)
                    found.add(json.dumps(part)[1:-1])
        # The longest first, so that no part of a longer one stays.
        ordered = sorted(found, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(s) for s in ordered)) if ordered else None

    def text(self, value):
        value = _text(value)
        return self._pattern.sub(HIDDEN, value) if self._pattern else value

    def tree(self, value, depth=0, keys=True):
        """Copies plain data. With keys, what stands under a name like a password's is hidden as well."""
        if depth > DEPTH:
            return "[too deep]"
        if isinstance(value, dict):
            copy = {}
            for key, element in value.items():
                name = self.text(key)
                if keys and SECRET_KEY.search(name) and isinstance(element, (str, bytes)) and element:
                    copy[name] = HIDDEN
                else:
                    copy[name] = self.tree(element, depth + 1, keys)
            return copy
        if isinstance(value, (list, tuple)):
            return [self.tree(element, depth + 1, keys) for element in value]
        if value is None or isinstance(value, (bool, int, float)):
            return value
        return self.text(value)


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "kloigos_events"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._fd = int(os.environ["KLOIGOS_EVENTS_FD"])
        os.set_inheritable(self._fd, False)
        with open(os.environ["KLOIGOS_REDACT_FILE"], encoding="utf-8") as secrets:
            self._redact = Redactor(json.load(secrets))
        os.unlink(os.environ["KLOIGOS_REDACT_FILE"])
        self._play = ""
        self._started = {}

    # What goes out.

    def _send(self, kind, **fields):
        fields = {key: value for key, value in fields.items() if value not in (None, "", False)}
        line = json.dumps(dict(fields, kind=kind, time=time.time()), separators=(",", ":"), default=str)
        raw = memoryview(line.encode("ascii") + b"\n")
        try:
            while raw:
                raw = raw[os.write(self._fd, raw):]
        except OSError:
            # Nobody listens any more: the supervisor is about to end this process.
            pass

    def _message(self, text):
        return _cut(self._redact.text(text), MESSAGE_BYTES)

    def _task_fields(self, task):
        role = task._role.get_name() if task._role else ""
        name = task.name or task.action
        if role and name.startswith(role + " : "):
            name = name[len(role) + 3:]
        return {
            "play": _cut(self._redact.text(self._play), NAME_BYTES),
            "role": role,
            "task": _cut(self._redact.text(name), NAME_BYTES),
            "action": getattr(task, "resolved_action", None) or task.action,
        }

    @staticmethod
    def _hidden(result):
        return bool(result._task.no_log or result._result.get("_ansible_no_log") or "censored" in result._result)

    def _describe(self, data):
        """A message, an output and the end of stderr out of what a module returned."""
        message = data.get("msg", data.get("skip_reason", data.get("reason", "")))
        if not isinstance(message, str):
            message = json.dumps(self._redact.tree(message), indent=2, default=str)
        failed = [r for r in data.get("results") or [] if isinstance(r, dict) and (r.get("failed") or r.get("unreachable"))]
        stderr = data.get("stderr") or data.get("module_stderr") or ""
        if failed:
            # "One or more items failed" helps nobody.
            first, _, stderr = self._describe(failed[0])
            message = "%d of %d items failed, the first with: %s" % (len(failed), len(data["results"]), first)
        parts = []
        for key in ("stdout", "module_stdout", "stderr", "module_stderr", "exception"):
            if data.get(key) and _text(data[key]).strip() and data[key] not in parts:
                parts.append(_text(data[key]))
        parts += ["warning: " + _text(w) for w in data.get("warnings") or []]
        if "ansible_facts" not in data and "results" not in data and data.get("_ansible_verbose_always"):
            # ansible.builtin.debug with var
            shown = {k: v for k, v in data.items() if k not in BOOKKEEPING and not k.startswith("_ansible")}
            if shown:
                parts.append(json.dumps(self._redact.tree(shown), indent=2, default=str))
        return message, "\n".join(parts), _text(stderr)

    @staticmethod
    def _killed(data):
        """A module that said nothing, since the ssh that ran it was ended by a signal here: one on the host is 128 and more."""
        parts = data.get("results") or [data]
        return any(isinstance(r, dict) and "module_stdout" in r and isinstance(r.get("rc"), int) and r["rc"] < 0 for r in parts)

    def _diff(self, data):
        if not context.CLIARGS.get("diff") or "results" in data or not data.get("diff"):
            return ""
        diffs = data["diff"] if isinstance(data["diff"], list) else [data["diff"]]
        parts = []
        for diff in diffs:
            if not isinstance(diff, dict):
                continue
            if "prepared" in diff:
                parts.append(_text(diff["prepared"]))
                continue
            if "before" not in diff or "after" not in diff:
                continue
            before, after = (
                d if isinstance(d, str) else json.dumps(self._redact.tree(d), sort_keys=True, indent=2, default=str)
                for d in (diff["before"], diff["after"])
            )
            before_name = _text(diff.get("before_header") or "before")
            after_name = _text(diff.get("after_header") or "after")
            lines = before.count("\n") + after.count("\n")
            if len(before) + len(after) > DIFF_INPUT_BYTES or lines > DIFF_INPUT_LINES:
                parts.append("%s: too large to compare (%d and %d characters)" % (after_name, len(before), len(after)))
                continue
            if before == after:
                continue
            parts.append("\n".join(difflib.unified_diff(
                before.splitlines(), after.splitlines(), "before: " + before_name, "after: " + after_name, lineterm="")))
        return "\n".join(p for p in parts if p)

    # Of a check: what would change, one thing at a time.

    def _send_changes(self, kind, result, hidden):
        """A task says it itself (kloigos_changes), or it is read off the module's arguments and its diff."""
        task, data = result._task, result._result
        base = dict(self._task_fields(task), host=result._host.get_name())
        try:
            changes = list(self._changes(kind, task, data, hidden))
        except Exception as error:  # a strange result must not cost the plan this task
            changes = [{"kind": "task", "name": base["task"], "action": "change", "note": "a result that cannot be read: %s" % type(error).__name__}]
        for change in changes[:CHANGES]:
            clean = {}
            for key, limit in (("kind", NAME_BYTES), ("name", NAME_BYTES), ("action", NAME_BYTES), ("note", NAME_BYTES),
                               ("before", CHANGE_BYTES), ("after", CHANGE_BYTES)):
                if change.get(key) not in (None, ""):
                    clean[key] = _cut(self._redact.text(change[key]), limit)
            self._send("change", change=clean, **base)
        if len(changes) > CHANGES:
            self._send("change", change={"kind": "task", "name": base["task"], "action": "change", "note": "and %d more" % (len(changes) - CHANGES)}, **base)

    def _changes(self, kind, task, data, hidden):
        label = task.name or task.action
        if hidden:
            if data.get("changed"):
                yield {"kind": "task", "name": label, "action": "change", "note": "hidden, because the task has no_log"}
            return
        if kind == "ignored":
            yield dict(self._named(task, data, label), action="follows", note=data.get("msg") or "it could not be checked")
            return
        if kind == "skipped" and "check mode" in _text(data.get("msg") or ""):
            yield {"kind": "task", "name": label, "action": "follows", "note": "the module cannot be checked"}
            return
        told = data.get("kloigos_changes")
        if isinstance(told, list):
            for change in told:
                if isinstance(change, dict):
                    yield change
        elif data.get("changed"):
            yield self._read_off(task, data, label)
        # What modules of ours say beside their changes.
        for key, action in (("follows", "follows"), ("objections", "stops")):
            for text in data.get(key) or []:
                yield {"kind": "task", "name": label, "action": action, "note": text}

    @staticmethod
    def _named(task, data, label):
        arguments = (data.get("invocation") or {}).get("module_args") or {}
        module = (getattr(task, "resolved_action", None) or task.action).rsplit(".", 1)[-1]
        kind, names = KINDS.get(module, ("file", FILE_ARGUMENTS) if module in FILE_MODULES else ("task", ()))
        if kind == "file" and (data.get("state") == "directory" or arguments.get("state") == "directory"):
            kind = "directory"
        for name in names:
            value = arguments.get(name) or data.get(name)
            if value:
                return {"kind": kind, "name": value if isinstance(value, str) else json.dumps(value, default=str), "state": arguments.get("state")}
        return {"kind": kind, "name": label, "state": arguments.get("state")}

    def _read_off(self, task, data, label):
        change = self._named(task, data, label)
        sides = {"before": [], "after": []}
        for diff in data["diff"] if isinstance(data.get("diff"), list) else [data.get("diff")]:
            if not isinstance(diff, dict):
                continue
            if "prepared" in diff:
                sides["after"].append(_text(diff["prepared"]))
            was = diff.get("before")
            if isinstance(was, dict) and was.get("state") == "absent":
                change["action"] = "create"
            for side, texts in sides.items():
                value = diff.get(side)
                if isinstance(value, dict):
                    # The file module's: where it is, and whether it is, stand in the change itself.
                    value = {key: element for key, element in value.items() if key not in ("path", "state")}
                if value:
                    texts.append(value if isinstance(value, str) else json.dumps(self._redact.tree(value), sort_keys=True, indent=2, default=str))
        change.update({side: "\n".join(texts) for side, texts in sides.items()})
        if change["state"] == "absent":
            change["action"] = "remove"
        elif change.get("action") == "create":
            pass
        elif self._is_new(change, data):
            change["action"] = "create"
        else:
            change["action"] = "change"
        return change

    @staticmethod
    def _is_new(change, data):
        if change["kind"] in ("user", "group"):
            # A check of an account that is there tells its number; of one that is not, it can't.
            return not any(key in data for key in ("uid", "gid"))
        return bool(change["after"]) and not change["before"]

    def _emit(self, kind, result, item=False):
        task, host, data = result._task, result._host.get_name(), result._result
        fields = self._task_fields(task)
        fields["host"] = host
        fields["changed"] = bool(data.get("changed"))
        begun = self._started.get((host, task._uuid))
        if begun is not None and not item:
            fields["duration_ms"] = int((time.monotonic() - begun) * 1000)
            del self._started[(host, task._uuid)]
        hidden = self._hidden(result)
        if item:
            label = data.get("_ansible_item_label", data.get(data.get("ansible_loop_var", "item"), ""))
            if not isinstance(label, str):
                label = json.dumps(self._redact.tree(label), default=str)
            fields["item"] = "(hidden)" if hidden else _cut(self._redact.text(label), NAME_BYTES) or "(item)"
        if hidden:
            fields["message"] = "hidden, because the task has no_log"
        else:
            try:
                message, output, stderr = self._describe(data)
                fields["message"] = self._message(message)
                fields["output"] = _cut(self._redact.text(output), OUTPUT_BYTES)
                fields["diff"] = _cut(self._redact.text(self._diff(data)), DIFF_BYTES)
                if kind in ("failed", "unreachable"):
                    fields["stderr"] = _cut(self._redact.text(stderr), STDERR_BYTES, tail=True)
                    fields["killed"] = self._killed(data)
            except Exception as error:  # a strange result must not cost the event
                fields["message"] = "a result that cannot be shown: %s" % type(error).__name__
            self._send_result(host, data)
        # A loop's turns tell what it changes, not the loop.
        if context.CLIARGS.get("check") and kind in ("ok", "changed", "skipped", "ignored") and (item or "results" not in data):
            self._send_changes(kind, result, hidden)
        self._send(kind, **fields)

    def _send_result(self, host, data):
        found = data.get("kloigos_result")
        if not isinstance(found, dict):
            return
        encoded = json.dumps(self._redact.tree(found, keys=False), default=str)
        if len(encoded) > RESULT_BYTES:
            self._send("result", host=host, message="kloigos_result has %d bytes, at most %d are taken" % (len(encoded), RESULT_BYTES))
        else:
            self._send("result", host=host, result=encoded)

    # What Ansible calls.

    def v2_playbook_on_play_start(self, play):
        self._play = play.get_name().strip()
        self._send("play_started", play=_cut(self._redact.text(self._play), NAME_BYTES))

    def v2_playbook_on_no_hosts_matched(self):
        self._send("output", play=self._play, message="no host matches the play")

    def v2_playbook_on_task_start(self, task, is_conditional):
        self._send("task_started", **self._task_fields(task))

    def v2_playbook_on_handler_task_start(self, task):
        self._send("task_started", **self._task_fields(task))

    def v2_runner_on_start(self, host, task):
        self._started[(host.get_name(), task._uuid)] = time.monotonic()

    def v2_runner_on_ok(self, result):
        self._emit("changed" if result._result.get("changed") else "ok", result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._emit("ignored" if ignore_errors else "failed", result)

    def v2_runner_on_unreachable(self, result):
        self._emit("unreachable", result)

    def v2_runner_on_skipped(self, result):
        self._emit("skipped", result)

    def v2_runner_item_on_ok(self, result):
        self._emit("changed" if result._result.get("changed") else "ok", result, item=True)

    def v2_runner_item_on_failed(self, result):
        self._emit("ignored" if result._task.ignore_errors else "failed", result, item=True)

    def v2_runner_item_on_skipped(self, result):
        self._emit("skipped", result, item=True)

    def v2_runner_retry(self, result):
        fields = self._task_fields(result._task)
        tries = result._result.get("attempts"), result._result.get("retries")
        self._send("retry", host=result._host.get_name(), message="try %s of %s failed" % tries, **fields)

    def v2_playbook_on_stats(self, stats):
        self._send("stats", stats={host: stats.summarize(host) for host in sorted(stats.processed)})
