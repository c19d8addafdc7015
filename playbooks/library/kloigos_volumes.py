#!/usr/bin/python
"""The volume of each unit: volume group, logical volume, ext4, mount unit; and all of that away again.

What it refuses is the point of it. A disk is taken only by its by-id name, only whole, and only when nothing at all is
on it; there is no option that says otherwise. A disk that an earlier, cut run had already begun to take is known from
a note written beforehand (/etc/kloigos/devices.json) and passes only as long as it carries nothing but LVM's label.

LVM tags say what belongs to Kloigos: C(kloigos) on a volume group that was made here and on every volume,
C(kloigos.unit.<id>) whose it is, C(kloigos.formatted) once its file system is complete. A volume without the last one
was never handed to anyone and is formatted (again).
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import stat

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read

DOCUMENTATION = r"""
module: kloigos_volumes
short_description: Volumes of compute units
options:
  state: {type: str, choices: [present, absent], default: present, description: absent removes every volume and mount of Kloigos}
  volume_group: {type: str, required: true, description: Its name; made of the devices where it does not exist}
  devices: {type: list, elements: str, default: [], description: Whole disks by /dev/disk/by-id that the operator named}
  units: {type: list, elements: dict, default: [], description: Units that must have a volume}
  keep: {type: list, elements: str, default: [], description: Ids of those whose volume is left alone, whatever state it is in}
author: Kloigos
"""

TAG, TAG_UNIT, TAG_FORMATTED = "kloigos", "kloigos.unit.", "kloigos.formatted"
CLAIMS = "/etc/kloigos/devices.json"
MANIFESTS = "/etc/kloigos/units"
STAMPS = "/etc/kloigos/wiped"
UNITS = "/etc/systemd/system"
MARK = "# Managed by Kloigos."
MOUNTS = "/mnt/kloigos"
# The tables are laid out by the kernel later; zeroing them here would write far more than a new volume holds.
MKFS = ["mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,lazy_journal_init=1"]
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

MOUNT_UNIT = MARK + """
[Unit]
Description=Kloigos: volume of unit {name}

[Mount]
What={device}
Where={mount}
Type=ext4
Options=nodev,nosuid,noatime,discard,nofail

