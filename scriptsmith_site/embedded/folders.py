"""Private folders, which no other user can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.layout import Layout


def make_private(folder: Path) -> None:
    """Create a folder with mode 700, or check the mode and owner of an existing folder.

    Raises CannotStart. In a world-writable directory, another user may have created the folder.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise cannot_write(folder, error) from error
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    if not ours or found.st_mode & 0o077:
        raise CannotStart(
            f"{folder} must be a folder that you own with mode 700. Move it away, then try again"
        )


def make_data_folder(layout: Layout) -> None:
    """Create the data folder and check that it is writable. Raises CannotStart."""
    try:
        layout.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        layout.logs.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise cannot_write(layout.data, error) from error
    if not os.access(layout.data, os.W_OK | os.X_OK):
        raise CannotStart(
            f"you can't write to the data folder {layout.data}. Set SCRIPTSMITH_DATA to another "
            "folder, or run as the owner of this one"
        )


def cannot_write(path: Path, error: OSError) -> CannotStart:
    """Return an error that says what to do about a path that can't be written."""
    return CannotStart(
        f"cannot write {path}: {error.strerror}. Fix this, or set SCRIPTSMITH_DATA to another "
        "folder"
    )
