"""A copy of the catalogue that can be read while the product is down: one page and the scripts.

Each copy is a folder named after the time of the copy. New copies are written under a temporary name and renamed when
they are complete. `newest` always links to a complete copy.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TextIO

from django.db import connection, transaction
from django.db.models import Prefetch, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from catalog.models import Entry, Phrasing, Version

PAGE = "index.html"
SCRIPTS = "scripts"
NEWEST = "newest"
KEPT = 7
NIGHTLY_AT = 2  # hour, in UTC
_NAME = "%Y-%m-%dT%H%M%SZ"
_UNFINISHED = ".unfinished-"
_CHUNK = 500
_STYLE = """
body { max-width: 60rem; margin: 0 auto; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; }
:root { color-scheme: light dark; }
article { border-top: 1px solid; margin-top: 2rem; padding-top: .5rem; }
h1, h2, li, dd, pre { unicode-bidi: isolate; }
pre { padding: .75rem; border: 1px solid; overflow-x: auto; font: 14px/1.45 ui-monospace, monospace; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { opacity: .8; }
dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.warning { border-left: .3rem solid #c00; padding-left: .75rem; }
@media print { nav { display: none; } article { break-inside: avoid-page; } }
"""


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A complete copy and its number of entries."""

    folder: Path
    made_at: datetime
    entries: int


def write_copy(folder: Path, *, kept: int = KEPT) -> Copy:
    """Add a copy of all verified entries to the folder, and delete all copies except the newest `kept`.

    The copy is a consistent snapshot. If writing fails, the existing copies are kept. Raises OSError.
    """
    now = timezone.now().astimezone(UTC).replace(microsecond=0)
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder))
    try:
        entries = _write_into(unfinished, now)
        (unfinished / "about.json").write_text(
            json.dumps({"made_at": now.isoformat(), "entries": entries}) + "\n"
        )
        unfinished.chmod(0o755)
        whole = folder / now.strftime(_NAME)
        if whole.exists():  # two copies in one second
            shutil.rmtree(whole)
        unfinished.rename(whole)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    _point_to(whole)
    _remove_old(folder, kept=kept)
    return Copy(folder=whole, made_at=now, entries=entries)


def copies(folder: Path) -> list[Copy]:
    """Return the complete copies in the folder, newest first."""
    found = []
    for path in folder.glob("*T*Z") if folder.is_dir() else ():
        try:
            about = json.loads((path / "about.json").read_text())
            made_at = datetime.fromisoformat(about["made_at"])
            found.append(Copy(folder=path, made_at=made_at, entries=about["entries"]))
        except (OSError, ValueError, KeyError):
            continue  # not a complete copy
    return sorted(found, key=lambda copy: copy.made_at, reverse=True)


def is_due(folder: Path) -> bool:
    """Return whether last night's copy is missing."""
    now = timezone.now().astimezone(UTC)
    night = now.replace(hour=NIGHTLY_AT, minute=0, second=0, microsecond=0)
    if night > now:
        night -= timedelta(days=1)
    known = copies(folder)
    return not known or known[0].made_at < night


def _write_into(folder: Path, now: datetime) -> int:
    """Write the page and the scripts, and return the number of entries."""
    scripts = folder / SCRIPTS
    scripts.mkdir()
    count = 0
    with (folder / PAGE).open("w", encoding="utf-8") as page, _one_moment():
        _write_head(page, now)
        for version in _verified().iterator(chunk_size=_CHUNK):
            script = scripts / f"{version.entry.slug}.sh"
            script.write_bytes(version.script.encode())
            script.chmod(0o444)
            page.write(
                render_to_string("catalog/exchange/_offline_entry.html", {"version": version})
            )
            count += 1
        page.write("</main></body></html>\n")
    (folder / PAGE).chmod(0o444)
    return count


@contextmanager
def _one_moment() -> Iterator[None]:
    """Open a read-only transaction with a consistent snapshot."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def _verified() -> QuerySet[Version]:
    """Return the verified versions of entries that are not suspended, sorted by title."""
    return (
        Version.objects.filter(state=Version.State.VERIFIED, entry__suspended_at=None)
        .order_by("entry__title", "pk")
        .select_related("entry", "owner", "verified_by", "recheck")
        .defer("entry__document")
        .prefetch_related(
            "tags", Prefetch("entry__phrasings", Phrasing.objects.defer("document").order_by("pk"))
        )
    )


def _write_head(page: TextIO, now: datetime) -> None:
    suspended = Entry.objects.filter(versions__state=Version.State.VERIFIED)
    suspended = suspended.exclude(suspended_at=None).order_by("title").defer("document")
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    titles = _verified().values_list("entry__slug", "entry__title")
    page.write(
        render_to_string(
            "catalog/exchange/offline.html",
            {
                "now": now,
                "style": _STYLE,
                "digest": digest,
                "titles": titles.iterator(chunk_size=_CHUNK),
                "suspended": suspended,
            },
        )
    )


def _point_to(whole: Path) -> None:
    """Atomically point the `newest` link to this copy."""
    link = whole.parent / f"{_UNFINISHED}{whole.name}"
    link.unlink(missing_ok=True)
    link.symlink_to(whole.name)
    os.replace(link, whole.parent / NEWEST)


def _remove_old(folder: Path, *, kept: int) -> None:
    for copy in copies(folder)[max(kept, 1) :]:
        shutil.rmtree(copy.folder, ignore_errors=True)
    for path in folder.glob(f"{_UNFINISHED}*"):
        if path.is_dir():  # left by a process that was killed
            shutil.rmtree(path, ignore_errors=True)
