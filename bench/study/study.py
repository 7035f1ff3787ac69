"""Measure how long a study's report and dashboard take with 100,000 items and more than 1,000,000 scores.

Two thousand random items are created through the models and then multiplied in the database.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import connection, transaction
from django.db.models import F, Model
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings

from bench.figures import Figure, figure, machine, percentiles, size, slowness
from bench.support.rows import STRIDE, multiply
from bench.support.statements import execute
from catalog.models import CaseSet, Execution
from catalog.services import hash_statement
from core.preloading import settle_memory
from pipeline.models import Action, Assessment, Draft, Feedback, Run
from review import tasks
from review.campaigns.services import rules
from review.counting import tallies
from review.evidence.outcomes import read_outcomes
from review.models import Assignment, Campaign, Case, Item, ReportPart, Score, TallyDue
from review.report import services
from tests.review.report.rows import Label, fill

# Each study has two arms, with 100,000 or 12,000 items in total. Both exceed `LARGE_STUDY`, so that a worker computes
# the slow parts.
CASES, COPIES = 1_000, size(full=50, quick=6)
REVIEWERS, ASKED = 20, 5
LOOKS = 40
SLOW_PAGE_MS = 500.0
_COPIED: tuple[type[Model], ...] = (
    *(Action, Case, Run, Draft, Assessment, Feedback),
    *(Item, Assignment, Score),
    *(CaseSet, Execution),
)
_COPY_OF = "encode(sha256(convert_to({0} || ' ' || copy, 'UTF8')), 'hex')"
_EARLIER = "{0} - copy * interval '7 minutes'"
# Give items random positions in the reviewers' orders, because each claim would have to sort equal positions.
_ANYWHERE = "floor(random() * 2147483647)::int"
_OWN = {
    # Spread the times, so that a reviewer's session has about a hundred items.
    **{name: _EARLIER.format(name) for name in ("at", "created_at", "ended_at")},
    "external_id": "external_id || '-' || copy",
    "shuffle": _ANYWHERE,
    # Copies are not tallied yet, even if the original is.
    "pattern": "''",
    "disputed": "false",
    "statement": "statement || ', copy ' || copy",
    # Copies have different scripts and different test suites.
    "sha256": _COPY_OF.format("sha256"),
    "script_sha256": _COPY_OF.format("script_sha256"),
    "statement_sha256": "encode(sha256(convert_to(statement || ', copy ' || copy, 'UTF8')), 'hex')",
}
_NOT_ASKED = (None, None, None)
_PLAIN_FILES = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}

Given = tuple[int | None, int | None, int | None]


def measure() -> list[Figure]:
    """Create the study, tally it once, then open its pages while new scores arrive."""
    manager = User.objects.create_user("bench-manager", password=None)
    manager.groups.set(Group.objects.filter(name="manager"))
    campaign = rules.create_campaign("Study of the bench", by=manager)
    _fill(campaign)
    items = campaign.items.count()
    scores = Score.objects.filter(item__campaign=campaign).count()
    began = time.perf_counter()
    tallies.count_due(campaign)
    rate = items / (time.perf_counter() - began)
    tidy()
    of = f"{items:,} items, {scores:,} scores"
    # Use plain storage, because static files are not measured and are not collected.
    with override_settings(STORAGES=settings.STORAGES | {"staticfiles": _PLAIN_FILES}):
        looks = _time_looks(campaign, manager)
        looks += _time_evidence(campaign, manager)
    return [
        figure("items counted a second", rate, note=of),
        figure("tally rows", campaign.tallies.count()),
        *looks,
        machine(),
    ]


def _time_looks(campaign: Campaign, manager: User) -> list[Figure]:
    client = Client(headers={"host": "localhost"})
    client.force_login(manager)
    settle_memory()  # as the web processes do
    where = f"/campaigns/{campaign.pk}/report/"
    behind = f"{where}items/?figure=broken&configuration=demo"
    threats = f"{where}threats/"
    parts = time_once(tasks.count_due)  # in the product, a worker does this when data arrives
    first = time_once(lambda: _look(client, threats))
    return [
        # The time without a cached report, as for the first view in fifteen seconds, a table or a snapshot.
        *_time("report without cache", lambda: services.make_report(campaign), campaign, most=None),
        *_time(
            "report page without cache",
            lambda: _look(client, f"{where}?now=1"),
            campaign,
            most=None,
        ),
        *_time("report page", lambda: _look(client, where), campaign),
        *_time(
            "report as JSON", lambda: _look(client, f"/api/v1/reports/{campaign.pk}/"), campaign
        ),
        *_time("dashboard", lambda: _look(client, f"/campaigns/{campaign.pk}/"), campaign),
        *_time("items behind a figure", lambda: _look(client, behind), campaign),
        *_time("threats page", lambda: _look(client, threats), campaign, most=SLOW_PAGE_MS),
        figure("threats page, first look in ms", first, most=SLOW_PAGE_MS * slowness()),
        # The page must not count the scores itself, which would take as long as in the worker.
        figure("first look at threats / their count by a worker", first / parts, most=0.5),
    ]


def _time_evidence(campaign: Campaign, manager: User) -> list[Figure]:
    """Measure the report after sandbox tests of all scripts."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO review_campaigncaseset (case_id, case_set_id, at)
            SELECT kept.id, written.id, now() FROM review_case kept
            JOIN pipeline_action asked ON asked.id = kept.action_id
            JOIN catalog_caseset written ON written.statement = asked.statement
            WHERE kept.campaign_id = %s
            """,
            [campaign.pk],
        )
        cursor.execute("ANALYZE")
    client = Client(headers={"host": "localhost"})
    client.force_login(manager)
    what = "report page, each script run in cases"
    anew = f"/campaigns/{campaign.pk}/report/?now=1"
    ReportPart.objects.filter(campaign=campaign).delete()
    parts = time_once(tasks.count_due)
    figures = _time(what, lambda: _look(client, anew), campaign, looks=5, most=SLOW_PAGE_MS)
    figures.append(figure("what was run in cases, counted by a worker in ms", parts))
    with CaptureQueriesContext(connection) as asked:
        outcomes = read_outcomes(campaign)
    return [
        *figures,
        figure("queries for what was run", len(asked), most=12, note=f"{len(outcomes):,} scripts"),
    ]


def _time(
    what: str,
    look: Callable[[], object],
    campaign: Campaign,
    *,
    looks: int = LOOKS,
    most: float | None = 200,
) -> list[Figure]:
    """Measure the milliseconds of each view. A score changes before each view."""
    look()
    taken = []
    for _ in range(looks):
        change_a_score(campaign)
        began = time.perf_counter()
        look()
        taken.append((time.perf_counter() - began) * 1_000)
    return percentiles(what, taken, most=most and most * slowness())


def time_once(act: Callable[[], object]) -> float:
    """Return the duration of the call in milliseconds."""
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1_000


def _look(client: Client, address: str) -> None:
    status = client.get(address).status_code
    if status != 200:
        raise RuntimeError(f"{address} answered {status}")


def change_a_score(campaign: Campaign) -> None:
    """Change a score, so that no cached result can be used."""
    item = campaign.items.order_by("pk")[random.randrange(1_000)]
    changed = item.scores.filter(stage="script").order_by("?").first()
    assert changed is not None
    Score.objects.filter(pk=changed.pk).update(value=(changed.value + 1) % 3)
    TallyDue.objects.create(item=item, campaign=campaign)


def _fill(campaign: Campaign) -> None:
    fill_first(campaign)
    grow(campaign, COPIES)


def fill_first(campaign: Campaign) -> None:
    """Create the original items through the models, with about 24,000 scores."""
    chance = random.Random(1)
    people = [
        User.objects.create_user(f"bench-{number}", password=None) for number in range(REVIEWERS)
    ]
    with transaction.atomic():
        for arm in ("demo", "imported"):
            labels = [_label(chance) for _ in range(CASES)]
            fill(campaign, labels, people, configuration=arm, overlap=ASKED)
        TallyDue.objects.filter(campaign=campaign).delete()
        execute(f"UPDATE review_item SET shuffle = {_ANYWHERE}")
        _assign()
        _run_scripts(campaign)


def last_keys() -> dict[type[Model], int]:
    """Return the highest key of each table to multiply. Later rows are not copied."""
    return {model: model._default_manager.latest("pk").pk for model in _COPIED}


def grow(
    campaign: Campaign,
    copies: int,
    *,
    before: int = 1,
    last: Mapping[type[Model], int] | None = None,
) -> None:
    """Multiply the original rows from `before` to `copies` copies. New items are due for tallying."""
    with transaction.atomic():
        multiply(_COPIED, copies, own=_OWN, before=before, last=last)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO review_tallydue (item_id, campaign_id) SELECT id, campaign_id FROM review_item"
            " WHERE campaign_id = %s AND id >= %s",
            [campaign.pk, 0 if before == 1 else before * STRIDE],
        )
    tidy()


def tidy() -> None:
    """Vacuum the database, because autovacuum is disabled on the benchmark's servers."""
    execute("VACUUM (ANALYZE)")


