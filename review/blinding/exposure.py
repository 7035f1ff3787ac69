"""Record which verdicts each user has been shown. Scores store this information.

`pipeline.access.visible_parts` decides which parts of a run a page may show. This module records each verdict that the
function permits, so pages need no code to record verdicts. A request's records are written after its response is
rendered and before it is sent, in one statement without locks. A GET request writes nothing else.
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

    runs: set[tuple[int, int]] = field(default_factory=set)  # (user, run)
    campaigns: set[tuple[int, int, str]] = field(default_factory=set)  # (user, campaign, what)


_shown: ContextVar[ShownVerdicts | None] = ContextVar("shown", default=None)


@contextmanager
def watching() -> Iterator[ShownVerdicts]:
    """Collect the verdicts shown inside the block.

    Nothing is recorded outside a block, because no user sees the result.
    """
    shown = ShownVerdicts()
    token = _shown.set(shown)
    try:
        yield shown
    finally:
        _shown.reset(token)


def note_run(user: User, run: Run) -> None:
    """Record that the user is shown this run's verdict, or data that reveals the verdict."""
    shown = _shown.get()
    if shown is not None and run.verdict:
        shown.runs.add((user.pk, run.pk))


def note_runs(user: User, runs: Iterable[int]) -> None:
    """Record that the user is shown data that reveals the verdicts of these runs, including verdicts not yet given."""
    shown = _shown.get()
    if shown is not None:
        shown.runs.update((user.pk, run) for run in runs)


def note_campaign(user: User, campaign: Campaign, what: Exposure.What) -> None:
    """Record that the user is shown a campaign's verdicts in aggregate, without the items."""
    shown = _shown.get()
    if shown is not None:
        shown.campaigns.add((user.pk, campaign.pk, what.value))


# Most exposures are already recorded. The query looks them up instead of inserting them, which needs no lock.
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
    """Store each exposure unless it is already recorded. `where` names the page or operation."""
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


# --- Exposure of a user ---------------------------------------------------------------------------------------


def first_exposure(user: int) -> Least:
    """Return a query expression for the time when the user was first shown an item's verdict, or null."""
    seen = Exposure.objects.filter(person=user)
    # This runs for every score, so each subquery reads a single index row. A combined query would not use the indexes.
    return Least(
        Subquery(seen.filter(run=OuterRef("run")).values("at")),
        Subquery(seen.filter(campaign=OuterRef("campaign")).values("at")),
    )


def scored_in_queue(user: int) -> Exists:
    """Return a query expression for whether the user saw an item's verdict by scoring its run in the review queue."""
    given: QuerySet[Score] = Score.objects.filter(
        reviewer=user,
        stage=Score.Stage.SCRIPT,
        item__run=OuterRef("run"),
        item__campaign__kind=Campaign.Kind.LIVE,
    )
    return Exists(given.exclude(item=OuterRef("pk")))


def load_exposure(user: User, item: Item) -> None:
    """Set `exposed_at` and `scored_in_queue` on the item if the query that read it did not."""
    if "exposed_at" in item.__dict__:
        return
    found = Item.objects.annotate(
        exposed_at=first_exposure(user.pk), scored_in_queue=scored_in_queue(user.pk)
    )
    seen = found.values("exposed_at", "scored_in_queue").get(pk=item.pk)
    item.exposed_at = seen["exposed_at"]  # type: ignore[attr-defined]
    item.scored_in_queue = seen["scored_in_queue"]  # type: ignore[attr-defined]


def has_seen(user: User, item: Item) -> bool:
    """Return whether the user was shown the verdict of the item's run outside the stages of this item."""
    load_exposure(user, item)
    return bool(item.exposed_at or item.scored_in_queue)  # type: ignore[attr-defined]
