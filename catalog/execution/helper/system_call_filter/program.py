"""Build the seccomp filter as classic BPF bytes, so that no library is needed."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from errno import EAFNOSUPPORT, ENOSYS, EPERM

from catalog.execution.helper.system_call_filter.numbers import ARCHITECTURES

# These calls report success without doing anything, because only one user is mapped in the sandbox.
PRETENDED = ("chown", "fchown", "lchown", "fchownat")

REFUSED = (
    "acct", "add_key", "adjtimex", "bpf", "clock_adjtime", "clock_settime", "delete_module",
    "finit_module", "fsconfig", "fsmount", "fsopen", "fspick", "init_module", "io_setup", "io_uring_enter",
    "io_uring_register", "io_uring_setup", "ioperm", "iopl", "kcmp", "kexec_file_load",
    "kexec_load", "keyctl", "lookup_dcookie", "memfd_create", "memfd_secret", "modify_ldt",
    "mount", "mount_setattr", "move_mount", "msgget", "name_to_handle_at", "open_by_handle_at",
    "open_tree", "open_tree_attr", "perf_event_open", "pidfd_getfd", "pivot_root",
    "process_vm_readv", "process_vm_writev", "ptrace", "quotactl", "quotactl_fd", "reboot",
    "request_key", "semget", "setns", "settimeofday", "shmat", "shmctl", "shmget", "swapoff", "swapon",
    "syslog", "umount2", "unshare", "userfaultfd",
)  # fmt: skip

SOCKET_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET and AF_INET6, but not vsock, netlink, packet or alg
_NEW_NAMESPACES = 0x7E020000  # all CLONE_NEW... flags that clone accepts
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX can insert input into a terminal
_X32 = 0x40000000
_CORE = 4  # RLIMIT_CORE

_LOAD, _RETURN = 0x20, 0x06  # BPF_LD|BPF_W|BPF_ABS, BPF_RET|BPF_K
_IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT = 0x15, 0x35, 0x45  # BPF_JMP with JEQ, JGE, JSET and BPF_K
# Offsets in struct seccomp_data. For arguments, this is the offset of the low half.
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 16, 24, 32
_HIGH_HALF = 4

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


class UntestedArchitecture(Exception):
    """No system call numbers are known for this architecture, so nothing runs."""


def build_filter(machine: str) -> bytes:
    """Return the filter for a machine type from `os.uname()`, in the format that bubblewrap reads. Raises
    UntestedArchitecture.
    """
    found = ARCHITECTURES.get(machine)
    if found is None:
        raise UntestedArchitecture(machine)
    numbers = found.numbers
    program = [
        _operation(_LOAD, _ARCHITECTURE),
        _operation(_IF_EQUAL, found.audit, on_true=1),
        _operation(_RETURN, _KILL),
        _operation(_LOAD, _NUMBER),
        _operation(_IF_AT_LEAST, _X32, on_false=1),
        _operation(_RETURN, _ERRNO | EPERM),
    ]
    for name in _known(PRETENDED, numbers):
        program += _answer(numbers[name], _ERRNO | 0)
    for name in _known(REFUSED, numbers):
        program += _answer(numbers[name], _ERRNO | EPERM)
    # A filter can't read the flags of clone3, which are behind a pointer. Libraries fall back to clone.
    program += _answer(numbers["clone3"], _ERRNO | ENOSYS)
    # Pages in a pipe are not charged to any process. Programs fall back to write.
    program += _answer(numbers["vmsplice"], _ERRNO | ENOSYS)
    program += _pretend_core_limit(numbers)
    program += _answer_if_any_bit(numbers["clone"], _FIRST_ARGUMENT, _NEW_NAMESPACES)
    program += _answer_if_equal(numbers["ioctl"], _SECOND_ARGUMENT, _TERMINAL_INPUT)
    # Filter socketpair, too, because requesting a family can load its kernel module even if the call fails.
    for name in ("socket", "socketpair"):
        program += _answer_unless_equal(numbers[name], _FIRST_ARGUMENT, SOCKET_FAMILIES)
    return b"".join([*program, _operation(_RETURN, _ALLOW)])


def _known(names: Iterable[str], numbers: dict[str, int]) -> list[str]:
    return [name for name in names if name in numbers]


def _operation(code: int, value: int, on_true: int = 0, on_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, on_true, on_false, value)


def _answer(number: int, answer: int) -> list[bytes]:
    return [_operation(_IF_EQUAL, number, on_false=1), _operation(_RETURN, answer)]


def _answer_if_any_bit(number: int, argument: int, bits: int) -> list[bytes]:
    return _with_argument(
        number,
        argument,
        [_operation(_IF_ANY_BIT, bits, on_false=1), _operation(_RETURN, _ERRNO | EPERM)],
    )


def _answer_if_equal(number: int, argument: int, values: tuple[int, ...]) -> list[bytes]:
    refusals = [step for value in values for step in _answer(value, _ERRNO | EPERM)]
    return _with_argument(number, argument, refusals)


def _answer_unless_equal(number: int, argument: int, values: tuple[int, ...]) -> list[bytes]:
    # A match skips the remaining comparisons and the error.
    steps = [
        _operation(_IF_EQUAL, value, on_true=len(values) - position)
        for position, value in enumerate(values)
    ]
    return _with_argument(number, argument, [*steps, _operation(_RETURN, _ERRNO | EAFNOSUPPORT)])


def _pretend_core_limit(numbers: dict[str, int]) -> list[bytes]:
    """Return instructions that pretend to set the core file limit, which stays at 1.

    With a limit of 0, the kernel would send core dumps to the core pattern's program outside of the sandbox. A
    prlimit64 call that only reads the limit has no pointer to a new limit and is allowed.
    """
    done = _operation(_RETURN, _ERRNO | 0)
    setting = [_operation(_IF_EQUAL, _CORE, on_false=1), done]
    with_new_limit = [
        _operation(_IF_EQUAL, _CORE, on_false=5),
        _operation(_LOAD, _THIRD_ARGUMENT),
        _operation(_IF_EQUAL, 0, on_false=2),
        _operation(_LOAD, _THIRD_ARGUMENT + _HIGH_HALF),
        _operation(_IF_EQUAL, 0, on_true=1),
        done,
    ]
    return [
        *_with_argument(numbers["setrlimit"], _FIRST_ARGUMENT, setting),
        *_with_argument(numbers["prlimit64"], _SECOND_ARGUMENT, with_new_limit),
    ]


def _with_argument(number: int, argument: int, steps: list[bytes]) -> list[bytes]:
    """Return instructions that apply the steps to the low half of a system call's argument, then reload the number."""
    body = [_operation(_LOAD, argument), *steps, _operation(_LOAD, _NUMBER)]
    return [_operation(_IF_EQUAL, number, on_false=len(body)), *body]
