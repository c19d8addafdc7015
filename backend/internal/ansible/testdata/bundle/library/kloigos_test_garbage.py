#!/usr/bin/python
"""Answers with what is no answer: braces, binary and a flood, on both streams, and a lie about its end."""
import os
import sys


def main():
    out = sys.stdout.buffer
    out.write(b'{"changed": false, "msg": "first"}\n{"ansible_facts": {"ansible_connection": "local"}}\n')
    for _ in range(40):
        out.write(os.urandom(50000) + b"{" * 50000)
    sys.stderr.buffer.write(b"\x1b]0;title\x07" * 200000)
    out.flush()
    sys.exit(0)


if __name__ == "__main__":
    main()
