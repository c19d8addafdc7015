"""Says, a line for each, what is wrong on a host that was given hostile text. Runs as root on the host.

Argument: JSON with canary (a path that must not be), user, and keys: what must be in the user's file of keys.
"""

import glob
import json
import os
import sys

ask = json.loads(sys.argv[1])

# Also where a process would have put it that sees another /var/tmp.
name = os.path.basename(ask["canary"])
for place in [ask["canary"], "/tmp/" + name, "/root/" + name, *glob.glob("/mnt/kloigos/*/*/*/*/" + name)]:
    if os.path.lexists(place):
        print("something ran: there is", place)

with open("/etc/kloigos/keys/" + ask["user"], encoding="utf-8") as file:
    lines = [line for line in file.read().split("\n") if line and not line.startswith("#")]
if lines != ask["keys"]:
    print("the keys are", lines, "and not", ask["keys"])
