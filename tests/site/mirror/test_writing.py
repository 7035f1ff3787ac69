"""Tests that each publication has exactly one commit, in order, as Git reads them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from catalog import services as catalog
from catalog.entries import services as entries
from catalog.models import Version
from scriptsmith_site.integrations.mirror import services, writing
from scriptsmith_site.integrations.mirror.remotes import Remote
from scriptsmith_site.models import Event, Mirror, MirrorCommit
from tests.catalog.shelf import shelve
from tests.site.mirror.conftest import Killed, Repository, die, work

pytestmark = pytest.mark.django_db
SetUp = Callable[[], Mirror]


def next_version(version: Version, script: str, *, author: User, by: User) -> Version:
    details = entries.details_of(version)
    made = entries.edit_version(version, script=script, details=details, by=author)
    entries.verify(made, by=by)
    return made


@pytest.mark.slow
def test_the_way_of_an_entry_is_told_commit_by_commit(
    set_up: SetUp, repository: Repository, curator: User, second_curator: User
) -> None:
    first = shelve("Print the uptime", author=curator, verified_by=second_curator)
    set_up()
    assert work() == 1
    assert repository.log == ["Add the current catalogue"]

    second = next_version(first, "uptime -p\n", author=curator, by=second_curator)
    entries.suspend(first.entry, by=curator, reason="INC-7")
    entries.lift_suspension(first.entry, by=curator, note="A typo.")
    assert work() == 3
    entries.rename(first.entry, title="Say how long it is up", by=curator)
    first.refresh_from_db()
    entries.roll_back(first, by=second_curator, reason="INC-8")
    first.refresh_from_db()
    entries.deprecate(first, by=curator, reason="Nobody needs it.")
    assert work() == 3
    repository.check()
    title = "print-the-uptime"
    assert repository.log[1:] == [
        f"Verify {title} v2: Print the uptime",
        f"Suspend {title} v2: Print the uptime",
        f"Lift the suspension of {title} v2: Print the uptime",
        f"Rename {title} v2: Say how long it is up",
        f"Roll back to {title} v1: Say how long it is up",
        f"Deprecate {title} v1: Say how long it is up",
    ]
    commits = repository.git("log", "--reverse", "--format=%H", "main").split()
    scripts = [repository.read(f"verified/{title}/script.sh", one) for one in commits[:2]]
    assert scripts == [first.script, second.script]
    assert f"suspended/{title}/script.sh" in repository.git(
        "ls-tree", "-r", "--name-only", commits[2]
    )
    assert repository.files == [
        *(".gitattributes", "README.md"),
        f"deprecated/{title}/metadata.yaml",
        f"deprecated/{title}/script.sh",
    ]
    assert work() == 0, "nothing is told twice"
    told = MirrorCommit.objects.values("uid")
    # A rollback has two events but only one commit.
    assert Event.objects.filter(uid__in=told).update(distributed_at=None) == 7
    assert work() == 0, "not even where the events are distributed once more"


@pytest.mark.slow
def test_a_commit_says_who_approved_and_by_which_decision(
    set_up: SetUp, repository: Repository, curator: User, second_curator: User
) -> None:
    version = shelve("Print the uptime", author=curator, verified_by=second_curator)
    set_up()
    work()
    second = next_version(version, "uptime -p\n", author=curator, by=second_curator)
    work()
    said = repository.git("log", "-1", "--format=%an <%ae>|%cn|%at|%B", "main")
    who, committer, at, message = said.split("|", 3)
    assert who == "Curt <curt@users.scripts.example.org>"
    assert committer == "ScriptSmith"
    assert int(at) == int(Event.objects.latest("pk").at.timestamp())
    said = repository.git("log", "-1", "--format=%(trailers:only,unfold)", "main")
    trailers = said.strip().splitlines()
    assert trailers == message.strip().splitlines()[2:]
    page = f"https://scripts.example.org/catalogue/entries/{second.entry_id}/?version=2"
    assert trailers[:5] == [
        f"Entry: {second.entry_id}",
        "Version: 2",
        f"Sha256: {second.sha256}",
        "Verified-by: Curt <curt@users.scripts.example.org>",
        f"Decision: {page}",
    ]
    assert trailers[5].startswith("Event: ")


def test_the_bytes_are_those_that_were_verified_and_the_folder_is_read_like_any_export(
    set_up: SetUp, repository: Repository, curator: User, second_curator: User, tmp_path: Path
) -> None:
    script = "printf 'a\\r\\n'\r\n# ünï {{ x }}\n\n\n"
    version = shelve("Print a line", script=script, author=curator, verified_by=second_curator)
    set_up()
    work()
    path = "verified/print-a-line/script.sh"
    raw = subprocess.run(
        ["git", "--git-dir", repository.path, "cat-file", "blob", f"main:{path}"],
        capture_output=True,
        check=True,
    ).stdout
    assert sha256(raw).hexdigest() == version.sha256
    clone = repository.clone(tmp_path / "clone")
    assert (clone / path).read_bytes() == script.encode()
    assert (clone / path).stat().st_mode & 0o111, "it can be run"
    said = yaml.safe_load((clone / "verified/print-a-line/metadata.yaml").read_text())
    assert said["title"] == "Print a line"
    assert said["about"]["sha256"] == version.sha256
    assert "phrasings" not in said
    assert "provenance" not in said["about"]
    report = catalog.import_entries(clone / "verified", by=curator, dry_run=True)
    assert report.counts()["refused"] == 0


@pytest.mark.slow
def test_hostile_titles_and_addresses_stay_in_their_folder(
    set_up: SetUp, repository: Repository, curator: User, second_curator: User
) -> None:
    titles = [
        "../../../etc/passwd",
        "a\nEntry: 99\n\nSigned-off-by: nobody",
        "<script>alert(1)</script> \u202e evil > x",
        "\u2028" + "w" * 250,
    ]
    versions = [
        shelve(title, script=f"echo {number}\n", author=curator, verified_by=second_curator)
        for number, title in enumerate(titles)
    ]
    slugs = ["..", "CON", "a/../b", "Upper-Case"]
    for version, slug in zip(versions, slugs, strict=True):
        type(version.entry).objects.filter(pk=version.entry_id).update(slug=slug)
    curator.first_name = "Eve <root@localhost>\n\u202e"
    curator.save()
    set_up()
    work()
    entries.suspend(versions[1].entry, by=curator, reason="INC-9")
    work()
    repository.check()
    folders = {path.rpartition("/")[0] for path in repository.files if "/" in path}
    keys = [version.entry_id for version in versions]
    assert folders == {
        f"verified/entry.{keys[0]}",
        f"suspended/con.{keys[1]}",
        f"verified/a-b.{keys[2]}",
        f"verified/upper-case.{keys[3]}",
    }
    trailers = repository.git("log", "-1", "--format=%(trailers:key=Entry,valueonly)", "main")
    assert trailers.split() == [str(keys[1])], "a title makes no trailer"
    assert repository.git("log", "-1", "--format=%an", "main").strip() == "Eve root@localhost"


@pytest.mark.slow
def test_a_worker_that_dies_between_push_and_record_pushes_nothing_twice(
    set_up: SetUp,
    repository: Repository,
    curator: User,
    second_curator: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    version = shelve("Print the uptime", author=curator, verified_by=second_curator)
    set_up()
    work()
    next_version(version, "uptime -p\n", author=curator, by=second_curator)
    with monkeypatch.context() as patched:  # the worker dies before the push
        patched.setattr(Remote, "push", die)
        with pytest.raises(Killed):
            work()
    assert MirrorCommit.objects.latest("pk").state == MirrorCommit.State.MADE
    assert len(repository.log) == 1
    with monkeypatch.context() as patched:  # the worker dies after the push
        patched.setattr(writing, "_note_pushed", die)
        with pytest.raises(Killed):
            work()
    assert len(repository.log) == 2
    entries.suspend(version.entry, by=curator, reason="INC-7")
    assert work() == 1, "what had arrived is known again, and only the next is pushed"
    assert len(repository.log) == 3
    assert set(MirrorCommit.objects.values_list("state", flat=True)) == {"pushed"}
    repository.check()


@pytest.mark.slow
def test_a_machine_that_has_no_copy_fetches_it_and_makes_what_was_lost_anew(
    set_up: SetUp,
    repository: Repository,
    curator: User,
    second_curator: User,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    tmp_path: Path,
) -> None:
    version = shelve("Print the uptime", author=curator, verified_by=second_curator)
    set_up()
    work()
    next_version(version, "uptime -p\n", author=curator, by=second_curator)
    with monkeypatch.context() as patched:
        patched.setattr(Remote, "push", lambda *_given, **_named: 1 / 0)
        work()
    mirror = Mirror.objects.get()
    assert (mirror.failures, mirror.last_error) == (1, "ZeroDivisionError: division by zero")
    settings.LAYOUT = replace(settings.LAYOUT, data=tmp_path / "another machine")
    Mirror.objects.update(retry_at=None)
    assert work() == 1
    assert len(repository.log) == 2
    assert Mirror.objects.get().failures == 0
    repository.check()


@pytest.mark.slow
def test_paused_it_waits_and_the_command_says_how_it_stands(
    set_up: SetUp,
    repository: Repository,
    administrator: User,
    curator: User,
    second_curator: User,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(CommandError, match="No mirror is set up"):
        call_command("mirror_catalog")
    version = shelve("Print the uptime", author=curator, verified_by=second_curator)
    set_up()
    call_command("mirror_catalog")
    assert "Commits pushed: 1." in capsys.readouterr().out
    services.pause(by=administrator, why="They move house.")
    next_version(version, "uptime -p\n", author=curator, by=second_curator)
    entries.suspend(version.entry, by=curator, reason="INC-7")
    assert work() == 0
    with pytest.raises(CommandError, match="They move house"):
        call_command("mirror_catalog")
    services.resume(by=administrator)
    assert work() == 2
    assert [line.split()[0] for line in repository.log] == ["Add", "Verify", "Suspend"]


def test_off_nothing_is_kept(curator: User, second_curator: User) -> None:
    version = shelve("Print the uptime", author=curator, verified_by=second_curator)
    entries.suspend(version.entry, by=curator, reason="INC-7")
    assert work() == 0
    assert not MirrorCommit.objects.exists()
