"""The OS user that runs PostgreSQL if ScriptSmith runs as root, because PostgreSQL refuses to run as root."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.folders import cannot_write
from scriptsmith_site.embedded.layout import Layout

_NOTE = (
    "This folder has PostgreSQL's files for the ScriptSmith data folder\n{data}\nThey are "
    "here because ScriptSmith was started as root, and PostgreSQL can't run as root.\nIf "
    "you delete that data folder, delete this folder too.\n"
)


@dataclass(frozen=True)
class Account:
    """An OS user that runs a program. An empty account is the current user."""

    name: str = ""
    uid: int | None = None
    gid: int | None = None

    @property
    def extra_groups(self) -> list[int] | None:
        return None if self.uid is None else []

    def make_folder(self, folder: Path) -> None:
        """Create a folder that only this user can access."""
        folder.mkdir(mode=0o700)
        if self.uid is not None and self.gid is not None:
            os.chown(folder, self.uid, self.gid)


def find_postgres_account(layout: Layout) -> Account:
    """Return the user that PostgreSQL runs as: the current user, or for root, an existing ordinary user.

    The ordinary user is SCRIPTSMITH_POSTGRES_USER, or else `postgres` or `nobody`. Raises CannotStart.
    """
    if not layout.runs_as_root:
        return Account()
    if (layout.data / "postgres").exists():
        raise CannotStart(
            f"{layout.data} has the database of an ordinary user. Run as that user instead of "
            "root, or set SCRIPTSMITH_DATA to another folder"
        )
    named = os.environ.get("SCRIPTSMITH_POSTGRES_USER")
    for name in [named] if named else ["postgres", "nobody"]:
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        if user.pw_uid != 0:
            return Account(name, user.pw_uid, user.pw_gid)
    raise CannotStart(
        "PostgreSQL can't run as root. Set SCRIPTSMITH_POSTGRES_USER to an existing ordinary "
        "user, or DATABASE_URL to another server"
    )


def make_outside_home(layout: Layout) -> None:
    """Create the parent folder of PostgreSQL's files, if it does not exist. Call this only as root.

    Raises CannotStart.
    """
    home = layout.postgres_home
    try:
        layout.outside.mkdir(mode=0o755, parents=True, exist_ok=True)
        if not home.exists():
            home.mkdir()
            home.chmod(0o711)
            (home / "READ-ME.txt").write_text(_NOTE.format(data=layout.data))
    except OSError as error:
        raise cannot_write(home, error) from error
