#!/usr/bin/python
"""Owns the promise that no byte of a tenant reaches the next one: empties the volume of a unit and says how.

The whole volume is made to read as zeroes, not only what the file system calls used, since deleted files lie in the
rest. The kernel's zeroing by the device is taken where there is one (it fails where the device can't promise zeroes);
else a discard is tried and every byte is read back, and written where it is not zero. Then comes a new file system.

A stamp beside the manifests holds the evidence and the id of that new file system. It is written last and taken back
before anybody may use the volume, so a second run knows by itself whether there is something to do.
It refuses a volume that is in use, and wipes nothing but the volume it was named.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import struct
import time

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read

DOCUMENTATION = r"""
module: kloigos_wipe
short_description: Empty the volume of a unit and give it a new file system
options:
  unit: {type: dict, required: true, description: The unit as stored by Kloigos}
  allocation_id: {type: str, required: true, description: Whose data is wiped}
  volume_group: {type: str, required: true, description: Where the volume lies}
  removed: {type: list, elements: str, default: [], description: What was removed elsewhere; part of the evidence}
  leftovers: {type: list, elements: str, default: [], description: What could not be removed elsewhere; part of the evidence}
author: Kloigos
"""

STAMPS = "/etc/kloigos/wiped/"
MANIFESTS = "/etc/kloigos/units/"
FORMATTED = "kloigos.formatted"
BLKGETSIZE64 = 0x80081272
BLKDISCARD = 0x1277
PUNCH_HOLE_KEEP_SIZE = 0x03
CHUNK = 64 << 20
PIECE = 1 << 20
# Beside both ends this many places are read back where the kernel vouches for the zeroes; elsewhere all is.
SAMPLES = 64


class Wipe(Work):
    def __init__(self, module):
        super().__init__(module)
        self.unit = module.params["unit"]
        self.mount = self.unit["mount"]
        self.volume = "%s/%s" % (module.params["volume_group"], self.unit["volume"])
        self.device = "/dev/" + self.volume
        self.stamp = STAMPS + self.unit["id"] + ".json"
        self.note = STAMPS + self.unit["id"] + ".swept"  # of kloigos_sweep

    def refuse(self, why):
        if self.check:
            self.module.exit_json(changed=True, msg="in the way: " + why, kloigos_changes=[], objections=[why], diff={"before": "", "after": "in the way: %s\n" % why})
        self.module.fail_json(msg=why)

    # what is there

    def mounts(self, pid="self"):
        """Where this volume is mounted, in the mount namespace of a process."""
        if not os.path.exists(self.device):
            return []
        number = os.stat(self.device).st_rdev
        name = "%d:%d" % (os.major(number), os.minor(number))
        lines = [line.split(" ") for line in read("/proc/%s/mountinfo" % pid).splitlines()]
        return [fields[4] for fields in lines if fields[2] == name]

    def file_system(self):
        """Asked of the device itself, as udev and blkid's cache may lag behind."""
        return self.run(["/usr/sbin/blkid", "-p", "-s", "UUID", "-o", "value", self.device], fail=False)[1].strip()

    def evidence(self):
        """The evidence of an earlier wipe for this allocation, if the volume has not been touched since."""
        text = read(self.stamp)
        if not text:
            return None
        found = json.loads(text)
        same = found["allocation_id"] == self.module.params["allocation_id"] and found["file_system"] == self.file_system()
        return found if same else None

    # steps

    def unmount(self):
        # systemctl turns a path into the name of its mount unit by itself.
        self.run(["/usr/bin/systemctl", "stop", "--", self.mount], fail=False)
        for place in reversed(self.mounts()):
            self.run(["/usr/bin/umount", "--", place], fail=False)
        if self.mounts():
            self.refuse("%s is still in use: %s" % (self.mount, self.users() or "no process found"))

    def users(self):
        """Processes that keep the volume busy, in words."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            links = ["/proc/%s/%s" % (pid, name) for name in ("cwd", "root", "exe")]
            try:
                links += ["/proc/%s/fd/%s" % (pid, fd) for fd in os.listdir("/proc/%s/fd" % pid)]
            except OSError:
                pass
            for link in links:
                try:
                    target = os.readlink(link)
                except OSError:
                    continue
                if target == self.mount or target.startswith(self.mount + "/"):
                    found.append("%s (%s)" % (pid, read("/proc/%s/comm" % pid).strip()))
                    break
        return ", ".join(found)

    def open_alone(self):
        """With O_EXCL the kernel refuses while any mount, in whatever namespace, still holds the device."""
        end = time.monotonic() + 10
        while True:
            try:
                return os.open(self.device, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)
            except OSError as problem:
                if time.monotonic() > end:
                    held = [pid for pid in filter(str.isdigit, os.listdir("/proc")) if self.mounts(pid)]
                    self.refuse("%s: %s; held by processes %s" % (self.device, problem.strerror, ", ".join(held) or "none found"))
                time.sleep(0.2)

    def zero(self, descriptor, size):
        """Returns how the zeroes came about and how many bytes were read back."""
        libc = ctypes.CDLL(None, use_errno=True)
        fallocate = libc.fallocate64
        fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
        done = 0
        while done < size:
            length = min(CHUNK * 16, size - done)
            if fallocate(descriptor, PUNCH_HOLE_KEEP_SIZE, done, length) != 0:
                break
            done += length
        if done == size:
            return "discard", self.sample(descriptor, size)
        try:
            fcntl.ioctl(descriptor, BLKDISCARD, struct.pack("QQ", 0, size))
            method = "discard+zero"
        except OSError:
            method = "zero"
        self.write_zeroes(descriptor, size)
        return method, size

    def write_zeroes(self, descriptor, size):
        zeroes = bytes(PIECE)
        for offset in range(0, size, PIECE):
            length = min(PIECE, size - offset)
            if os.pread(descriptor, length, offset) != zeroes[:length]:
                os.pwrite(descriptor, zeroes[:length], offset)
            if offset % CHUNK == 0:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, offset, os.POSIX_FADV_DONTNEED)
        os.fsync(descriptor)
        # What counts is what the device gives back, not what the page cache remembers.
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        for offset in range(0, size, PIECE):
            self.must_be_zero(descriptor, offset, min(PIECE, size - offset))

    def sample(self, descriptor, size):
        places = {0, max(0, size - PIECE)} | {size * n // SAMPLES // PIECE * PIECE for n in range(SAMPLES)}
        for offset in places:
            self.must_be_zero(descriptor, offset, min(PIECE, size - offset))
        return sum(min(PIECE, size - offset) for offset in places)

    def must_be_zero(self, descriptor, offset, length):
        if os.pread(descriptor, length, offset).strip(b"\0"):
            self.module.fail_json(msg="%s does not read as zeroes at byte %d after the wipe" % (self.device, offset))

    def format(self):
        self.run(["/usr/sbin/mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard",
                  "-L", self.unit["volume"], self.device])

    def mount_again(self):
        self.run(["/usr/bin/systemctl", "start", "--", self.mount])
        if self.mount not in self.mounts():
            self.module.fail_json(msg="%s is not mounted at %s" % (self.device, self.mount))

    def wipe(self):
        if os.path.exists(self.stamp):
            os.unlink(self.stamp)
        # Without the tag nobody takes what is there for a finished file system, wherever this run is cut.
        self.run(["/usr/sbin/lvchange", "-q", "--deltag", FORMATTED, self.volume])
        self.unmount()
        began = time.monotonic()
        descriptor = self.open_alone()
        try:
            size = struct.unpack("Q", fcntl.ioctl(descriptor, BLKGETSIZE64, bytes(8)))[0]
            method, verified = self.zero(descriptor, size)
        finally:
            os.close(descriptor)
        took = time.monotonic() - began
        self.format()
        self.run(["/usr/sbin/lvchange", "-q", "--addtag", FORMATTED, self.volume])
        self.mount_again()
        found = {
            "allocation_id": self.module.params["allocation_id"],
            "unit_id": self.unit["id"],
            "method": method,
            "device": self.device,
            "bytes": size,
            "bytes_read_back": verified,
            "seconds": round(took, 1),
            "file_system": self.file_system(),
            "wiped_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "removed": self.module.params["removed"],
            "leftovers": self.module.params["leftovers"],
        }
        self.write_stamp(found)
        return found

    def write_stamp(self, found):
        os.makedirs(STAMPS, mode=0o700, exist_ok=True)
        with open(self.stamp + ".new", "w", encoding="ascii") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(json.dumps(found, indent=2, sort_keys=True) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.rename(self.stamp + ".new", self.stamp)

    def main(self):
        text = read(MANIFESTS + self.unit["id"] + ".json")
        holder = json.loads(text)["allocation"]["id"] if text else None
        if holder not in (None, self.module.params["allocation_id"]):
            self.refuse("unit %s is held by allocation %s; its volume is not wiped for another" % (self.unit["name"], holder))
        if not os.path.exists(self.device):
            self.refuse("there is no volume %s; initialize the host again" % self.device)
        found = self.evidence()
        changed = found is None or self.mount not in self.mounts()
        if not self.check:
            if found is None:
                found = self.wipe()
            elif changed:
                self.mount_again()
            if os.path.exists(self.note):
                os.unlink(self.note)
        after = "volume %s is emptied and gets a new file system\n" % self.device if changed else ""
        changes = [
            {"action": "remove", "kind": "volume content", "name": self.volume, "note": "every byte is made to read as zero"},
            {"action": "create", "kind": "file system", "name": self.device, "note": "ext4, empty"},
        ] if changed else []
        self.module.exit_json(changed=changed, kloigos_changes=changes, kloigos_result={"wipe": found or {}}, diff={"before": "", "after": after})


def main():
    module = AnsibleModule(
        argument_spec={
            "unit": {"type": "dict", "required": True},
            "allocation_id": {"type": "str", "required": True},
            "volume_group": {"type": "str", "required": True},
            "removed": {"type": "list", "elements": "str", "default": []},
            "leftovers": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    wipe = Wipe(module)
    try:
        wipe.main()
    except (OSError, ValueError) as problem:
        module.fail_json(msg="%s: %s" % (wipe.device, problem))


if __name__ == "__main__":
    main()
