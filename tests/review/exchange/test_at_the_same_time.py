"""Tests that if two transactions look up and create the same new name, the second waits and both succeed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Model

from catalog.curation.services.tags import create_tag
from catalog.curation.services.tool_rules import save_tool_rule
from catalog.entries.services.creation import ensure_tags, make_entry
from catalog.entries.services.wording_confirmation import Confirmation
from catalog.listing.services.saved_views import save_view
from catalog.models import Entry, SavedView, Tag, ToolRule
from core.errors import BadInput
from pipeline.models import Action, Configuration
from review.campaigns.services.editing import add_actions
from review.campaigns.services.rules import create_campaign
from review.exchange.importing.campaigns import Configurations, find_or_create_campaign, people_of
from review.models import Campaign, Case, Score
from scriptsmith_site.integrations.alerts.services.sources import add_source
from scriptsmith_site.integrations.chat_commands.services import add_command
from scriptsmith_site.models import AlertSource, ChatCommand
from scriptsmith_site.people.services import create_account
from tests.first_cases import first_cases
from tests.locks import wait_for_lock
from tests.people import make_person
from tests.review.exchange.files import run_command, write_lines

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
Deed = Callable[[User], object]


def rows(model: type[Model], **wanted: object) -> Callable[[], int]:
    return lambda: model._default_manager.filter(**wanted).count()


def ann_in_two_ways(by: User) -> object:
    is_first = by.username == "first"
    return people_of(["ann"], by=by) if is_first else create_account("ann", by=None)


def add_all_requests(by: User) -> object:
    return add_actions(Campaign.objects.get(name="There"), list(Action.objects.all()), by=by)


def save_own_view(_by: User) -> object:
    listing, by = SavedView.Listing.CATALOGUE, User.objects.get(username="first")
    return save_view("mine", listing=listing, query="q=a", by=by)


def make_named_entry(by: User, slug: str = "") -> Entry:
    return make_entry("One", by=by, confirmation=Confirmation(added_by=by), slug=slug)


# Code that looks up a name and then creates it, with a count of the rows that have this name, and the expected count.
PLACES: dict[str, tuple[Deed, Callable[[], int], int]] = {
    "reviewers of imports": (
        lambda by: people_of(["Ann", "Bob"], by=by),
        rows(User, username__in=["Ann", "Bob"]),
        2,
    ),
    "reviewers in another spelling": (
        lambda by: people_of(["Ann" if by.username == "first" else "ANN"], by=by),
        rows(User, username__iexact="ann"),
        1,
    ),
    "reviewer and account": (ann_in_two_ways, rows(User, username="ann"), 1),
    "accounts": (lambda by: create_account("ann", by=None), rows(User, username="ann"), 1),
    "configurations": (lambda by: Configurations(by=by).of("a"), rows(Configuration, name="a"), 1),
    "studies of imports": (
        lambda by: find_or_create_campaign("New", by=by),
        rows(Campaign, name="New"),
        1,
    ),
    "studies": (lambda by: create_campaign("New", by=by), rows(Campaign, name="New"), 1),
    "requests added to a study": (add_all_requests, rows(Case), 1),
    "slugs": (lambda by: make_named_entry(by, "one"), rows(Entry), 1),
    "slugs of a title": (make_named_entry, rows(Entry, slug__in=["one", "one-2"]), 2),
    "tags": (lambda by: create_tag("one", by=by), rows(Tag), 1),
    "tags of versions": (lambda by: ensure_tags(["b", "a"]), rows(Tag), 2),
    "tool rules": (
        lambda by: save_tool_rule(None, name="zfs", effect=ToolRule.Effect.values[0], by=by),
        rows(ToolRule, name="zfs"),
        1,
    ),
    "saved views": (save_own_view, rows(SavedView), 1),
    "alert sources": (
        lambda by: add_source("alertmanager", by=by, details={"name": "A"}),
        rows(AlertSource),
        1,
    ),
    "chat commands": (
        lambda by: add_command("slack", by=by, details={"name": "A"}, secret="s" * 32),
        rows(ChatCommand),
        1,
    ),
}


def both_at_once(deed: Deed) -> list[str]:
    """Run the action twice, the second time during the first transaction, and return unexpected errors."""
    people = [
        make_person(name, "manager", "curator", "administrator") for name in ("first", "second")
    ]
    is_done, may_end = threading.Event(), threading.Event()
    wrong: list[str] = []

    def work(by: User) -> None:
        try:
            with transaction.atomic():
                deed(by)
                is_done.set()
                may_end.wait(timeout=20)
        except BadInput:
            pass
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(person,)) for person in people]
    threads[0].start()
    assert is_done.wait(timeout=20)
    threads[1].start()
    wait_for_lock()
    may_end.set()
    for thread in threads:
        thread.join(timeout=20)
    return wrong


@pytest.mark.parametrize("place", PLACES)
def test_same_new_name_at_once_is_created_once(place: str) -> None:
    create_campaign("There", by=None)
    Action.objects.create(statement="List", statement_sha256="0" * 64)
    deed, count, wanted = PLACES[place]
    assert both_at_once(deed) == []
    assert count() == wanted


@pytest.mark.parametrize("pairs", first_cases(1, [5, 100]))
def test_simultaneous_imports_with_the_same_new_names_all_complete(
    tmp_path: Path, pairs: int
) -> None:
    """Run pairs of whole imports into separate studies that create the same reviewers and configurations."""
    codes: list[int] = []

    def work(name: str, number: int, barrier: threading.Barrier) -> None:
        ids, names = [f"i{one}" for one in range(3)], [f"r{number}-{one}" for one in range(3)]
        if name == "b":
            ids, names = ids[::-1], [one.upper() for one in names[::-1]]
        items = [{"id": one, "configuration": f"c{number}-{one}"} for one in ids]
        scores = [
            {
                "item": one["id"],
                "configuration": one["configuration"],
                "reviewer": each,
                "script": 2,
            }
            for one in items
            for each in names
        ]
        texts = {"statement": "List", "script": "ls"}
        file = tmp_path / f"{name}{number}.jsonl"
        try:
            for command, lines in (
                ("import_items", [one | texts for one in items]),
                ("import_scores", scores),
            ):
                barrier.wait(timeout=60)
                codes.append(run_command(command, f"{name}{number}", write_lines(file, *lines)))
        finally:
            connection.close()

    for number in range(pairs):
        barrier = threading.Barrier(2)
        threads = [threading.Thread(target=work, args=(name, number, barrier)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
    assert codes == [0] * pairs * 4
    assert Score.objects.count() == pairs * 2 * 9
    assert User.objects.filter(username__istartswith="r").count() == pairs * 3
    assert Configuration.objects.filter(name__regex=r"^c\d+-i\d$").count() == pairs * 3
