#!/usr/bin/python3
"""Returns a kloigos_result of the size and with the strings that a test asks for.

Its first line names python3, which Ansible treats as another language than python: the fence must guard it as well.
"""
from ansible.module_utils.basic import AnsibleModule


def main():
    module = AnsibleModule(
        argument_spec={
            "size": {"type": "int", "default": 0},
            "echo": {"type": "raw"},
            "deep": {"type": "int", "default": 0},
            "extra": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    result = {"filler": "x" * module.params["size"], "echo": module.params["echo"]}
    for _ in range(module.params["deep"]):
        result = {"down": [result]}
    module.exit_json(kloigos_result=result, **module.params["extra"])


if __name__ == "__main__":
    main()
