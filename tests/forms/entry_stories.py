"""Form stories of an entry's page: every move, every outcome, its use and its wordings."""

from __future__ import annotations

from collections.abc import Callable

from catalog import services
from catalog.models import (
    Entry,
    Use,
    Version,
)
from tests.catalog.shelf import DIRECTORY, PLAIN, SCRIPT, shelve
from tests.forms.story import Story, World, now

MOVE = "catalog/entries/_action_form.html"
REVIEW = "catalog/entries/review.html"


def page_of(version: Version) -> str:
    return f"/catalogue/{version.entry.slug}/?version={version.number}"


def a_version(state: str, **details: object) -> Callable[[World], str]:
    """The page of a version in this state."""

    def make(world: World) -> str:
        world.version = shelve(state=state, **details)  # type: ignore[arg-type]
        return page_of(world.version)

    return make


def is_now(state: str) -> Callable[[World], bool]:
    return lambda world: now(world.version).state == state


def an_older_version(world: World) -> str:
    world.version = shelve(state="verified")
    services.edit_version(
        world.version, script="uptime -p\n", details=services.details_of(world.version), by=world.me
    )
    return page_of(world.version)


def a_suspended_entry(world: World) -> str:
    world.version = shelve()
    services.suspend(world.version.entry, by=world.me, reason="INC-7")
    return page_of(world.version)


def a_use(world: World) -> str:
    world.version = shelve()
    world.use = services.record_use(world.version, by=world.me, values={}).use
    return f"/catalogue/uses/{world.use.pk}/"


def outcome_is(outcome: str) -> Callable[[World], bool]:
    return lambda world: now(world.use).outcome == outcome


def a_script_with_a_parameter(world: World) -> str:
    world.version = shelve(script=SCRIPT, parameters=[DIRECTORY])
    return page_of(world.version)


def two_wordings(world: World) -> str:
    world.version = shelve(phrasings=["Find old files"])
    return page_of(world.version)


def a_wording_of_somebody_else(world: World) -> str:
    world.version = shelve()
    author = world.person("second_curator")
    world.phrasing = services.add_phrasing(world.version.entry, text="Find old files", by=author)
    return page_of(world.version)


def tags_of(entry: Entry) -> set[str]:
    version = entry.versions.latest("number")
    return {tag.name for tag in version.tags.all()}


def a_review(world: World) -> str:
    """The page on which a version is verified."""
    a_version("in_review")(world)
    return f"/catalogue/versions/{world.version.pk}/review/"


def a_former_version(world: World, *, author: str = "") -> str:
    """The page that leads back to version 1 from version 2, which is verified."""
    other = world.person("second_curator")
    world.version = shelve(author=world.person(author) if author else None)
    script, details = "uptime -p\n", services.details_of(world.version)
    edited = services.edit_version(world.version, script=script, details=details, by=world.me)
    services.verify(edited, by=other)
    return f"/catalogue/versions/{world.version.pk}/roll-back/"


def ones_own_former_version(world: World) -> str:
    return a_former_version(world, author="curator")


