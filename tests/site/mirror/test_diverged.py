"""Tests that a branch with unexpected commits stops the mirror with an error and is never overwritten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from catalog.entries import services as entries
from catalog.models import Version
from core.errors import NotAllowedNow
from scriptsmith_site.integrations.mirror import services, writing
from scriptsmith_site.integrations.mirror.remotes import Remote
from scriptsmith_site.models import Mirror, MirrorCommit, Notification
from tests.catalog.shelf import shelve
from tests.site.browsing import ClientFor
from tests.site.mirror.conftest import Killed, Repository, die, work

pytestmark = pytest.mark.django_db
SetUp = Callable[[], Mirror]


@pytest.fixture
def version(curator: User, second_curator: User) -> Version:
    return shelve("Print the uptime", author=curator, verified_by=second_curator)


@pytest.mark.slow
def test_what_somebody_else_pushed_stops_it_and_a_person_goes_on_from_there(
    set_up: SetUp,
    repository: Repository,
    version: Version,
    curator: User,
    administrator: User,
    client_for: ClientFor,
    tmp_path: Path,
) -> None:
    set_up()
    work()
    clone = repository.clone(tmp_path / "clone")
    files = {"verified/print-the-uptime/script.sh": "rm -rf /\n", "NOTES.md": "theirs\n"}
    theirs = repository.commit(clone, files, "A shortcut", push="main")
    entries.suspend(version.entry, by=curator, reason="INC-7")
    assert work() == 0
    mirror = Mirror.objects.get()
    assert mirror.found_head == theirs
    assert mirror.diverged_at is not None
    assert repository.log == ["Add the current catalogue", "A shortcut"]
    work()
    assert Notification.objects.filter(person=administrator, kind="mirror_stopped").count() == 1
    page = client_for(administrator).get("/integrations/mirror/").content.decode()
    assert theirs[:12] in page
    assert "Continue from this commit" in page

    services.check_again(by=administrator)
    assert work() == 0
    assert Mirror.objects.get().diverged_at is not None, "it is still so"
    with pytest.raises(NotAllowedNow):
        services.go_on(found="0" * 40, by=administrator)
    services.go_on(found=theirs, by=administrator)
    assert work() == 2
    repository.check()
    assert repository.log == [
        *("Add the current catalogue", "A shortcut", "Restore the catalogue's files"),
        "Suspend print-the-uptime v1: Print the uptime",
    ]
    put_back = repository.git("rev-parse", "main~1").strip()
    assert repository.read("verified/print-the-uptime/script.sh", put_back) == version.script
    assert repository.read("NOTES.md") == "theirs\n", "what is not the catalogue's stays"
    assert repository.read("suspended/print-the-uptime/script.sh") == version.script


def test_a_branch_with_a_history_of_its_own_is_left_alone_at_first(
    set_up: SetUp, repository: Repository, version: Version, administrator: User, tmp_path: Path
) -> None:
    clone = repository.clone(tmp_path / "clone")
    theirs = repository.commit(clone, {"README.md": "ours\n"}, "Begin", push="main")
    set_up()
    assert work() == 0
    assert (Mirror.objects.get().found_head, repository.log) == (theirs, ["Begin"])
    services.go_on(found=theirs, by=administrator)
    assert work() == 2
    assert repository.read("README.md") == "ours\n"
    assert repository.read("verified/print-the-uptime/script.sh") == version.script


@pytest.mark.slow
def test_a_branch_that_was_deleted_comes_back_with_its_history(
    set_up: SetUp, repository: Repository, version: Version, curator: User, administrator: User
) -> None:
    set_up()
    work()
    head = repository.git("rev-parse", "main").strip()
    repository.git("update-ref", "-d", "refs/heads/main")
    entries.suspend(version.entry, by=curator, reason="INC-7")
    assert work() == 0
    assert Mirror.objects.get().diverged_at is not None
    services.go_on(found="", by=administrator)
    assert work() == 2
    assert repository.git("rev-parse", "main~1").strip() == head


@pytest.mark.slow
def test_what_a_killed_worker_put_back_is_known_to_have_arrived(
    set_up: SetUp,
    repository: Repository,
    version: Version,
    administrator: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_up()
    work()
    repository.git("update-ref", "-d", "refs/heads/main")
    entries.suspend(version.entry, by=version.author, reason="INC-7")
    work()
    services.go_on(found="", by=administrator)
    MirrorCommit.objects.exclude(kind="accepted").filter(state="waiting").delete()
    with monkeypatch.context() as patched:
        patched.setattr(writing, "_note_pushed", die)
        with pytest.raises(Killed):
            work()
    work()
    assert set(MirrorCommit.objects.values_list("state", flat=True)) == {"pushed"}


def test_the_copy_of_a_mirror_that_was_removed_goes(
    set_up: SetUp, repository: Repository, version: Version, administrator: User, settings: Settings
) -> None:
    mirror = set_up()
    work()
    copy = settings.LAYOUT.data / "mirror" / f"{mirror.pk}.git"
    assert copy.is_dir()
    services.remove(by=administrator)
    work()
    assert not copy.exists()


def test_a_push_that_comes_between_reading_and_writing_is_not_overwritten(
    set_up: SetUp,
    repository: Repository,
    version: Version,
    curator: User,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    set_up()
    work()
    clone = repository.clone(tmp_path / "clone")
    entries.suspend(version.entry, by=curator, reason="INC-7")
    real = Remote.push

    def be_overtaken(remote: Remote, *given: object, **named: object) -> None:
        repository.commit(clone, {"NOTES.md": "theirs\n"}, "Faster", push="main")
        real(remote, *given, **named)

    monkeypatch.setattr(Remote, "push", be_overtaken)
    assert work() == 0
    assert repository.log == ["Add the current catalogue", "Faster"]
    assert Mirror.objects.get().diverged_at is not None
