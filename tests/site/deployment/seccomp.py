"""Start a program under a seccomp profile as Docker reads it, with the library that Docker uses.

python -m tests.site.deployment.seccomp PROFILE COMMAND ...
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from ctypes.util import find_library
from pathlib import Path
from typing import Any

_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_COMPARISONS = {"SCMP_CMP_NE": 1, "SCMP_CMP_EQ": 4, "SCMP_CMP_GT": 6}


class _Argument(ctypes.Structure):
    _fields_ = (
        ("index", ctypes.c_uint),
        ("operation", ctypes.c_int),
        ("value", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def apply(profile: dict[str, Any]) -> None:
    """Restrict this process and its children to the system calls that the profile allows. Raises OSError."""
    library = ctypes.CDLL(find_library("seccomp") or "libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    made = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ALLOW)))
    for rule in profile["syscalls"]:
        assert rule["action"] == "SCMP_ACT_ERRNO"
        given = rule.get("args", [])
        arguments = (_Argument * len(given))(
            *((one["index"], _COMPARISONS[one["op"]], one["value"], 0) for one in given)
        )
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            # Like Docker, skip names that this version of the library does not know.
            if number != -1:
                action = ctypes.c_uint32(_ERRNO | rule["errnoRet"])
                _check(
                    library.seccomp_rule_add_array(made, action, number, len(given), arguments),
                    name,
                )
    _check(library.seccomp_load(made), "load")


def _check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(-result, f"{what}: {os.strerror(-result)}")


if __name__ == "__main__":
    apply(json.loads(Path(sys.argv[1]).read_text()))
    os.execvp(sys.argv[2], sys.argv[2:])
