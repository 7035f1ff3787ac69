"""Tests that agents and pipelines learn nothing about an open study, because responses do not depend on its hidden
data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from catalog import services as catalog
from catalog.entries import services as entries
from catalog.models import Version
from review.campaigns.services import states
from review.models import Item
from tests.catalog.programs.test_verify import by_text, standing
from tests.catalog.shelf import PLAIN, shelve
from tests.people import make_person
from tests.review.blinding import rewriting
from tests.review.blinding.conftest import asker, live, studied
from tests.site.agents.test_mcp import UPTIME, call, robot, token_of
from tests.site.mirror.test_confidential import publish

__all__ = ["asker", "live", "robot", "studied"]

pytestmark = pytest.mark.django_db
OF_ITS_OWN, AFTER = "as an entry of its own", "after it"


@pytest.fixture
def known() -> Version:
    """Return an entry that agents may read, because it is outside the study."""
    curator = make_person("cora", "curator", "reviewer")
    return shelve(UPTIME, author=curator, verified_by=make_person("cleo", "curator"))


def publish_all(item: Item, known: Version) -> list[Version]:
    """Publish the script of a study and the versions derived from it, in every possible way."""
    curator = User.objects.get(username="cora")
    own = publish(item, OF_ITS_OWN, by=curator)
    after = publish(item, AFTER, by=curator, entry=known)
    edited = entries.edit_version(
        after, script="uptime --pretty\n", details=entries.details_of(after), by=curator
    )
    entries.verify(edited, by=User.objects.get(username="cleo"))
    return [own, after, edited]


def in_a_world(happen: Callable[[], Any]) -> Any:
    """Return the responses after `happen` runs, and roll back the database."""
    with transaction.atomic():
        said = happen()
        transaction.set_rollback(True)
    return said


def answers(item: Item, known: Version, robot: User) -> list[object]:
    """Return all responses about a study's scripts and about the entry that agents and pipelines may read."""
    token, pipeline = token_of(robot), token_of(robot, "agent_read")
    run, statement = item.run.pk, item.run.action.statement
    scripts = [f"echo '{text}, of run {run}'\n" for text in (OF_ITS_OWN, AFTER)]
    scripts += ["uptime --pretty\n", PLAIN]
    headers = {"Authorization": f"Bearer {pipeline}"}
    told: list[object] = [call(token, "find_script", statement=statement)]
    entry = known.entry.slug
    for slug in (entry, "as-an-entry-of-its-own", own_slug(statement)):
        told.append(call(token, "get_script", entry=slug))
        for number in (1, 2, 3):
            said = {"entry": slug, "version": number, "outcome": "worked"}
            told.append(call(token, "report_outcome", **said)["isError"])
    told += [call(token, "explain_risk", script=one) for one in scripts]
    for script in scripts:
        for known_as in (standing(script, headers), by_text(script, headers)):
            told.append({**known_as, "answered_at": None})
    return told


def own_slug(statement: str) -> str:
    """Return the slug of a catalogue entry with this title."""
    words = "".join(one if one.isalnum() else " " for one in statement.lower()).split()
    return "-".join(words)[:80]


@pytest.mark.slow
def test_hidden_parts_do_not_change_answers(studied: Item, known: Version, robot: User) -> None:
    def happen(differs: bool, is_published: bool) -> list[object]:
        if differs:
            rewriting.pass_it(studied)
        item = Item.objects.get(pk=studied.pk)
        if is_published:
            publish_all(item, known)
        return answers(item, known, robot)

    worlds = [
        in_a_world(lambda differs=differs, published=published: happen(differs, published))
        for differs, published in ((False, False), (True, False), (False, True), (True, True))
    ]
    assert worlds[0][1]["structuredContent"]["script"] == PLAIN, "the test sees something"
    assert worlds[0] == worlds[1] == worlds[2] == worlds[3]


@pytest.mark.slow
def test_closed_study_is_found(studied: Item, known: Version, robot: User, manager: User) -> None:
    token = token_of(robot)
    headers = {"Authorization": f"Bearer {token_of(robot, 'agent_read')}"}
    own, _after, edited = publish_all(studied, known)
    catalog.embed_missing()
    statement = studied.run.action.statement

    def found(words: str) -> list[str]:
        matches = call(token, "find_script", statement=words)["structuredContent"]["matches"]
        return [one["entry"] for one in matches]

    assert own.entry.slug not in found(statement) and found(UPTIME) == []
    reader = {"Authorization": f"Bearer {token_of(robot, 'agent_read', 'read')}"}
    assert standing(own.script, reader)["standing"] == "verified", "it reads the catalogue itself"
    assert standing(own.script, headers)["standing"] == "unknown"
    assert standing(PLAIN, headers)["words"].startswith("verified by Cleo on ")
    states.move_campaign(studied.campaign, "closed", by=manager)
    assert found(statement)[0] == own.entry.slug and known.entry.slug in found(UPTIME)
    assert standing(own.script, headers)["standing"] == "verified"
    assert standing(PLAIN, headers)["superseded_by"]["version"] == edited.number
    taken = call(token, "get_script", entry=known.entry.slug)["structuredContent"]
    assert taken["version"] == edited.number


def test_withdrawn_script_is_not_verified(studied: Item, known: Version, robot: User) -> None:
    """Only a replacement is hidden. A version that was itself deprecated or suspended stays unavailable."""
    headers = {"Authorization": f"Bearer {token_of(robot, 'agent_read')}"}
    curator = User.objects.get(username="cora")
    after = publish(studied, AFTER, by=curator, entry=known)
    assert standing(PLAIN, headers)["verified"]
    entries.deprecate(after, by=curator, reason="It was wrong.")
    assert standing(PLAIN, headers)["standing"] == "deprecated"
    entries.suspend(known.entry, by=curator, reason="INC-7")
    assert standing(PLAIN, headers)["standing"] == "suspended"
