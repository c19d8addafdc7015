#!/usr/bin/env python3
"""Dynamic inventory: the hosts that Kloigos knows, for plain Ansible.

    export KLOIGOS_URL=https://kloigos.example KLOIGOS_TOKEN=kl_... KLOIGOS_CA=/path/to/ca.crt
    ansible-playbook -i inventory/kloigos_inventory.py playbook.yml --limit region_eu1

Reads GET {KLOIGOS_URL}/api/v1/hosts, page by page, and changes nothing. Needs Python 3.9 or newer and no packages.

Groups: region_<region>, zone_<zone>, state_<state>, label_<key>_<value>. What a group's name can't hold becomes "_",
so labels that differ only there share a group; the exact ones are in the variable kloigos_labels.

Variables of a host: ansible_host, ansible_port, ansible_user, kloigos_id, kloigos_state, kloigos_health, kloigos_region,
kloigos_zone, kloigos_labels, kloigos_host_key. All text is marked unsafe: a template in it is never run.
"""

import argparse
import json
import os
import re
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request

PAGE_LIMIT = 500
MAX_PAGES = 2000  # a million hosts; ends a server that never says "last page"
TIMEOUT_SECONDS = 30
MAX_PAGE_BYTES = 64 << 20


class Failure(Exception):
    """A message for the person who runs Ansible."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the token is for the server that was named."""

    def redirect_request(self, *_args, **_kwargs):
        return None


def settings(environ):
    """Returns the API's URL, the token and an opener that trusts the given CA."""
    url = environ.get("KLOIGOS_URL", "").rstrip("/")
    token = environ.get("KLOIGOS_TOKEN", "").strip()
    if not url or not token:
        raise Failure("set KLOIGOS_URL (https://host[:port]) and KLOIGOS_TOKEN (an API token)")
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != "https" and not (
        parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
    ):
        raise Failure("KLOIGOS_URL must begin with https:// (the token is in every request)")
    ca = environ.get("KLOIGOS_CA") or None
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise Failure(f"read KLOIGOS_CA {ca}: {error}") from error
    opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPSHandler(context=context))
    return url, token, opener


def fetch(opener, url, token):
    """Returns the JSON object behind a URL."""
    request = urllib.request.Request(
        url, headers={"Authorization": "Bearer " + token, "Accept": "application/json"}
    )
    try:
        with opener.open(request, timeout=TIMEOUT_SECONDS) as response:
            body = response.read(MAX_PAGE_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise Failure(f"the API answered {error.code}{problem(error)}") from error
    except (urllib.error.URLError, OSError) as error:
        raise Failure(f"reach the API: {getattr(error, 'reason', error)}") from error
    if len(body) > MAX_PAGE_BYTES:
        raise Failure("the API's answer is too large")
    try:
        page = json.loads(body)
    except ValueError as error:
        raise Failure("the API's answer is not JSON: is KLOIGOS_URL the right one?") from error
    if not isinstance(page, dict) or not isinstance(page.get("items"), list):
        raise Failure("the API's answer is not a list of hosts: is KLOIGOS_URL the right one?")
    return page


def problem(error):
    """Returns what a problem document says, printable and short."""
    try:
        document = json.loads(error.read(65536))
        said = document.get("detail") or document.get("title") or ""
    except (ValueError, OSError, AttributeError):
        return ""
    said = "".join(c if c.isprintable() else " " for c in str(said))[:500]
    return ": " + said if said else ""


def hosts(opener, url, token):
    """Yields every host, following next_cursor."""
    cursor = ""
    for _ in range(MAX_PAGES):
        query = {"limit": PAGE_LIMIT}
        if cursor:
            query["cursor"] = cursor
        page = fetch(opener, f"{url}/api/v1/hosts?{urllib.parse.urlencode(query)}", token)
        yield from page["items"]
        following = page.get("next_cursor") or ""
        if not following:
            return
        if following == cursor:
            raise Failure("the API repeats a page")
        cursor = following
    raise Failure("the API has no last page")


def unsafe(value):
    """Marks every text in a value, so that Ansible takes it literally."""
    if isinstance(value, str):
        return {"__ansible_unsafe": value}
    if isinstance(value, dict):
        return {str(key): unsafe(item) for key, item in value.items()}
    if isinstance(value, list):
        return [unsafe(item) for item in value]
    return value


def group(*words):
    """Returns a group name that every Ansible accepts."""
    return re.sub(r"[^A-Za-z0-9_]", "_", "_".join(words))


# What becomes an argument of ssh must not look like an option, nor hold a space.
ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:%_-]*\Z")
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*\Z")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*\Z")


def variables(host):
    """Returns the variables of a host, or None for one that no ssh command should be made of."""
    port = host.get("port")
    fits = (
        NAME.match(str(host.get("name") or ""))
        and ADDRESS.match(str(host.get("address") or ""))
        and USER.match(str(host.get("admin_user") or ""))
        and isinstance(port, int)
        and 0 < port < 65536
    )
    if not fits:
        return None
    return {
        "ansible_host": unsafe(host["address"]),
        "ansible_port": port,
        "ansible_user": unsafe(host["admin_user"]),
        "kloigos_id": unsafe(host.get("id") or ""),
        "kloigos_state": unsafe(host.get("state") or ""),
        "kloigos_health": unsafe(host.get("health") or ""),
        "kloigos_region": unsafe(host.get("region") or ""),
        "kloigos_zone": unsafe(host.get("zone") or ""),
        "kloigos_labels": unsafe(host.get("labels") or {}),
        "kloigos_host_key": unsafe(host.get("host_key") or ""),
    }


def inventory(items):
    """Returns what Ansible expects of --list."""
    groups, hostvars = {}, {}
    for host in items:
        found = variables(host)
        if found is None:
            print(f"kloigos_inventory: left out host {host.get('id')!r}: name, address, port or user is odd", file=sys.stderr)
            continue
        name = host["name"]
        hostvars[name] = found
        names = [group(kind, str(host[kind])) for kind in ("region", "zone", "state") if host.get(kind)]
        names += [group("label", str(key), str(value)) for key, value in sorted((host.get("labels") or {}).items())]
        for each in names:
            members = groups.setdefault(each, [])
            if name not in members:
                members.append(name)
    result = {"_meta": {"hostvars": hostvars}, "all": {"hosts": sorted(hostvars), "children": sorted(groups)}}
    for each, members in groups.items():
        result[each] = {"hosts": sorted(members)}
    return result


def main():
    parser = argparse.ArgumentParser(description="Ansible inventory of the hosts that Kloigos knows")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true", help="all groups and hosts")
    what.add_argument("--host", metavar="NAME", help="the variables of one host")
    arguments = parser.parse_args()
    try:
        url, token, opener = settings(os.environ)
        found = inventory(hosts(opener, url, token))
    except Failure as failure:
        print(f"kloigos_inventory: {failure}", file=sys.stderr)
        return 1
    if arguments.host is not None:
        found = found["_meta"]["hostvars"].get(arguments.host, {})
    json.dump(found, sys.stdout, indent=2, sort_keys=True)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
