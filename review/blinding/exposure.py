"""Records which verdicts each person has been shown, and stores that with their scores.

`pipeline.access.visible_parts` decides what a page may show of a run, and everything it permits is recorded here,
so that no page can forget to. The records of one request are written after its response is rendered and before it
is sent, by one statement without a lock, and only if something was shown. It is the only thing that a GET writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Least
from django.utils import timezone

from pipeline.models import Run
from review.models import Campaign, Exposure, Item, Score

MAX_WHERE = 100


@dataclass
class ShownVerdicts:
    """The verdicts that one request has shown so far."""

    runs: set[tuple[int, int]] = field(default_factory=set)  # person, run
    campaigns: set[tuple[int, int, str]] = field(default_factory=set)  # person, campaign, what


_shown: ContextVar[ShownVerdicts | None] = ContextVar("shown", default=None)


@contextmanager
def watching() -> Iterator[ShownVerdicts]:
    """Collect what is shown inside the block. Outside of such a block nothing is recorded, since nobody sees it."""
    shown = ShownVerdicts()
    token = _shown.set(shown)
    try:
        yield shown
    finally:
        _shown.reset(token)


def note_run(user: User, run: Run) -> None:
    """Record that this person is shown the verdict of this run, or something that reveals it."""
    shown = _shown.get()
    if shown is not None and run.verdict:
        shown.runs.add((user.pk, run.pk))


def note_runs(user: User, runs: Iterable[int]) -> None:
    """Record that this person is shown something that reveals these runs' verdicts, even if they have none yet."""
    shown = _shown.get()
    if shown is not None:
        shown.runs.update((user.pk, run) for run in runs)


def note_campaign(user: User, campaign: Campaign, what: Exposure.What) -> None:
    """Record that this person is shown verdicts of items of a campaign, without saying which."""
    shown = _shown.get()
    if shown is not None:
        shown.campaigns.add((user.pk, campaign.pk, what.value))


# Most have been noted before: those are looked up and not inserted, and nothing is locked for them.
_NOTE = """
INSERT INTO review_exposure (person_id, run_id, campaign_id, what, "where", at)
SELECT new.person, new.run, new.campaign, new.what, %(where)s, %(now)s
FROM unnest(%(persons)s::bigint[], %(runs)s::bigint[], %(campaigns)s::bigint[], %(what)s::text[])
    AS new(person, run, campaign, what)
WHERE NOT EXISTS (
    SELECT FROM review_exposure AS old
    WHERE old.person_id = new.person AND old.run_id = new.run
) AND NOT EXISTS (
    SELECT FROM review_exposure AS old
    WHERE old.person_id = new.person AND old.campaign_id = new.campaign
)
ON CONFLICT DO NOTHING
"""


def write(shown: ShownVerdicts, *, where: str) -> None:
    """Store what was shown, each verdict the first time only; `where` names the page or operation."""
    rows: list[tuple[int, int | None, int | None, str]] = [
        *((person, run, None, Exposure.What.RUN.value) for person, run in sorted(shown.runs)),
        *((person, None, campaign, what) for person, campaign, what in sorted(shown.campaigns)),
    ]
    if not rows:
        return
    persons, runs, campaigns, what = (list(column) for column in zip(*rows, strict=True))
    values = {"persons": persons, "runs": runs, "campaigns": campaigns, "what": what}
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, values | {"where": where[:MAX_WHERE], "now": timezone.now()})


# --- What follows from it -------------------------------------------------------------------------------------


def first_exposure(user: int) -> Least:
    """For a query of items: when this person was first shown the verdict; null where they were not."""
    seen = Exposure.objects.filter(person=user)
    # Each is one row of an index; both in one query are neither, and each score asks.
    return Least(
        Subquery(seen.filter(run=OuterRef("run")).values("at")),
        Subquery(seen.filter(campaign=OuterRef("campaign")).values("at")),
    )


def scored_in_queue(user: int) -> Exists:
    """For a query of items: whether this person's own desk showed it, for they scored the run in the live queue."""
    given: QuerySet[Score] = Score.objects.filter(
        reviewer=user,
        stage=Score.Stage.SCRIPT,
        item__run=OuterRef("run"),
        item__campaign__kind=Campaign.Kind.LIVE,
    )
    return Exists(given.exclude(item=OuterRef("pk")))


def load_exposure(user: User, item: Item) -> None:
    """Give the item `exposed_at` and `scored_in_queue`, where the query that read it did not."""
    if "exposed_at" in item.__dict__:
        return
    found = Item.objects.annotate(
        exposed_at=first_exposure(user.pk), scored_in_queue=scored_in_queue(user.pk)
    )
    seen = found.values("exposed_at", "scored_in_queue").get(pk=item.pk)
    item.exposed_at = seen["exposed_at"]  # type: ignore[attr-defined]
    item.scored_in_queue = seen["scored_in_queue"]  # type: ignore[attr-defined]


def has_seen(user: User, item: Item) -> bool:
    """Whether this person was shown the verdict of the item's run other than by the stages of this item."""
    load_exposure(user, item)
    return bool(item.exposed_at or item.scored_in_queue)  # type: ignore[attr-defined]