ROLL_BACK = tuple(
    Story(
        "catalog/entries/roll_back.html",
        "curator",
        given,
        "version-roll-back",
        fill={"reason": "INC-7: it empties the wrong folder."},
        press=press,
        then=is_now(state),
        name=press,
    )
    for given, press, state in (
        (a_former_version, "Roll back to version 1", "verified"),
        (ones_own_former_version, "Ask for the roll back", "in_review"),
        (ones_own_former_version, "Roll back now, as an emergency", "verified"),
    )
)
MOVES = (
    Story(
        REVIEW,
        "curator",
        a_review,
        "version-verify",
        fill={"note": "Looked at it."},
        press="Verify",
        then=is_now("verified"),
    ),
    Story(
        MOVE,
        "curator",
        a_version("verified"),
        "version-verify-again",
        press="Verify again",
        then=lambda w: w.version.events.filter(by=w.me).exists() and is_now("verified")(w),
    ),
    Story(
        MOVE,
        "curator",
        a_version("draft"),
        "version-submit",
        fill={"note": "Ready."},
        press="Submit for review",
        then=is_now("in_review"),
    ),
    Story(
        REVIEW,
        "curator",
        a_review,
        "version-send-back",
        fill={"reason": "It can't be undone."},
        press="Send back",
        then=is_now("draft"),
    ),
    Story(
        MOVE,
        "curator",
        an_older_version,
        "version-revert",
        press="Copy as a new version",
        then=lambda w: w.version.entry.versions.get(number=3).script == PLAIN,
    ),
    Story(
        "catalog/entries/_curator_panel.html",
        "curator",
        a_version("verified"),
        "version-deprecate",
        fill={"reason": "Nobody needs it."},
        press="Deprecate anyway",
        then=is_now("deprecated"),
    ),
    Story(
        MOVE,
        "curator",
        a_version("verified"),
        "entry-suspend",
        fill={"reason": "INC-7"},
        press="Suspend the entry",
        then=lambda w: now(w.version.entry).suspended_at,
    ),
    Story(
        MOVE,
        "curator",
        a_suspended_entry,
        "entry-lift",
        fill={"note": "It was the disk."},
        press="Lift the suspension",
        then=lambda w: not now(w.version.entry).suspended_at,
    ),
    Story(
        MOVE,
        "curator",
        a_version("verified"),
        "entry-rename",
        fill={"title": "List what is older than a month"},
        press="Rename",
        then=lambda w: now(w.version.entry).title == "List what is older than a month",
    ),
    Story(
        MOVE,
        "curator",
        a_version("verified"),
        "version-labels",
        fill={"tags": "disk, nightly", "owner": "carla"},
        press="Save",
        then=lambda w: (
            tags_of(w.version.entry) == {"disk", "nightly"} and now(w.version).owner == w.me
        ),
    ),
)
OUTCOMES = tuple(
    Story(
        "catalog/entries/_outcome_form.html",
        "reviewer",
        a_use,
        "use-outcome",
        fill={"incident": "INC-42"} if outcome == "worse" else {},
        press=words,
        then=outcome_is(outcome),
        name=outcome,
    )
    for outcome, words in (
        ("worked", "Worked"),
        ("no_effect", "No effect"),
        ("worse", "Made it worse"),
    )
)
ENTRIES = (
    *MOVES,
    *ROLL_BACK,
    *OUTCOMES,
    Story(
        "catalog/entries/_use_panel.html",
        "reviewer",
        a_script_with_a_parameter,
        "version-use",
        fill={"value-DIRECTORY": "/var/tmp/ärger"},
        press="Copy",
        then=lambda w: Use.objects.get().values == {"DIRECTORY": "/var/tmp/ärger"},
    ),
    Story(
        "catalog/entries/_use_panel.html",
        "reviewer",
        a_script_with_a_parameter,
        "version-preview",
        fill={"value-DIRECTORY": "/srv/seen"},
        press="Preview",
        then=lambda w: "/srv/seen" in w.text and not Use.objects.exists(),
    ),
    Story(
        "catalog/entries/entry.html",
        "curator",
        two_wordings,
        "phrasing-remove",
        then=lambda w: not w.version.entry.phrasings.filter(text="Find old files").exists(),
    ),
    Story(
        "catalog/entries/entry.html",
        "curator",
        a_wording_of_somebody_else,
        "phrasing-confirm",
        press="Confirm",
        then=lambda w: now(w.phrasing).confirmed_by == w.me,
    ),
    Story(
        "catalog/entries/entry.html",
        "curator",
        a_version("verified"),
        "entry-phrasing",
        fill={"text": "Find old files"},
        then=lambda w: w.version.entry.phrasings.filter(text="Find old files").exists(),
    ),
)
