"""Add finished runs to the review queue when they end, and sweep for missed runs."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import NotAllowedNow
from pipeline.models import DraftUse, Run
from review.models import Campaign, Item

# Runs requested in the web interface or API. Runs from campaigns and the command line are excluded.
_ORIGINS = [Run.Origin.ASKED, Run.Origin.DEMO]
BREAK_GLASS = 100
_SWEEP_LIMIT = 500

_BELONGS = """
run.state = 'done' AND run.origin = ANY(%(origins)s) AND run.recommended_id IS NOT NULL
    AND run.answered_by_id IS NULL
"""
# Plain SQL for speed, because the worker executes it after every run. The priority matches `priority_of`.
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
    """Return the campaign of the review queue, which never closes."""
    return Campaign.objects.get(kind=Campaign.Kind.LIVE)


def take_in(run_id: int) -> Item | None:
    """Add a finished run to the review queue. Return None if the run is ineligible or already queued.

    Runs answered from the catalogue are ineligible because their scripts are verified. Users can add them manually.
    """
    return next(_send("run.id = %(run)s AND " + _BELONGS, run=run_id), None)


def take_in_missed() -> int:
    """Add missed finished runs to the review queue, up to a limit. Return the number of added runs."""
    return sum(1 for _ in _send(_BELONGS))


def item_of_run(run_id: int) -> Item | None:
    """Return the run's item in the review queue, or None if the run has no script. Create the item if needed.

    Raises NotAllowedNow if the run is in an open study, because the study's reviewers could see the decision.
    """
    item = Item.objects.filter(run=run_id, campaign__kind=Campaign.Kind.LIVE).first()
    if item is not None:
        return item
    studied = Item.objects.filter(run=run_id, campaign__kind=Campaign.Kind.STUDY)
    if studied.exclude(campaign__state=Campaign.State.CLOSED).exists():
        raise NotAllowedNow(_("This run belongs to a study. Close the study first."))
    run = Run.objects.filter(pk=run_id, state=Run.State.DONE, recommended__isnull=False).first()
    if run is None:
        return None
    # The sweep may have created the item first.
    return send_to_queue(run) or Item.objects.get(run=run_id, campaign__kind=Campaign.Kind.LIVE)


def send_to_queue(run: Run) -> Item | None:
    """Create a Case and an Item for a run. Return None if the run already has an Item."""
    return next(_send("run.id = %(run)s", run=run.pk), None)


def raise_priority(run_id: int) -> None:
    """Raise the priority of a run's item after its script was used without review."""
    run = Run.objects.select_related("action").get(pk=run_id)
    Item.objects.filter(run=run, campaign__kind=Campaign.Kind.LIVE).update(
        priority=priority_of(run)
    )


def priority_of(run: Run) -> int:
    """Return the priority of a run. Unreviewed scripts in use come first, then severe incidents."""
    used = DraftUse.objects.filter(draft__run=run).exists()
    return (4 - run.action.severity) + (BREAK_GLASS if used else 0)


def _send(which: str, *, run: int | None = None) -> Iterator[Item]:
    given = {"run": run, "origins": _ORIGINS, "now": timezone.now(), "most": _SWEEP_LIMIT}
    return iter(Item.objects.raw(_SEND.format(which=which), given))
