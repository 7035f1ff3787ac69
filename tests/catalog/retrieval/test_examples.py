"""Tests for each rule that decides which entries may be examples for a statement in a study."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import transaction
from django.utils import timezone

from catalog.models import Entry, NearDuplicate, Phrasing, Version
from catalog.retrieval import services
from catalog.retrieval.examples import Words, plain_script
from catalog.types import Neighbour
from tests.catalog.shelf import shelve

pytestmark = pytest.mark.django_db

STATEMENT = "Delete log files older than 30 days in /var/log/app"
REFERENCE = "find /var/log/app -name '*.log' -type f -mtime +30 -delete\n"
# A neighbor that shares a few words with the statement but does something different.
TITLE, SCRIPT = "Report which log volumes of /var are almost full", "df -h /var | awk '$5+0 > 90'\n"
UNRELATED = "uptime\n"


def shown() -> list[str]:
    return [
        one.script for one in services.retrieve_examples(STATEMENT, reference=REFERENCE).neighbours
    ]


def add_version(version: Version, script: str, state: str = "deprecated") -> None:
    Version.objects.create(
        entry=version.entry, number=9, state=state, script=script, sha256=Version.hash_of(script)
    )


def pair(version: Version, state: str) -> None:
    other = shelve("Remove what is old", script=REFERENCE, state="draft").entry
    first, second = sorted([version.entry, other], key=lambda one: one.pk)
    NearDuplicate.objects.create(first=first, second=second, likeness=0.7, state=state)


def suspended(script: str) -> None:
    entry = shelve(STATEMENT, script=script).entry
    Entry.objects.filter(pk=entry.pk).update(
        suspended_at=timezone.now(), suspended_why="It failed."
    )


def merge(version: Version) -> None:
    gone = shelve("Remove what is old", script=REFERENCE, state="deprecated").entry
    Entry.objects.filter(pk=gone.pk).update(merged_into=version.entry)


def test_neighbor_is_shown_unless_a_rule_excludes_it(subtests: pytest.Subtests) -> None:
    long = "".join(f"echo step {number} of the cleanup\n" for number in range(9))
    cases: dict[str, tuple[str, Callable[[Version], object], bool]] = {
        "none applies": (SCRIPT, lambda one: None, True),
        "script is the reference": (REFERENCE, lambda one: None, False),
        "reference with comments": (
            f"#!/bin/bash\n# old logs\nset -euo pipefail\n\n  {REFERENCE}", lambda one: None, False),
        "reference with CRLF and spaces": (
            REFERENCE.replace(" ", "  ").replace("\n", " \r\n"), lambda one: None, False),
        "near the reference": (REFERENCE.replace("+30", "+31"), lambda one: None, False),
        "former version is the reference": (SCRIPT, lambda one: add_version(one, REFERENCE), False),
        "draft version is near it": (
            SCRIPT, lambda one: add_version(one, f"{REFERENCE}# done\n", "draft"), False),
        "other former version": (SCRIPT, lambda one: add_version(one, UNRELATED), True),
        "merged entry had the reference": (SCRIPT, merge, False),
        "phrasing is the statement": (
            SCRIPT, lambda one: Phrasing.objects.create(entry=one.entry, text=STATEMENT), False),
        "phrasing in other letters": (
            SCRIPT,
            lambda one: Phrasing.objects.create(entry=one.entry, text=f"  {STATEMENT.upper()}. "),
            False),
        "listed near-duplicate of the answer": (SCRIPT, lambda one: pair(one, "open"), False),
        "dismissed near-duplicate": (SCRIPT, lambda one: pair(one, "dismissed"), True),
        "script near that of a suspended answer": (long, lambda one: suspended(f"{long}exit\n"), False),
        "script near that of an answer": (
            long, lambda one: shelve(STATEMENT, script=f"{long}echo all done\n"), False),
    }  # fmt: skip
    for name, (script, change, expected) in cases.items():
        with subtests.test(name), transaction.atomic():
            change(shelve(TITLE, script=script))
            assert (script in shown()) is expected
            transaction.set_rollback(True)


def test_entry_that_retrieval_shows_or_nearly_shows_is_excluded(subtests: pytest.Subtests) -> None:
    """Each statement differs from the entry in one way, and no statement has the same script."""
    for title in (
        "Delete log files older than 30 days in /var/log/app please",
        "Remove log files older than 30 days from /var/log/app",
        "Delete log files older than 7 days in /srv/log",
        "Compress log files older than 30 days in /var/log/app",
        "List log files older than 30 days in /var/log/app",
        "Delete log files larger than 30 MB in /var/log/app",
        "Move log files older than 30 days out of /var/log/app",
        "Count log files older than 30 days in /var/log/app",
        "Delete files older than 30 days",
        "Delete log files older than 30 days in /var/log/app of all containers",
    ):
        with subtests.test(title), transaction.atomic():
            shelve(title, script=UNRELATED)
            usual = services.retrieve(STATEMENT)
            assert [one.script for one in (*usual.matches, *usual.neighbours)] == [UNRELATED]
            assert shown() == []
            transaction.set_rollback(True)


def test_more_matches_than_retrieval_lists_are_all_excluded() -> None:
    for number in range(20):
        shelve(f"{STATEMENT} on host {number}", script=f"ssh h{number} uptime\n")
    far = shelve(TITLE, script=SCRIPT)
    assert shown() == [far.script]


def test_words_of_scripts_are_compared_without_what_says_nothing() -> None:
    near = {
        "identical": ("df -h\n", "df -h\n", True),
        "options of the shell": ("set -eu\ndf -h\n", "set -euo pipefail\ndf -h\n", True),
        "another path": ("df -h /srv /var /tmp\n", "df -h /srv /var /opt\n", True),
        "another command": ("df -h\n", "uptime\n", False),
        "both empty": ("# a\n", "# b\n", False),
        "one empty": ("", "df -h\n", False),
    }
    wrong = [
        name
        for name, (one, other, expected) in near.items()
        if Words.of(one).is_near(Words.of(other)) is not expected
    ]
    assert not wrong
    assert plain_script("#!/bin/sh\n\n  ls   -l ;\n# end\n") == "ls -l"


def test_stored_example_reveals_the_answer_by_the_same_rules() -> None:
    cases = {
        "far": (TITLE, SCRIPT, [], False),
        "reference": (TITLE, REFERENCE, [], True),
        "statement": (STATEMENT.lower(), SCRIPT, [], True),
        "retrieved": (TITLE, SCRIPT, [SCRIPT], True),
        "near what was retrieved": (TITLE, SCRIPT, [f"{SCRIPT}# v2\n"], True),
        "other retrieved": (TITLE, SCRIPT, [UNRELATED], False),
        "close": ("Remove log files older than 30 days from /var/log/app", UNRELATED, [], True),
    }
    wrong = [
        name
        for name, (phrasing, script, matched, expected) in cases.items()
        if services.reveals_answer(
            [Neighbour(0, phrasing, script, 0.3)],
            STATEMENT,
            reference=REFERENCE,
            matched=matched,
            model=services.current_scoring(),
        )
        is not expected
    ]
    assert not wrong
