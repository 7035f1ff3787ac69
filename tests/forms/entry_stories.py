"""Form stories for an entry's page: its state changes, uses, outcomes and phrasings."""

from __future__ import annotations

from collections.abc import Callable

from catalog import services
from catalog.models import Entry, Use, Version
from tests.catalog.shelf import DIRECTORY, PLAIN, SCRIPT, shelve
from tests.forms.story import Story, World, now

MOVE = "catalog/entries/_action_form.html"
REVIEW = "catalog/entries/review.html"


def page_of(version: Version) -> str:
    return f"/catalogue/{version.entry.slug}/?version={version.number}"


def a_version(state: str, **details: object) -> Callable[[World], str]:
    """Return a story step that opens the page of a version in the given state."""

    def make(world: World) -> str:
        world.version = shelve(state=state, **details)
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
    """Open the page where a version is verified."""
    a_version("in_review")(world)
    return f"/catalogue/versions/{world.version.pk}/review/"


def a_former_version(world: World, *, author: str = "") -> str:
    """Open the page for rolling back from version 2, which is verified, to version 1."""
    other = world.person("second_curator")
    world.version = shelve(author=world.person(author) if author else None)
    script, details = "uptime -p\n", services.details_of(world.version)
    edited = services.edit_version(world.version, script=script, details=details, by=world.me)
    services.verify(edited, by=other)
    return f"/catalogue/versions/{world.version.pk}/roll-back/"


def ones_own_former_version(world: World) -> str:
    return a_former_version(world, author="curator")


ROLL_BACK = {
    ("catalog/entries/roll_back.html", "curator"): [
        *(
            Story(given, "version-roll-back", press, {"reason": "INC-7"}, name=press).then(
                is_now(state)
            )
            for given, press, state in (
                (a_former_version, "Roll back to version 1", "verified"),
                (ones_own_former_version, "Request rollback", "in_review"),
                (ones_own_former_version, "Roll back now (emergency)", "verified"),
            )
        )
    ]
}
MOVES = {
    (REVIEW, "curator"): [
        Story(a_review, "version-verify", "Verify", {"note": "Looked at it."}).then(
            is_now("verified")
        ),
        Story(a_review, "version-send-back", "Send back", {"reason": "It can't be undone."}).then(
            is_now("draft")
        ),
    ],
    (MOVE, "curator"): [
        Story(a_version("verified"), "version-verify-again", "Verify again").then(
            lambda w: w.version.events.filter(by=w.me).exists() and is_now("verified")(w)
        ),
        Story(a_version("draft"), "version-submit", "Submit for review", {"note": "Ready."}).then(
            is_now("in_review")
        ),
        Story(an_older_version, "version-revert", "Copy as a new version").then(
            lambda w: w.version.entry.versions.get(number=3).script == PLAIN
        ),
        Story(
            a_version("verified"), "entry-suspend", "Suspend the entry", {"reason": "INC-7"}
        ).then(lambda w: now(w.version.entry).suspended_at),
        Story(
            a_suspended_entry, "entry-lift", "Lift the suspension", {"note": "It was the disk."}
        ).then(lambda w: not now(w.version.entry).suspended_at),
        Story(
            a_version("verified"),
            "entry-rename",
            "Rename",
            {"title": "List what is older than a month"},
        ).then(lambda w: now(w.version.entry).title == "List what is older than a month"),
        Story(
            a_version("verified"),
            "version-labels",
            "Save",
            {"tags": "disk, nightly", "owner": "carla"},
        ).then(
            lambda w: (
                tags_of(w.version.entry) == {"disk", "nightly"} and now(w.version).owner == w.me
            )
        ),
    ],
    ("catalog/entries/_curator_panel.html", "curator"): [
        Story(
            a_version("verified"),
            "version-deprecate",
            "Deprecate anyway",
            {"reason": "Nobody needs it."},
        ).then(is_now("deprecated"))
    ],
}
OUTCOMES = {
    ("catalog/entries/_outcome_form.html", "reviewer"): [
        Story(a_use, "use-outcome", "Worked", name="worked").then(outcome_is("worked")),
        Story(a_use, "use-outcome", "No effect", name="no_effect").then(outcome_is("no_effect")),
        Story(a_use, "use-outcome", "Made it worse", {"incident": "INC-42"}, name="worse").then(
            outcome_is("worse")
        ),
    ]
}
ENTRIES = {
    **MOVES,
    **ROLL_BACK,
    **OUTCOMES,
    ("catalog/entries/_use_panel.html", "reviewer"): [
        Story(
            a_script_with_a_parameter, "version-use", "Copy", {"value-DIRECTORY": "/var/tmp/ärger"}
        ).then(lambda w: Use.objects.get().values == {"DIRECTORY": "/var/tmp/ärger"}),
        Story(
            a_script_with_a_parameter,
            "version-preview",
            "Preview",
            {"value-DIRECTORY": "/srv/seen"},
        ).then(lambda w: "/srv/seen" in w.text and not Use.objects.exists()),
    ],
    ("catalog/entries/entry.html", "curator"): [
        Story(two_wordings, "phrasing-remove").then(
            lambda w: not w.version.entry.phrasings.filter(text="Find old files").exists()
        ),
        Story(a_wording_of_somebody_else, "phrasing-confirm", "Confirm").then(
            lambda w: now(w.phrasing).confirmed_by == w.me
        ),
        Story(a_version("verified"), "entry-phrasing", fill={"text": "Find old files"}).then(
            lambda w: w.version.entry.phrasings.filter(text="Find old files").exists()
        ),
    ],
}