def _run_scripts(campaign: Campaign) -> None:
    """Create a test suite for each statement, and a result for each script."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pipeline_draft SET sha256 = encode(sha256(convert_to(sha256 || run_id, 'UTF8')), 'hex')"
        )
    case = {"title": "a world", "expect": [{"check": "exit_status", "equals": 0}] * 3}
    sets = {
        one.statement: one
        for one in CaseSet.objects.bulk_create(
            CaseSet(
                sha256=f"{number:064x}",
                statement=kept.action.statement,
                statement_sha256=hash_statement(kept.action.statement),
                content={"format": 1, "statement": kept.action.statement, "cases": [case]},
                author_kind="person",
                author_name="bench",
            )
            for number, kept in enumerate(campaign.cases.select_related("action"))
        )
    }
    drafts = Draft.objects.filter(run__items__campaign=campaign)
    Execution.objects.bulk_create(
        Execution(
            script_sha256=sha256,
            case_set=sets[statement],
            state="passed" if number % 3 else "failed",
            passed=3 if number % 3 else 2,
            failed=0 if number % 3 else 1,
            worlds=1,
        )
        for number, (sha256, statement) in enumerate(
            drafts.values_list("sha256", "run__action__statement")
        )
    )


def _assign() -> None:
    """Create the assignments of all scores over three weeks, and reopen a quarter of the items."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO review_assignment (item_id, reviewer_id, state, reason, position, fence, created_at,
                                           ended_at, why, pauses, active_seconds)
            SELECT item_id, reviewer_id, 'submitted', 'queue', 0, 1,
                   now() - item_id % 21 * interval '1 day' - interval '10 minutes',
                   now() - item_id % 21 * interval '1 day', '', 0, '{}'
            FROM review_score GROUP BY item_id, reviewer_id
            """
        )
        cursor.execute(
            """
            UPDATE review_score score
            SET assignment_id = assignment.id, active_seconds = 20 + score.id % 100, at = assignment.ended_at,
                imported = false
            FROM review_assignment assignment
            WHERE assignment.item_id = score.item_id AND assignment.reviewer_id = score.reviewer_id
            """
        )
    Item.objects.annotate(rest=F("pk") % 4).filter(rest=0).update(
        state=Item.State.OPEN, overlap=ASKED + 1, places=1
    )


def _label(chance: random.Random) -> Label:
    asked = set(chance.sample(range(REVIEWERS), ASKED))
    truth = chance.choices((0, 1, 2), (35, 20, 45))[0]
    verdict = chance.choices(("correct", "incorrect", "unknown", ""), (60, 32, 6, 2))[0]
    return Label(
        verdict,
        [
            _given(chance, truth, verdict) if one in asked else _NOT_ASKED
            for one in range(REVIEWERS)
        ],
        execution=chance.choice((None, 0.0, 1.0)),
    )


def _given(chance: random.Random, truth: int, verdict: str) -> Given:
    script = truth if chance.random() < 0.8 else chance.randrange(3)
    if script == 2 and verdict != "incorrect":
        return script, None, None
    return script, chance.randrange(3), chance.choices((0, 1, 2), (2, 2, 6))[0]
