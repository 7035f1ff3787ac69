"""System call numbers used by the filter, for the two architectures that the wheel supports."""

from __future__ import annotations

from typing import NamedTuple


class Architecture(NamedTuple):
    audit: int  # AUDIT_ARCH_... as the filter receives it
    numbers: dict[str, int]


# From asm/unistd_64.h. Numbers from 424 on are the same on all architectures.
_SINCE_424 = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "memfd_secret": 447,
    "open_tree_attr": 467,
}

X86_64 = Architecture(
    0xC000003E,
    {
        "ioctl": 16, "shmget": 29, "shmat": 30, "shmctl": 31, "socket": 41, "socketpair": 53,
        "clone": 56, "semget": 64, "msgget": 68, "chown": 92, "fchown": 93, "lchown": 94, "ptrace": 101, "syslog": 103,
        "modify_ldt": 154, "pivot_root": 155, "adjtimex": 159, "setrlimit": 160, "acct": 163, "settimeofday": 164,
        "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "iopl": 172,
        "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179, "io_setup": 206,
        "lookup_dcookie": 212, "clock_settime": 227, "kexec_load": 246, "add_key": 248,
        "request_key": 249, "keyctl": 250, "fchownat": 260, "unshare": 272, "vmsplice": 278,
        "perf_event_open": 298, "prlimit64": 302, "name_to_handle_at": 303, "open_by_handle_at": 304,
        "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
        "kcmp": 312, "finit_module": 313, "memfd_create": 319, "kexec_file_load": 320,
        "bpf": 321, "userfaultfd": 323,
        **_SINCE_424,
    },
)  # fmt: skip

# From asm-generic/unistd.h.
AARCH64 = Architecture(
    0xC00000B7,
    {
        "io_setup": 0, "ioctl": 29, "umount2": 39, "mount": 40, "pivot_root": 41, "fchownat": 54, "fchown": 55,
        "quotactl": 60, "vmsplice": 75, "acct": 89, "unshare": 97, "kexec_load": 104, "init_module": 105,
        "delete_module": 106, "clock_settime": 112, "syslog": 116, "ptrace": 117, "reboot": 142,
        "setrlimit": 164, "settimeofday": 170, "adjtimex": 171, "msgget": 186, "semget": 190,
        "shmget": 194, "shmctl": 195,
        "shmat": 196, "socket": 198, "socketpair": 199, "add_key": 217, "request_key": 218, "keyctl": 219,
        "clone": 220, "swapon": 224, "swapoff": 225, "perf_event_open": 241, "prlimit64": 261,
        "name_to_handle_at": 264, "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268,
        "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273,
        "memfd_create": 279, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
        **_SINCE_424,
    },
)  # fmt: skip

ARCHITECTURES = {"x86_64": X86_64, "aarch64": AARCH64}
