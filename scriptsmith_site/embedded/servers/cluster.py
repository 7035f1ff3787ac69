"""Create PostgreSQL's data folder and check its version."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.layout import DATABASE, ROLE
from scriptsmith_site.embedded.servers.binaries import POSTGRES_MAJOR
from scriptsmith_site.embedded.servers.ordinary_user import Account
from scriptsmith_site.embedded.supervision.processes import end_with_parent

CLEAN_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}

# The collation does not depend on the machine's C library, so indexes stay valid.
# Only this user can access the socket's folder, so connections need no password.
_CHOICES = (
    f"--username={ROLE} --encoding=UTF8 --locale=C --locale-provider=builtin "
    "--builtin-locale=C.UTF-8 --auth-local=trust --auth-host=reject"
).split()


def make_cluster(data: Path, *, programs: Path, account: Account, durable: bool) -> None:
    """Create the data folder with this product's database in it. Raises CannotStart, OSError.

    The folder is created under a temporary name and then renamed, so that an unfinished folder is never used.
    """
    for broken_off in data.parent.glob("postgres.unfinished*"):
        shutil.rmtree(broken_off, ignore_errors=True)
    unfinished = data.with_name(f"postgres.unfinished.{os.getpid()}")
    account.make_folder(unfinished)
    try:
        _fill(unfinished, programs=programs, account=account, durable=durable)
        unfinished.rename(data)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _fill(folder: Path, *, programs: Path, account: Account, durable: bool) -> None:
    light = [] if durable else ["--no-sync", "--wal-segsize=1"]
    _run(account, programs / "bin/initdb", "-D", folder, *_CHOICES, *light)
    alone = (programs / "bin/postgres", "--single", "-D", folder, "postgres")
    _run(account, *alone, text=f"CREATE DATABASE {DATABASE}\n")


def _run(account: Account, *command: str | Path, text: str = "") -> None:
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        user=account.uid,
        group=account.gid,
        extra_groups=account.extra_groups,
        cwd="/",
        env=CLEAN_ENVIRONMENT,
        umask=0o077,
        start_new_session=True,
        preexec_fn=end_with_parent(signal.SIGKILL),
    )
    why = complaints(done.stderr)
    if done.returncode or why:
        reason = why[-1] if why else f"exit status {done.returncode}"
        raise CannotStart(f"PostgreSQL could not create its database: {reason}")


def check_version(data: Path) -> None:
    """Raise CannotStart if another major version created the data folder."""
    found = (data / "PG_VERSION").read_text().strip()
    if found != str(POSTGRES_MAJOR):
        raise CannotStart(
            f"{data} was created by PostgreSQL {found}, but this version uses PostgreSQL "
            f"{POSTGRES_MAJOR}. Restore a backup into a new SCRIPTSMITH_DATA folder, or set "
            "DATABASE_URL"
        )


def complaints(text: str) -> list[str]:
    """Return the error messages in the output of PostgreSQL's programs, without timestamps and process IDs."""
    found = []
    for line in text.splitlines():
        for mark in ("FATAL: ", "PANIC: ", "ERROR: ", "error: "):
            _, marked, rest = line.partition(mark)
            if marked:
                found.append(rest.strip())
                break
    return found
