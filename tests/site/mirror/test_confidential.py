"""Tests that the mirror's commits do not depend on what an open study hides."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from catalog.curation.services.merging import merge_entries
from catalog.entries import services as entries
from catalog.models import Version
from review.campaigns.services import states
from review.models import Item
from scriptsmith_site.models import Mirror
from tests.catalog.shelf import shelve
from tests.first_cases import first_cases
from tests.people import make_person
from tests.review.blinding import rewriting
from tests.review.blinding.conftest import asker, live, studied
from tests.review.maker import publish_of_study
from tests.site.mirror.conftest import Repository, work

__all__ = ["asker", "live", "studied"]

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def publish(item: Item, text: str, *, by: User, entry: Version | None = None) -> Version:
    """Publish a study's script as a new entry or as a version of an existing entry."""
    script = f"echo '{text}, of run {item.run.pk}'\n"
    return publish_of_study(item, script, by=by, entry=entry.entry if entry else None)


def everything(repository: Repository) -> str:
    """Return the content of every commit, as Git prints it."""
    heads = repository.git("for-each-ref", "--format=%(refname)")
    if not heads:
        return ""
    return repository.git("log", "--all", "-p", "--format=%an %ae %s %b")


def in_a_world(repository: Repository, happen: Callable[[], None]) -> str:
    """Return the contents of the mirror after `happen` runs, then roll back the database and empty the repository."""
    with transaction.atomic():
        happen()
        work()
        work()
        transaction.set_rollback(True)
    said = everything(repository)
    for ref in repository.git("for-each-ref", "--format=%(refname)").split():
        repository.git("update-ref", "-d", ref)
    return said


@pytest.mark.parametrize(
    "change",
    first_cases(1, [rewriting.pass_it, rewriting.say_otherwise, rewriting.refine_otherwise]),
)
def test_worlds_that_differ_in_what_a_study_hides_have_the_same_mirror(
    studied: Item,
    set_up: Callable[[], Mirror],
    repository: Repository,
    change: Callable[[Item], None],
) -> None:
    curator = make_person("cora", "curator", "reviewer")
    known = shelve("Print the uptime", author=curator, verified_by=make_person("cleo", "curator"))

    def happen(differs: bool, is_published: bool) -> None:
        if differs:
            change(studied)
        item = Item.objects.get(pk=studied.pk)
        if is_published:
            publish(item, "before the mirror", by=curator, entry=known)
        set_up()
        work()
        if is_published:
            publish(item, "as an entry of its own", by=curator)
            publish(item, "after it", by=curator, entry=known)
        entries.rename(known.entry, title="Say how long it is up", by=curator)

    worlds = [
        in_a_world(repository, partial(happen, differs, is_published))
        for differs, is_published in ((False, False), (True, False), (False, True), (True, True))
    ]
    plain = [strip_keys(world) for world in worlds]
    assert "Say how long it is up" in plain[0], "the test sees something"
    assert "of run" not in plain[0]
    assert len(set(plain)) == 1


def strip_keys(world: str) -> str:
    """Remove the hashes of events and commits, which differ between any two runs."""
    return "\n".join(
        line for line in world.splitlines() if not line.startswith(("Event:", "index ", "commit "))
    )


def test_what_was_withheld_is_told_once_the_study_is_closed(
    studied: Item, set_up: Callable[[], Mirror], repository: Repository, manager: User
) -> None:
    curator = make_person("cora", "curator", "reviewer")
    known = shelve("Print the uptime", author=curator, verified_by=make_person("cleo", "curator"))
    before = publish(studied, "hidden", by=curator, entry=known)
    set_up()
    work()
    folder = "verified/print-the-uptime"
    assert repository.read(f"{folder}/script.sh") == known.script, "what it replaced stands for it"
    second = entries.edit_version(
        before, script="uptime -p\n", details=entries.details_of(before), by=curator
    )
    entries.verify(second, by=User.objects.get(username="cleo"))
    assert work() == 0, "nor is what was made from it"
    entries.suspend(known.entry, by=curator, reason="INC-7")
    assert work() == 1
    states.move_campaign(studied.campaign, "closed", by=manager)
    assert work() == 1, "the newest at once, for what was before it is of the past"
    assert repository.log == [
        "Add the current catalogue",
        "Suspend print-the-uptime v1: Print the uptime",
        "Verify print-the-uptime v3: Print the uptime",
    ]
    assert repository.read("suspended/print-the-uptime/script.sh") == "uptime -p\n"
    assert work() == 0
    repository.check()


@pytest.mark.parametrize(
    ("area", "is_set_up_first"),
    first_cases(
        2, [("suspended", True), ("deprecated", False), ("deprecated", True), ("suspended", False)]
    ),
)
def test_what_was_taken_out_of_use_meanwhile_is_not_told_as_verified(
    studied: Item,
    set_up: Callable[[], Mirror],
    repository: Repository,
    manager: User,
    area: str,
    is_set_up_first: bool,
) -> None:
    curator = make_person("cora", "curator", "reviewer")
    other = shelve("Print the uptime", author=curator, verified_by=make_person("cleo", "curator"))
    if is_set_up_first:
        set_up()
        work()
    entry = publish(studied, "hidden", by=curator).entry
    if area == "suspended":
        entries.suspend(entry, by=curator, reason="INC-7")
    else:
        merge_entries(entry, target=other.entry, by=curator)
    if not is_set_up_first:
        set_up()
    work()
    states.move_campaign(studied.campaign, "closed", by=manager)
    work()
    other_folder = f"verified/{other.entry.slug}/"
    areas = {path.partition("/")[0] for path in repository.files if other_folder not in path}
    # An entry that is already merged is never published.
    was_told = is_set_up_first or area == "suspended"
    assert areas - {".gitattributes", "README.md"} == ({area} if was_told else set())
