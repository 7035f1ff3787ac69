"""Tests for the offline copy of the catalogue, which users need when the site is down."""

from __future__ import annotations

import os
import re
import resource
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from catalog.entries import services as entry_services
from catalog.exchange import offline_copy
from catalog.tasks import write_offline_copy
from tests.catalog.shelf import DIRECTORY, SCRIPT, shelve

# The copy is read in one transaction, so that all of its data is from the same moment.
pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "</pre></style><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\u202e"


def page_of(folder: Path) -> str:
    return (folder / "newest" / "index.html").read_text()


def at(hour: int, day: int = 22) -> datetime:
    return datetime(2026, 11, day, hour, 30, tzinfo=UTC)


def test_the_page_and_the_scripts_hold_what_is_verified(curator: User, tmp_path: Path) -> None:
    version = shelve(
        "List old files", script=SCRIPT, parameters=[DIRECTORY], phrasings=["Show stale files"],
        undo="nothing to undo", verified_by=curator, tags=["disk"],
    )  # fmt: skip
    shelve("Wait for review", script="true\n", state="in_review")
    bad = shelve("Wipe the cache", script="echo wiped\n")
    entry_services.suspend(bad.entry, by=curator, reason="It wiped too much")

    made = offline_copy.write_copy(tmp_path)

    assert (made.entries, offline_copy.copies(tmp_path)) == (1, [made])
    page = page_of(tmp_path)
    for said in ("List old files", "Show stale files", "DIRECTORY", "nothing to undo", "disk"):
        assert said in page
    assert "Wait for review" not in page
    assert "Wipe the cache: It wiped too much" in page
    assert "echo wiped" not in page
    scripts = list((tmp_path / "newest" / "scripts").iterdir())
    assert [path.name for path in scripts] == [f"{version.entry.slug}.sh"]
    assert scripts[0].read_bytes() == SCRIPT.encode()
    assert stat.S_IMODE(scripts[0].stat().st_mode) == 0o444


def test_hostile_text_stays_text_and_nothing_may_run(curator: User, tmp_path: Path) -> None:
    version = shelve(
        HOSTILE, script=f"echo '{HOSTILE}'\r\n", phrasings=[f"x {HOSTILE}"], undo=HOSTILE,
        links=[{"url": "https://example.org/", "label": HOSTILE}],
    )  # fmt: skip
    bad = shelve("Suspended", script="true\n")
    entry_services.suspend(bad.entry, by=curator, reason=HOSTILE)

    offline_copy.write_copy(tmp_path)

    page = page_of(tmp_path)
    assert "<script" not in page and "<img" not in page
    assert page.count("<style>") == page.count("</style>") == 1
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
    assert re.findall(r"(?:src|href)=\"(?!#|scripts/)", page) == []
    script = tmp_path / "newest" / "scripts" / f"{version.entry.slug}.sh"
    assert script.read_bytes() == version.script.encode()


def test_an_empty_catalogue_makes_a_page_that_says_so(tmp_path: Path) -> None:
    assert offline_copy.write_copy(tmp_path).entries == 0
    assert "No verified scripts yet" in page_of(tmp_path)


@pytest.fixture
def no_room() -> Iterator[Callable[[], None]]:
    """Return a function that limits the size of all files to 3,000 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_failed_copy_keeps_the_old_one(tmp_path: Path, no_room: Callable[[], None]) -> None:
    shelve("List old files", script=f"echo {'x' * 5_000}\n")
    before = offline_copy.write_copy(tmp_path)
    no_room()
    with pytest.raises(OSError, match="too large"):
        offline_copy.write_copy(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [before.folder.name, "newest"]
    assert os.readlink(tmp_path / "newest") == before.folder.name


def test_only_the_newest_copies_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / ".unfinished-left").mkdir()
    for day in (20, 21, 22):
        monkeypatch.setattr(timezone, "now", lambda day=day: at(3, day))
        offline_copy.write_copy(tmp_path, kept=2)

    kept = [copy.made_at.day for copy in offline_copy.copies(tmp_path)]
    assert kept == [22, 21]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "2026-11-21T033000Z",
        "2026-11-22T033000Z",
        "newest",
        "theirs",
    ]
    assert os.readlink(tmp_path / "newest") == "2026-11-22T033000Z"


def test_the_task_makes_one_copy_a_night_and_makes_up_for_one_that_was_missed(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SCRIPTSMITH_OFFLINE_FOLDER = tmp_path / "copies"

    def made_at(now: datetime) -> list[datetime]:
        monkeypatch.setattr(timezone, "now", lambda: now)
        write_offline_copy()
        return [copy.made_at for copy in offline_copy.copies(tmp_path / "copies")]

    assert made_at(at(1)) == [at(1)]
    assert made_at(at(3)) == [at(3), at(1)]
    assert made_at(at(23)) == [at(3), at(1)]
    assert made_at(at(15, day=24)) == [at(15, day=24), at(3), at(1)]


def test_command_reports_its_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shelve("List old files")
    call_command("export_offline", str(tmp_path))
    assert "1 entries written to" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError) as refused:
        call_command("export_offline", str(tmp_path / "file"))
    assert refused.value.returncode == 2
