"""Create the files of a scenario through directory descriptors, so that no path can lead outside of it.

The helper can still see the host's files at this point. The helper therefore never passes a complete path to the kernel
and never follows a link.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from catalog.execution.helper.messages import FileRequest

FOLDER_MODE, FILE_MODE = 0o755, 0o644

# The base content of every scenario, created before the test's files.
FOLDERS = (
    "dev", "etc", "etc/alternatives", "home", "mnt", "opt", "proc", "root", "run", "srv", "tmp",
    "usr", "var", "var/cache", "var/lib", "var/log", "var/spool", "var/tmp", "var/www",
)  # fmt: skip
STICKY = ("tmp", "var/tmp")
LINKS = {"var/run": "/run", "var/lock": "/run"}
FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\n"
    "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\nadm:x:4:\nsudo:x:27:\nwww-data:x:33:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1\tlocalhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
# The host's program folders are mounted over these folders, so a test can't have files there.
FROM_HOST = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
FOREIGN = ("dev", "etc/alternatives", "proc", "sys", "usr", *FROM_HOST)

_FILLER = b"0123456789abcdef" * 4096
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class WorldRefused(Exception):
    """The scenario can't be built as requested. The message contains the path and the reason."""


def build_world(root: int, files: list[FileRequest], hostname: str, now: float) -> None:
    """Create the scenario in the empty folder with this descriptor. Raises WorldRefused."""
    _build_base(root, hostname, now)
    ordered = sorted(files, key=lambda file: (file["kind"] == "link", file["path"].count("/")))
    for file in ordered:
        try:
            _build(root, file, now)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise WorldRefused(f"{file['path']!r}: {reason}") from error
    # Start with the deepest folder, because creating a file changes its folder's timestamps.
    for file in reversed(ordered):
        if file["kind"] == "folder":
            with _parent_of(root, file["path"]) as (parent, name):
                _set_times(parent, name, file, now)


def restore_mount_points(root: int) -> None:
    """Ensure that all mount points are folders, and not links that an earlier run created.

    Bubblewrap would follow such a link and might create its mount point outside of the scenario. Raises WorldRefused.
    """
    for path in ("dev", "etc", "etc/alternatives", "proc", "usr"):
        # Parent folders come first, so each parent has already been checked.
        with suppress(FileExistsError, NotADirectoryError):
            os.mkdir(path, FOLDER_MODE, dir_fd=root)
        try:
            os.close(os.open(path, _FOLDER, dir_fd=root))
        except OSError as error:
            raise WorldRefused(f"The script replaced /{path}, so it can't be run again.") from error


def split_path(path: str) -> list[str]:
    """Split an absolute path into names. Raises WorldRefused if the path is not absolute or leaves the scenario."""
    names = path.split("/")[1:]
    if not path.startswith("/") or "\0" in path or any(name in ("", ".", "..") for name in names):
        raise WorldRefused(f"{path!r} is not an absolute path without . and .. in it.")
    if any(names[: len(own.split("/"))] == own.split("/") for own in FOREIGN):
        raise WorldRefused(f"{path!r} is reserved for the programs of the sandbox.")
    return names


def _build_base(root: int, hostname: str, now: float) -> None:
    for folder in FOLDERS:
        os.mkdir(folder, FOLDER_MODE, dir_fd=root)
    for folder in STICKY:
        os.chmod(folder, 0o1777, dir_fd=root)
    for link, target in LINKS.items():
        os.symlink(target, link, dir_fd=root)
    for name in FROM_HOST:
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), name, dir_fd=root)
        elif os.path.isdir(f"/{name}"):
            os.mkdir(name, FOLDER_MODE, dir_fd=root)
    for path, content in (FILES | {"etc/hostname": f"{hostname}\n"}).items():
        descriptor = os.open(path, _NEW_FILE, FILE_MODE, dir_fd=root)
        with open(descriptor, "wb") as opened:
            opened.write(content.encode())
        os.utime(path, (now - 86400, now - 86400), dir_fd=root)


def _build(root: int, file: FileRequest, now: float) -> None:
    with _parent_of(root, file["path"]) as (parent, name):
        if file["kind"] == "link":
            os.symlink(file["target"], name, dir_fd=parent)
        elif file["kind"] == "folder":
            try:
                os.mkdir(name, FOLDER_MODE, dir_fd=parent)
            except FileExistsError:  # a base folder, or created for an earlier file
                os.close(os.open(name, _FOLDER, dir_fd=parent))
        else:
            _write_file(parent, name, file)
        if "mode" in file and file["kind"] != "link":
            os.chmod(name, file["mode"], dir_fd=parent)
        _set_times(parent, name, file, now)


def _write_file(parent: int, name: str, file: FileRequest) -> None:
    descriptor = os.open(name, _NEW_FILE, FILE_MODE, dir_fd=parent)
    with open(descriptor, "wb") as opened:
        if "content" in file:
            opened.write(file["content"].encode("utf-8", "surrogateescape"))
        # Write real bytes, because du and df do not count holes.
        left = file.get("size", 0)
        while left > 0:
            left -= opened.write(_FILLER[:left])


def _set_times(parent: int, name: str, file: FileRequest, now: float) -> None:
    age = file.get("age", 3600)
    times = (now - file.get("accessed", age), now - age)
    os.utime(name, times, dir_fd=parent, follow_symlinks=False)


@contextmanager
def _parent_of(root: int, path: str) -> Iterator[tuple[int, str]]:
    """Yield a descriptor of the path's parent folder, which is created if missing, and the last name. Raises OSError if
    the path contains a link.
    """
    *folders, name = split_path(path)
    here = os.dup(root)
    try:
        for folder in folders:
            try:
                below = os.open(folder, _FOLDER, dir_fd=here)
            except FileNotFoundError:
                os.mkdir(folder, FOLDER_MODE, dir_fd=here)
                below = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        yield here, name
    finally:
        os.close(here)
