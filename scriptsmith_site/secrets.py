"""Secrets that the product generates and stores in the data folder."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def read_or_make_secret(path: Path) -> str:
    """Return the secret in the file, which is created if it is missing. Only the file's owner can read it.

    Concurrent processes get the same secret.
    """
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        pass
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(48))
    try:
        # A hard link fails if the name exists. The second process then uses the first process's secret.
        os.link(fresh, path)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return path.read_text(encoding="ascii").strip()
