"""Takes finished runs into the live queue: promptly when told, and by a sweep for what was missed."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import NotAllowedNow
from pipeline.models import DraftUse, Run
from review.models import Campaign, Item

# What people asked for on the page or over the API; runs of campaigns and of the command line are not.
_ORIGINS = [Run.Origin.ASKED, Run.Origin.DEMO]
BREAK_GLASS = 100
_SWEEP_LIMIT = 500

_BELONGS = """
run.state = 'done' AND run.origin = ANY(%(origins)s) AND run.recommended_id IS NOT NULL
    AND run.answered_by_id IS NULL
"""
# Plain SQL: it is carried out by the worker at the end of every run. The priority is that of `priority_of`.
_SEND = f"""
WITH sent AS (
    SELECT run.id, run.action_id, run.configuration_id, queue.id AS queue_id,
        'run-' || run.id AS external_id,
        4 - action.severity + CASE WHEN EXISTS (
            SELECT FROM pipeline_draftuse AS use JOIN pipeline_draft AS draft ON draft.id = use.draft_id
            WHERE draft.run_id = run.id
        ) THEN {BREAK_GLASS} ELSE 0 END AS priority
    FROM pipeline_run AS run
    JOIN pipeline_action AS action ON action.id = run.action_id
    JOIN review_campaign AS queue ON queue.kind = 'live'
    WHERE {{which}} AND NOT EXISTS (
        SELECT FROM review_item AS item WHERE item.campaign_id = queue.id AND item.run_id = run.id
    )
    ORDER BY run.id LIMIT %(most)s
), made AS (
    INSERT INTO review_case (
        campaign_id, external_id, action_id, purpose, known, content_sha256, created_at
    )
    SELECT queue_id, external_id, action_id, 'real', '{{{{}}}}', '', %(now)s FROM sent ORDER BY id
    -- Changes nothing, but names the row that is there.
    ON CONFLICT (campaign_id, external_id) DO UPDATE SET external_id = excluded.external_id
    RETURNING id, external_id
)
INSERT INTO review_item (
    campaign_id, case_id, configuration_id, run_id, state, overlap, places, priority, shuffle, sham,
    pilot, done, disputed, pattern, execution_reason, created_at
)
SELECT sent.queue_id, made.id, sent.configuration_id, sent.id, 'open', 1, 1, sent.priority, 0, false,
    false, 0, false, '', '', %(now)s
FROM sent JOIN made ON made.external_id = sent.external_id
ORDER BY sent.id
ON CONFLICT DO NOTHING
RETURNING *
"""


def live_queue() -> Campaign:
    """The one Campaign without end."""
    return Campaign.objects.get(kind=Campaign.Kind.LIVE)


def take_in(run_id: int) -> Item | None:
    """Put one finished run into the live queue; None where it does not belong there or is there already.

    A run answered from the catalogue does not: its script is verified. It can be sent there by hand.
    """
    return next(_send("run.id = %(run)s AND " + _BELONGS, run=run_id), None)


def take_in_missed() -> int:
    """Put every finished run that belongs into the live queue and is not there; returns how many."""
    return sum(1 for _ in _send(_BELONGS))


def item_of_run(run_id: int) -> Item | None:
    """The live queue's item of a run, made where it is not there; None where the run has no script.

    Raises NotAllowedNow for a run of a study that is not closed: what is decided here would be known there.
    """
    item = Item.objects.filter(run=run_id, campaign__kind=Campaign.Kind.LIVE).first()
    if item is not None:
        return item
    studied = Item.objects.filter(run=run_id, campaign__kind=Campaign.Kind.STUDY)
    if studied.exclude(campaign__state=Campaign.State.CLOSED).exists():
        raise NotAllowedNow(_("This run belongs to a study, which has to be closed first."))
    run = Run.objects.filter(pk=run_id, state=Run.State.DONE, recommended__isnull=False).first()
    if run is None:
        return None
    # The sweep may have been faster.
    return send_to_queue(run) or Item.objects.get(run=run_id, campaign__kind=Campaign.Kind.LIVE)


def send_to_queue(run: Run) -> Item | None:
    """One Case and Item for a run; None where another process was faster."""
    return next(_send("run.id = %(run)s", run=run.pk), None)


def raise_priority(run_id: int) -> None:
    """Somebody used the script before it was reviewed: it comes first now."""
    run = Run.objects.select_related("action").get(pk=run_id)
    Item.objects.filter(run=run, campaign__kind=Campaign.Kind.LIVE).update(
        priority=priority_of(run)
    )


def priority_of(run: Run) -> int:
    """Graver incidents first; scripts that were used without review before all others."""
    used = DraftUse.objects.filter(draft__run=run).exists()
    return (4 - run.action.severity) + (BREAK_GLASS if used else 0)


def _send(which: str, *, run: int | None = None) -> Iterator[Item]:
    given = {"run": run, "origins": _ORIGINS, "now": timezone.now(), "most": _SWEEP_LIMIT}
    return iter(Item.objects.raw(_SEND.format(which=which), given))