# Wanted, not required, and not waited for (nofail): a disk that is gone must not keep the host from starting, nor hold every
# login up for the 90 s that systemd waits for it. The tenant's own user manager waits for the mount.
[Install]
WantedBy=local-fs.target
"""

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
PATTERNS = {
    "id": UUID,
    "name": re.compile(r"[a-z0-9][a-z0-9-]{0,80}"),
    "volume": re.compile(r"[a-z0-9][a-z0-9-]{0,30}"),
    "mount": re.compile(r"/mnt/kloigos/[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*"),
}
BY_ID = re.compile(r"/dev/disk/by-id/[A-Za-z0-9_.:+=@-]+")


class Refused(Exception):
    pass


def escape(path):
    """The name of a mount unit, as systemd-escape --path has it."""
    def one(char):
        return char if re.fullmatch(r"[A-Za-z0-9:_.]", char) else "".join("\\x%02x" % byte for byte in char.encode())
    return "-".join("".join(map(one, part)) for part in path.strip("/").split("/"))


def mapper(group, volume):
    """The stable path of a volume, which is what the kernel shows in its mounts."""
    return "/dev/mapper/%s-%s" % (group.replace("-", "--"), volume.replace("-", "--"))


def mounts():
    found = {}
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            found[fields[4]] = fields[2]
    return found


def device_number(path):
    info = os.stat(path)
    return "%d:%d" % (os.major(info.st_rdev), os.minor(info.st_rdev))


def store(path, text, mode):
    temporary = os.path.join(os.path.dirname(path), ".%s.kloigos-new" % os.path.basename(path))
    with open(temporary, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, path)


class Volumes(Work):
    # The descriptors that Ansible holds are none of LVM's business, and it says so in every answer.
    environment = {"LC_ALL": "C", "PATH": SYSTEM_PATH, "LVM_SUPPRESS_FD_WARNINGS": "1"}

    def __init__(self, module):
        super().__init__(module)
        self.group = module.params["volume_group"]
        self.lvm = shutil.which("lvm", path=SYSTEM_PATH)
        self.stale_units = False

    def run(self, argv, fail=True, **more):
        return super().run(argv, fail, data="", **more)

    def words(self, argv, out, err):
        return "%s: %s" % (" ".join(argv[:2]), (err or out).strip())

    def fail(self, message):
        raise Refused(message)

    def report(self, command, fields):
        if self.lvm is None:
            return []
        _code, out = self.run([self.lvm, command, "--reportformat", "json", "--units", "b", "--nosuffix", "-o", fields])
        kind = {"vgs": "vg", "lvs": "lv", "pvs": "pv"}[command]
        return [row for report in json.loads(out).get("report", []) for row in report.get(kind, [])]

    def read(self):
        group = [row for row in self.report("vgs", "vg_name,vg_size,vg_free,vg_extent_size,vg_tags,pv_count") if row["vg_name"] == self.group]
        self.vg = group[0] if group else None
        volumes = self.report("lvs", "vg_name,lv_name,lv_size,lv_tags") if self.vg else []
        self.lvs = {row["lv_name"]: row for row in volumes if row["vg_name"] == self.group}

    # disks

    def claims(self):
        return json.loads(read(CLAIMS, "{}"))

    def identity(self, device):
        name = os.path.basename(device)
        serial = read("/sys/block/%s/serial" % name).strip() or read("/sys/block/%s/device/serial" % name).strip()
        return {"serial": serial, "size_bytes": int(read("/sys/block/%s/size" % name, "0") or 0) * 512}

    def why_not(self, link, physical):
        """Why a disk can't be taken; empty for a disk that can."""
        device = os.path.realpath(link)
        name = os.path.basename(device)
        if not os.path.exists(device) or not stat.S_ISBLK(os.stat(device).st_mode):
            return "is not there"
        if not os.path.isdir("/sys/block/" + name):
            return "is not a whole disk"
        if read("/sys/block/%s/ro" % name).strip() == "1":
            return "is read-only"
        if glob.glob("/sys/block/%s/*/partition" % name):
            return "has partitions"
        if os.listdir("/sys/block/%s/holders" % name):
            return "is in use by another device"
        if device_number(device) in mounts().values() or re.search(r"^%s\s" % re.escape(device), read("/proc/swaps"), re.M):
            return "is mounted"
        _code, out = self.run(["wipefs", "--json", "--no-act", device])
        found = sorted({row["type"] for row in json.loads(out or "{}").get("signatures", [])})
        if found == ["LVM2_member"] and not physical.get(device) and self.claims().get(link) == self.identity(device):
            return ""
        return "carries " + ", ".join(found) if found else ""

    def disks(self):
        """Disks that are to join the volume group, after every one of them has been looked at."""
        physical = {os.path.realpath(row["pv_name"]): row["vg_name"] for row in self.report("pvs", "pv_name,vg_name")}
        join, refused = [], []
        for link in dict.fromkeys(self.module.params["devices"]):
            device = os.path.realpath(link)
            if physical.get(device) == self.group:
                continue
            reason = self.why_not(link, physical)
            if reason:
                refused.append("%s (%s) %s" % (link, device, reason))
            else:
                join.append(link)
        if refused:
            raise Refused("disks are taken only when nothing is on them: " + "; ".join(refused))
        if not self.vg and not join:
            raise Refused("there is no volume group %s, and no disk was named to make it of" % self.group)
        return join

    def volume_group(self):
        join = self.disks()
        if not join:
            return
        if not self.check:
            claims = self.claims()
            claims.update({link: self.identity(os.path.realpath(link)) for link in join})
            os.makedirs(os.path.dirname(CLAIMS), mode=0o711, exist_ok=True)
            store(CLAIMS, json.dumps(claims, indent=1, sort_keys=True) + "\n", 0o600)
        devices = [os.path.realpath(link) for link in join]
        if self.vg:
            self.change("change", "volume group", self.group, note="takes " + ", ".join(join))
            self.did("added %s to volume group %s" % (", ".join(join), self.group), [self.lvm, "vgextend", "-q", self.group] + devices)
        else:
            self.change("create", "volume group", self.group, note="of " + ", ".join(join))
            self.did("made volume group %s of %s" % (self.group, ", ".join(join)), [self.lvm, "vgcreate", "-q", "--addtag", TAG, self.group] + devices)
        if not self.check:
            self.read()

    # volumes

    def tags(self, volume):
        return set(filter(None, self.lvs[volume]["lv_tags"].split(",")))

    def drop_stale(self):
        """Volumes of units that an earlier layout had. One with a manifest is still promised to someone and stays."""
        wanted = {unit["id"] for unit in self.module.params["units"]}
        stale, stamps = [], []
        for volume in sorted(self.lvs):
            owner = next((tag[len(TAG_UNIT):] for tag in self.tags(volume) if tag.startswith(TAG_UNIT)), "")
            if owner and TAG in self.tags(volume) and owner not in wanted and not os.path.exists("%s/%s.json" % (MANIFESTS, owner)):
                stale.append(volume)
                stamps += filter(os.path.exists, ["%s/%s%s" % (STAMPS, owner, end) for end in (".json", ".swept")])
        if stale:
            ours = {mapper(self.group, volume) for volume in stale}
            self.unmount([mount for mount, device in self.mount_files().items() if device in ours])
            # The evidence of a wipe is on the unit's record; beside a volume that is gone it says nothing.
            for path in stamps:
                self.change("remove", "file", path)
                self.done.append("removed " + path)
                if not self.check:
                    os.unlink(path)
            self.remove_volumes(stale)

    def remove_volumes(self, volumes):
        if volumes:
            self.change("remove", "volume", *["%s/%s" % (self.group, v) for v in volumes], note="with all that is on it")
            self.did("removed volumes " + ", ".join(volumes), [self.lvm, "lvremove", "-q", "--yes"] + ["%s/%s" % (self.group, v) for v in volumes])
            if not self.check:
                self.read()
                return
            # What is to be made next has its room.
            freed = sum(int(self.lvs.pop(v)["lv_size"]) for v in volumes)
            self.vg["vg_free"] = str(int(self.vg["vg_free"]) + freed)

    def unit(self, unit):
        volume, mount = unit["volume"], unit["mount"]
        device = mapper(self.group, volume)
        if volume in self.lvs:
            tags = self.tags(volume)
            if TAG not in tags or TAG_UNIT + unit["id"] not in tags:
                raise Refused("volume %s/%s is there and is not this unit's" % (self.group, volume))
        else:
            self.create(unit)
        if self.check and volume not in self.lvs:
            self.follows.append("file system and mount of " + unit["name"])
            self.mount_file(mount, device, unit["name"])
            return unit["volume_bytes"]
        if TAG_FORMATTED not in self.tags(volume):
            if mounts().get(mount):
                raise Refused("%s is mounted and its file system is not complete" % mount)
            label = ["-L", volume[:16], device]
            self.change("create", "file system", device, note="ext4")
            self.did("made a file system on %s" % volume, MKFS + label, [self.lvm, "lvchange", "-q", "--addtag", TAG_FORMATTED, "%s/%s" % (self.group, volume)])
        self.mount_file(mount, device, unit["name"])
        return int(self.lvs[volume]["lv_size"])

    def create(self, unit):
        if not self.vg:
            self.change("create", "volume", "%s/%s" % (self.group, unit["volume"]), after="%d bytes\n" % unit["volume_bytes"])
            self.done.append("volume %s of %s" % (unit["volume"], unit["name"]))
            return
        extent = int(self.vg["vg_extent_size"])
        size, free = unit["volume_bytes"] // extent * extent, int(self.vg["vg_free"])
        if size == 0:
            raise Refused("a volume of %d bytes is less than one extent (%d)" % (unit["volume_bytes"], extent))
        if size > free:
            raise Refused("volume group %s has %d bytes free, the volume needs %d" % (self.group, free, size))
        # --yes and --wipesignatures are about what an earlier volume left in the group's own free space.
        self.change("create", "volume", "%s/%s" % (self.group, unit["volume"]), after="%d bytes\n" % size)
        self.did("made volume %s of %d bytes" % (unit["volume"], size), [
            self.lvm, "lvcreate", "-q", "--yes", "--wipesignatures", "y", "--addtag", TAG, "--addtag", TAG_UNIT + unit["id"],
            "--name", unit["volume"], "--size", "%db" % size, self.group,
        ])
        if self.check:
            self.vg["vg_free"] = str(free - size)
        else:
            self.read()

    # mounts

    def mount_file(self, mount, device, name):
        text = MOUNT_UNIT.format(name=name, device=device, mount=mount)
        path = "%s/%s.mount" % (UNITS, escape(mount))
        if read(path) != text:
            if os.path.exists(path) and not read(path).startswith(MARK):
                raise Refused("%s is there and is not ours" % path)
            self.change("change" if os.path.exists(path) else "create", "mount", mount, before=read(path), after=text)
            self.done.append("wrote " + path)
            self.stale_units = True
            if not self.check:
                store(path, text, 0o644)

    def start(self, units):
        """Mounts what is not mounted, in one go; then looks whether each mount is the volume that it should be."""
        names = {escape(unit["mount"]) + ".mount": unit for unit in units}
        if not names:
            return {}
        properties = "--property=Id,NeedDaemonReload,UnitFileState,ActiveState"
        _code, out = self.run(["systemctl", "show", properties, "--"] + list(names))
        state = dict(zip(names, [dict(line.split("=", 1) for line in block.splitlines()) for block in out.strip("\n").split("\n\n")]))
        if self.stale_units or any(s.get("NeedDaemonReload") == "yes" for s in state.values()):
            self.run(["systemctl", "daemon-reload"])
        enable = [name for name in names if state[name].get("UnitFileState") != "enabled"]
        if enable:
            self.did("enabled " + ", ".join(enable), ["systemctl", "--quiet", "enable", "--"] + enable)
        begin = [name for name in names if names[name]["mount"] not in mounts()]
        if begin:
            self.done.append("mounted " + ", ".join(names[name]["mount"] for name in begin))
            self.run(["systemctl", "start", "--"] + begin, fail=False)
        problems, now = {}, mounts()
        for name, unit in names.items():
            device = mapper(self.group, unit["volume"])
            if unit["mount"] not in now:
                _code, out = self.run(["systemctl", "status", "--no-pager", "--lines=5", "--", name], fail=False)
                problems[unit["id"]] = "%s could not be mounted: %s" % (unit["mount"], out.strip())
            elif now[unit["mount"]] != device_number(device):
                problems[unit["id"]] = "something else than %s is mounted at %s" % (device, unit["mount"])
        return problems

    def mount_files(self):
        """Mount point and device of every mount unit that was made here."""
        found = {}
        for path in sorted(glob.glob(UNITS + "/mnt-kloigos-*.mount")):
            fields = dict(re.findall(r"^(Where|What)=(.*)$", read(path), re.M))
            if read(path).startswith(MARK) and "Where" in fields:
                found[fields["Where"]] = fields.get("What", "")
        return found

    def unmount(self, where):
        names = {mount: escape(mount) + ".mount" for mount in where}
        mounted = [mount for mount in where if mount in mounts()]
        if mounted:
            self.change("change", "mount", *mounted, note="unmounted")
            self.did("unmounted " + ", ".join(mounted), ["systemctl", "stop", "--"] + [names[mount] for mount in mounted])
        busy = [mount for mount in mounted if mount in mounts()]
        if busy and not self.check:
            raise Refused("in use: " + ", ".join(busy))
        if names:
            self.change("remove", "mount", *names)
            self.did("removed " + ", ".join(names.values()), ["systemctl", "--quiet", "disable", "--"] + list(names.values()))
        for mount, name in names.items():
            if not self.check:
                os.unlink("%s/%s" % (UNITS, name))
                if os.path.isdir(mount) and not os.listdir(mount):
                    os.rmdir(mount)
        if names and not self.check:
            self.run(["systemctl", "daemon-reload"])

    # whole

    def present(self):
        units = self.module.params["units"]
        self.read()
        if self.lvm is None and not self.check:
            raise Refused("LVM is not installed")
        self.volume_group()
        if self.vg:
            self.drop_stale()
        results, ready = {}, []
        for unit in units:
            result = {"id": unit["id"], "ok": True, "message": "", "volume_bytes": 0}
            results[unit["id"]] = result
            if unit["id"] in self.module.params["keep"]:
                result["volume_bytes"] = int(self.lvs.get(unit["volume"], {"lv_size": 0})["lv_size"])
                continue
            # What is wrong with one unit does not keep the others from being made: all problems are told at once.
            try:
                result["volume_bytes"] = self.unit(unit)
                ready.append(unit)
            except Refused as problem:
                result.update(ok=False, message=str(problem))
                self.warnings.append("%s: %s" % (unit["name"], problem))
                self.objections.append("%s: %s" % (unit["name"], problem))
        if not self.check:
            for unit_id, problem in self.start(ready).items():
                results[unit_id].update(ok=False, message=problem)
            self.read()
        elif ready:
            now = mounts()
            self.follows += ["mount of " + unit["name"] for unit in ready if unit["mount"] not in now and unit["volume"] in self.lvs]
        vg = self.vg or {"vg_size": 0, "vg_free": 0}
        return {
            "units": [results[unit["id"]] for unit in units],
            "volume_group": {"size_bytes": int(vg["vg_size"]), "free_bytes": int(vg["vg_free"])},
        }

    def absent(self):
        promised = sorted(glob.glob(MANIFESTS + "/*.json"))
        if promised:
            raise Refused("units are still allocated on this host: " + ", ".join(promised))
        self.read()
        self.unmount(list(self.mount_files()))
        self.remove_volumes([volume for volume in sorted(self.lvs) if TAG in self.tags(volume)])
        # A group that was there before us keeps its disks and its other volumes.
        if self.vg and TAG in self.vg["vg_tags"].split(","):
            foreign = [volume for volume in self.lvs if TAG not in self.tags(volume)]
            if foreign:
                raise Refused("volume group %s holds volumes that are not Kloigos's: %s" % (self.group, ", ".join(foreign)))
            disks = [row["pv_name"] for row in self.report("pvs", "pv_name,vg_name") if row["vg_name"] == self.group]
            self.change("remove", "volume group", self.group)
            self.did("removed volume group " + self.group, [self.lvm, "vgremove", "-q", self.group])
            self.release(disks)
        elif self.lvm:
            physical = {os.path.realpath(row["pv_name"]): row["vg_name"] for row in self.report("pvs", "pv_name,vg_name")}
            claimed = {os.path.realpath(link): identity for link, identity in self.claims().items()}
            self.release([disk for disk, identity in claimed.items() if physical.get(disk) == "" and self.identity(disk) == identity])
        for path in [CLAIMS] + glob.glob("/etc/lvm/archive/%s_*.vg" % self.group) + glob.glob("/etc/lvm/backup/" + self.group) + glob.glob("/run/lvm/vgs_online/" + self.group):
            if os.path.exists(path) and not (self.vg and TAG not in self.vg["vg_tags"].split(",") and path != CLAIMS):
                self.change("remove", "file", path)
                self.done.append("removed " + path)
                if not self.check:
                    os.unlink(path)
        for path in sorted(glob.glob(MOUNTS + "/*/*") + glob.glob(MOUNTS + "/*") + [MOUNTS], reverse=True):
            if os.path.isdir(path) and not os.listdir(path) and not self.check:
                self.done.append("removed " + path)
                os.rmdir(path)

    def release(self, disks):
        if disks:
            self.change("change", "disk", *disks, note="given back")
            self.did("released " + ", ".join(disks), [self.lvm, "pvremove", "-q"] + disks)


