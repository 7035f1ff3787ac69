"""Read the files of a scenario after a script has run, without trusting these files.

The snapshot is taken after all processes of the run have exited. Folders are opened by descriptor without following
links, only regular files are opened for reading, and all counts are limited. The helper is root in its own user
namespace, so file modes can't prevent it from reading.
"""

from __future__ import annotations

import hashlib
import os
import stat

from catalog.execution.helper.messages import EntryReply
from catalog.execution.helper.world import FOREIGN

DEEPEST = 100  # levels of folders to read
MOST_ENTRIES = 6000  # more than the scenario has inodes
MOST_READ = 64 << 20  # bytes in all files, including holes
LARGEST_CONTENT = 64 << 10  # bytes of a file that is stored as text
MOST_CONTENT = 1 << 20  # bytes stored as text, in all files together
MOST_PATHS = 2 << 20  # characters in all paths and link targets
_CHUNK = 1 << 18

# Reading must not change access times, because scripts check them.
_QUIETLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOATIME
_FOLDER = _QUIETLY | os.O_DIRECTORY
_FILE = _QUIETLY | os.O_NONBLOCK | os.O_NOCTTY
_IGNORED = frozenset(f"/{name}" for name in FOREIGN)

_KINDS = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISFIFO, "fifo"),
    (stat.S_ISSOCK, "socket"),
)


class Snapshot:
    """All paths below the root, and the reason if the snapshot is incomplete."""

    def __init__(self) -> None:
        self.entries: dict[str, EntryReply] = {}
        self.cut: str | None = None
        self._paths = 0
        self._read = 0
        self._kept = 0


def take_snapshot(root: int) -> Snapshot:
    """Return a snapshot of a folder. Folders are read without recursion, because a script can nest 4,000 folders."""
    snapshot = Snapshot()
    waiting = [_Folder("", os.dup(root))]
    try:
        while waiting:
            folder = waiting[-1]
            if not folder.names:
                os.close(waiting.pop().descriptor)
                continue
            path = f"{folder.path}/{(name := folder.names.pop())}"
            if path in _IGNORED:
                continue
            snapshot._paths += len(path)
            if len(snapshot.entries) >= MOST_ENTRIES or snapshot._paths > MOST_PATHS:
                snapshot.cut = "too many files, or too long names"
                break
            entry = _look_at(snapshot, folder.descriptor, name)
            snapshot.entries[path] = entry
            snapshot._paths += len(entry["target"] or "")
            if entry["kind"] != "folder":
                continue
            if len(waiting) >= DEEPEST:
                snapshot.cut = f"folders more than {DEEPEST} deep"
                continue
            waiting.append(_Folder(path, os.open(name, _FOLDER, dir_fd=folder.descriptor)))
    finally:
        for folder in waiting:
            os.close(folder.descriptor)
    return snapshot


class _Folder:
    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor
        self.names = os.listdir(descriptor)


def _look_at(snapshot: Snapshot, parent: int, name: str) -> EntryReply:
    found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    kind = next((word for fits, word in _KINDS if fits(found.st_mode)), "other")
    entry = EntryReply(
        kind=kind,
        mode=stat.S_IMODE(found.st_mode),
        size=found.st_size if kind == "file" else 0,
        modified=int(found.st_mtime),
        sha256=None,
        target=os.readlink(name, dir_fd=parent) if kind == "link" else None,
        content=None,
    )
    if kind == "file":
        _read_file(snapshot, parent, name, entry)
    return entry


def _read_file(snapshot: Snapshot, parent: int, name: str, entry: EntryReply) -> None:
    if snapshot._read + entry["size"] > MOST_READ:
        snapshot.cut = f"more than {MOST_READ >> 20} MB in files"
        return
    with open(os.open(name, _FILE, dir_fd=parent), "rb") as opened:
        digest, start = hashlib.sha256(), b""
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
            snapshot._read += len(chunk)
            start = start or chunk
    entry["sha256"] = digest.hexdigest()
    if entry["size"] <= min(LARGEST_CONTENT, MOST_CONTENT - snapshot._kept):
        snapshot._kept += entry["size"]
        entry["content"] = start.decode("utf-8", "surrogateescape")
