"""Loads Ansible, then waits for what to play.

Loading is most of what a short play costs before its first task, so the supervisor has it done ahead of time where it
can. One line on standard input begins the play:

    {"argv": ["/usr/bin/ansible-playbook", ...], "modules": "/directory"}

It is ansible-playbook itself, the script, that is then run, in this process. The end of the input without one ends the
process. Exit status 97 says that this Ansible cannot be loaded so, and that
nothing was begun: ansible-playbook itself is to be started then.

What Ansible packs to send to hosts, each module with all that it imports, gets the byte code beside the sources: to
compile those anew for every task is most of a task's work on the host, a tenth of a second on a fast one. A host whose
Python is of another version passes over it and takes the sources.

modules, if given, keeps from run to run what was packed. It belongs to one bundle, whose modules have the same names as
another one's.
"""
import sys
sys.path.pop(0)  # the run's directory: nothing in it is to be imported

import gc
import importlib
import importlib.util
import json
import marshal
import os
import types
import zipfile

NOT_LOADED = 97

# What nearly every play needs. What this version of Ansible does not have is loaded by itself when it is wanted.
AHEAD = (
    'ansible.executor.playbook_executor', 'ansible.executor.task_queue_manager', 'ansible.executor.task_executor',
    'ansible.executor.process.worker', 'ansible.executor.module_common', 'ansible.executor.interpreter_discovery',
    'ansible.plugins.strategy.linear', 'ansible.plugins.connection.ssh', 'ansible.plugins.shell.sh',
    'ansible.plugins.become.sudo', 'ansible.plugins.inventory.yaml', 'ansible.plugins.cache.memory',
    'ansible.plugins.vars.host_group_vars', 'ansible.plugins.action.normal', 'ansible.plugins.action.assert',
    'ansible.plugins.action.validate_argument_spec', 'ansible.plugins.filter.core', 'ansible.plugins.filter.mathstuff',
    'ansible.plugins.filter.urls', 'ansible.plugins.filter.urlsplit', 'ansible.plugins.filter.encryption',
    'ansible.plugins.test.core', 'ansible.plugins.test.files', 'ansible.plugins.test.mathstuff', 'ansible.plugins.test.uri',
    'multiprocessing.popen_fork', 'multiprocessing.queues',
)


def load():
    importlib.import_module('ansible.cli.playbook')
    for name in AHEAD:
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    compile_what_is_packed()
    # The workers are forks: what is not looked at by the collector stays shared with them.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10000)


class CompiledZip(zipfile.ZipFile):
    """Has the byte code of each source that is written to it."""

    def writestr(self, zinfo_or_arcname, data, *args, **kwargs):
        super().writestr(zinfo_or_arcname, data, *args, **kwargs)
        name = getattr(zinfo_or_arcname, 'filename', zinfo_or_arcname)
        if not name.endswith('.py'):
            return
        source = data.encode() if isinstance(data, str) else data
        try:
            code = compile(source, name, 'exec', dont_inherit=True)
        except (SyntaxError, ValueError):  # meant for another Python
            return
        # The form of PEP 552 that says: not to be compared with the source.
        head = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, 'little') + importlib.util.source_hash(source)
        super().writestr(name + 'c', head + marshal.dumps(code))


def compile_what_is_packed():
    from ansible.executor import module_common
    if hasattr(module_common, 'zipfile'):
        ours = types.ModuleType('zipfile')
        vars(ours).update(vars(zipfile), ZipFile=CompiledZip)
        module_common.zipfile = ours


class Modules:
    """What Ansible has packed, as hard links: each run has its own directory, and a file is never written twice."""

    def __init__(self):
        import ansible
        from ansible import constants
        from ansible.release import __version__
        self.own = os.path.join(constants.DEFAULT_LOCAL_TMP, 'ansiballz_cache')
        os.makedirs(self.own, mode=0o700, exist_ok=True)
        # Another build of the same version has files of another time.
        changed = os.stat(os.path.join(os.path.dirname(ansible.__file__), 'modules')).st_mtime_ns
        self.of = '%s-%d' % (__version__, changed)
        self.kept = None

    def lend(self, directory):
        self.kept = os.path.join(directory, self.of)
        if not os.path.isdir(self.kept):
            os.makedirs(self.kept, mode=0o700, exist_ok=True)
        self.link(self.kept, self.own)

    def keep(self):
        self.link(self.own, self.kept)

    def link(self, source, target):
        for name in os.listdir(source):
            # Those of collections can change under us without a sign.
            if name.startswith('ansible.modules.') and not name.endswith('-part'):
                try:
                    os.link(os.path.join(source, name), os.path.join(target, name))
                except OSError:  # there already, or the directory was just given up
                    pass


def kept_modules():
    try:
        return Modules()
    except OSError:  # it is only slower without
        return None


def compiled(script):
    with open(script, 'rb') as source:
        return compile(source.read(), script, 'exec', dont_inherit=True)


def run(script, code):
    """As the interpreter would: runpy takes ten times as long, and the play waits for it."""
    module = types.ModuleType('__main__')
    module.__file__ = script
    sys.modules['__main__'] = module
    sys.path.insert(0, os.path.dirname(script))
    exec(code, vars(module))


def main():
    ours = sys.modules['__main__']  # not to be taken apart when run takes its place
    try:
        load()
        programs = {script: compiled(script) for script in sys.argv[1:]}
        modules = kept_modules()
    except Exception as e:
        print('Ansible cannot be loaded ahead: %s' % e, file=sys.stderr)
        return NOT_LOADED
    line = sys.stdin.readline()
    if not line:
        return 0
    order = json.loads(line)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    script = order['argv'][0]
    sys.argv = order['argv']
    try:
        if modules and order.get('modules'):
            modules.lend(order['modules'])
    except OSError:  # it is only slower without
        pass
    try:
        run(script, programs.get(script) or compiled(script))
    finally:
        sys.modules['__main__'] = ours
        try:
            if modules and modules.kept:
                modules.keep()
        except OSError:
            pass
    return 0


if __name__ == '__main__':
    sys.exit(main())