def validated(module):
    wrong = [d for d in module.params["devices"] if not BY_ID.fullmatch(d)]
    if wrong:
        module.fail_json(msg="disks are named by /dev/disk/by-id/...: " + ", ".join(wrong))
    if not re.fullmatch(r"[a-zA-Z0-9_][a-zA-Z0-9_.+-]{0,62}", module.params["volume_group"]):
        module.fail_json(msg="malformed name of a volume group: %r" % module.params["volume_group"])
    for unit in module.params["units"]:
        # A unit has more fields than a volume needs; these are the ones that reach commands and files.
        for key, pattern in PATTERNS.items():
            if not pattern.fullmatch(str(unit.get(key))):
                module.fail_json(msg="malformed %s of a unit: %r" % (key, unit.get(key)))
        if not re.fullmatch(r"[1-9]\d{0,18}", str(unit.get("volume_bytes"))):
            module.fail_json(msg="malformed volume_bytes of a unit: %r" % unit.get("volume_bytes"))
        unit["volume_bytes"] = int(unit["volume_bytes"])
    for key in ("id", "mount", "volume"):
        values = [unit[key] for unit in module.params["units"]]
        if len(set(values)) != len(values):
            module.fail_json(msg="two units have the same " + key)


def keep(module):
    """Brings what was written, renamed and removed to the disk: what a job is told to have done is so after a power cut as well."""
    if not module.check_mode:
        module.run_command(["sync", "--file-system", "/etc", "/var/lib"], check_rc=True)


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "volume_group": {"type": "str", "required": True},
            "devices": {"type": "list", "elements": "str", "default": []},
            "units": {
                "type": "list",
                "elements": "dict",
                "default": [],
            },
            "keep": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    validated(module)
    volumes = Volumes(module)
    result = {}
    try:
        if module.params["state"] == "absent":
            volumes.absent()
        else:
            result["kloigos_result"] = volumes.present()
    except (Refused, OSError) as problem:
        if not module.check_mode:
            module.fail_json(msg=str(problem), done=volumes.done)
        # A check says what a run would say, and goes on.
        volumes.warnings.append("a run would stop here: %s" % problem)
        volumes.follows.append("volumes")
        volumes.objections.append(str(problem))
    bad = [unit for unit in result.get("kloigos_result", {}).get("units", []) if not unit["ok"]]
    if bad and not module.check_mode:
        names = {unit["id"]: unit["name"] for unit in module.params["units"]}
        problems = "; ".join("%s: %s" % (names[unit["id"]], unit["message"]) for unit in bad)
        module.fail_json(msg="%d of %d units have no volume: %s" % (len(bad), len(names), problems), done=volumes.done, **result)
    keep(module)
    volumes.finish(**result)


if __name__ == "__main__":
    main()
