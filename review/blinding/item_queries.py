"""Prepared queries that every review needs. Each query is compiled once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case as Choice
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import JSONObject

from catalog.models import Execution
from core.database.prepared import PreparedQuery
from pipeline.models import Draft, DraftFinding, Run
from review.blinding.exposure import first_exposure, scored_in_queue
from review.models import Assignment, Item, Member, Remark, Rubric, Score, Scratch, SentBack
from review.study.first_draft import FIRST_KINDS

# Fields that no review page shows and no rule needs. Accessing one of them runs an extra query.
_LEFT_OUT = (
    *("created_at", "closed_at", "shuffle", "pattern", "disputed", "called_in"),
    *(
        f"campaign__{name}"
        for name in ("description", "created_at", "closed_at", "primary_figure", "planned_items")
    ),
    *(f"case__{name}" for name in ("created_at", "content_sha256")),
    *(
        f"run__{name}"
        for name in (
            *("spec", "created_at", "started_at", "finished_at", "lease_until", "not_before"),
            *("told_at", "owner", "fence", "crashes", "secrets", "match_confirmed_by"),
        )
    ),
    *(f"run__action__{name}" for name in ("created_at", "erased_at", "statement_sha256")),
    *(
        f"run__configuration__{name}"
        for name in (
            *("prompts", "archived_at", "created_at", "rounds", "uses_examples", "note"),
            *("cases", "confirms_matches"),
        )
    ),
)

# Fields that are shown but do not affect a score.
_NOT_SCORED = (
    *(
        f"run__{name}"
        for name in ("problem", "verdict", "uses_retrieval", "answered_by", "recommended")
    ),
    *(
        f"run__action__{name}"
        for name in (
            *("statement", "incident", "environment", "reference", "severity", "target", "impact"),
            *("source", "erased_by"),
        )
    ),
)
_NOT_SCORED_OF_DRAFTS = (
    *("script", "model", "prompt_version", "created_at", "note"),
    *(
        f"assessment__{name}"
        for name in (
            *("why", "functionality", "similarity_reason", "difference_reason", "differences"),
            *("model", "created_at", "prompt_versions"),
        )
    ),
)
_FINDING = DraftFinding._meta.concrete_fields


def _item(pk: int, user: int) -> QuerySet[Item]:
    return (
        Item.objects.filter(pk=pk)
        .annotate(
            # Most items have no line comments and need no query for them.
            has_remarks=Exists(Remark.objects.filter(item=OuterRef("pk"), removed_at=None)),
            for_member=Exists(Member.objects.filter(campaign=OuterRef("campaign"), user=user)),
            rubric_in_force=_rubric_in_force(),
            has_scores=Exists(Score.objects.filter(item=OuterRef("pk"), reviewer=user)),
            has_scratch=Exists(Scratch.objects.filter(item=OuterRef("pk"), reviewer=user)),
        )
        .select_related("campaign", "case", "run__action")
        .defer(*_LEFT_OUT)
    )


def _shown_item(pk: int, user: int) -> QuerySet[Item]:
    return _item(pk, user).select_related("run__configuration")


def _locked_item(pk: int, user: int) -> QuerySet[Item]:
    """Select and lock the item, with the data that saving a score needs."""
    drafts = Draft.objects.filter(run=OuterRef(OuterRef("run"))).values("sha256")
    ran = Execution.objects.filter(script_sha256__in=drafts)
    locked = _decided_item(pk, user).defer(*_LEFT_OUT, *_NOT_SCORED)
    return locked.annotate(has_executions=Exists(ran))


def _decided_item(pk: int, user: int) -> QuerySet[Item]:
    """Select and lock the item, with all data that publishing a script needs."""
    met = Assignment.objects.filter(item__case__action=OuterRef("case__action"), reviewer=user)
    arms = Item.objects.filter(case=OuterRef("case"))
    # Exclude copied scores. They have the current time, but the active minutes of their original session.
    own = Score.objects.filter(reviewer=user, imported=False)
    last = own.exclude(visible__has_key="copied_from").order_by("-pk")
    return (
        _item(pk, user)
        .defer(None)
        .select_for_update(of=("self",))
        .annotate(
            exposed_at=first_exposure(user),
            scored_in_queue=scored_in_queue(user),
            seen_before=Exists(met.exclude(item=OuterRef("pk"))),
            has_arms=Exists(arms.exclude(pk=OuterRef("pk"))),
            last_score_at=Subquery(last.values("at")[:1]),
            last_sitting_minutes=Subquery(last.values("sitting_minutes")[:1]),
        )
    )


def _held(campaign: int, reviewer: int) -> QuerySet[Assignment]:
    """Select the assignment to continue with: active, else sent back, else waiting and ready."""
    is_active = Q(state=Assignment.State.ACTIVE)
    is_ready = Q(state=Assignment.State.WAITING) & ~Q(
        item__run__state__in=[Run.State.QUEUED, Run.State.RUNNING]
    )
    sent_back = Exists(SentBack.objects.filter(assignment=OuterRef("pk"), answered_at=None))
    order = Choice(When(is_active, then=Value(0)), When(sent_back, then=Value(1)), default=2)
    return (
        Assignment.objects.select_for_update(of=("self",))
        .filter(is_active | is_ready, item__campaign=campaign, reviewer=reviewer)
        .order_by(order, "pk")[:1]
    )


def _member(campaign: int, user: int) -> QuerySet[Member]:
    own = Assignment.objects.filter(item__campaign=OuterRef("campaign"), reviewer=OuterRef("user"))
    return Member.objects.filter(campaign=campaign, user=user).annotate(
        holds=Exists(own.filter(state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING])),
        # True if the reviewer may get an earlier item again. Otherwise, their newest item determines their position.
        has_loose=Exists(own.filter(state__in=Assignment.LOOSE)),
    )


def _scores_of_case(case: int, item: int, reviewer: int) -> QuerySet[Score]:
    given = Score.objects.filter(
        item__case=case, reviewer=reviewer, stage=Score.Stage.SCRIPT, current=True
    )
    return given.exclude(item=item).select_related("draft").order_by("-pk")


def _scores(item: int, reviewer: int) -> QuerySet[Score]:
    return Score.objects.filter(item=item, reviewer=reviewer).order_by("pk")


def _assignment(item: int, reviewer: int) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        item=item, reviewer=reviewer, state__in=Assignment.HOLDING
    ).order_by("pk")


def _scratch(item: int, reviewer: int) -> QuerySet[Scratch]:
    return Scratch.objects.filter(item=item, reviewer=reviewer)


def _drafts(run: int) -> QuerySet[Draft]:
    """Select the Drafts together with their findings. One query is enough because few Drafts have many findings."""
    found = DraftFinding.objects.filter(draft=OuterRef("pk")).exclude(outcome="passed")
    fields = JSONObject(**{field.attname: field.attname for field in _FINDING})
    rows = found.order_by("line", "column", "pk").values(row=fields)
    drafts = Draft.objects.filter(run=run).select_related("assessment").order_by("number")
    return drafts.annotate(found=ArraySubquery(rows)).defer(
        "created_at", "note", "assessment__created_at", "assessment__prompt_versions"
    )


def _scored_drafts(run: int) -> QuerySet[Draft]:
    """Select the Drafts with only the data that scores depend on, without texts and findings."""
    drafts = Draft.objects.filter(run=run).select_related("assessment").order_by("number")
    return drafts.defer(*_NOT_SCORED_OF_DRAFTS)


def _first_drafts(run: int) -> QuerySet[Draft]:
    """Select only candidates for the first Draft, so that hidden results are never read."""
    drafts = _drafts(run).filter(kind__in=FIRST_KINDS, refinement=None)
    return drafts.select_related(None).defer("created_at", "note")


def findings_of(draft: Draft) -> list[DraftFinding]:
    """Return the findings of a Draft read by `read_drafts`, in line order."""
    found: list[dict[str, Any]] = draft.found  # type: ignore[attr-defined]
    return [DraftFinding(**row) for row in found]


def _rubric_in_force() -> Subquery:
    newest = Rubric.objects.filter(campaign=OuterRef("campaign")).order_by("-number")
    return Subquery(newest.values("pk")[:1])


# The item with its campaign, case, run and action. `for_member` is true if the user is a member of the campaign.
read_item = PreparedQuery(_shown_item)
lock_item = PreparedQuery(_locked_item)
lock_decided = PreparedQuery(_decided_item)
# The assignment that a reviewer continues with in a campaign, and the reviewer's membership.
lock_held = PreparedQuery(_held)
read_member = PreparedQuery(_member)
# A reviewer's scores for the first scripts of a case, except for one item.
read_scores_of_case = PreparedQuery(_scores_of_case)
# A reviewer's data for an item: scores (including replaced scores), assignment, and autosaved text.
read_scores = PreparedQuery(_scores)
read_assignment = PreparedQuery(_assignment)
read_scratch = PreparedQuery(_scratch)
# A run's Drafts in order, with their assessments and findings.
read_drafts = PreparedQuery(_drafts)
# The Drafts for scoring, without display-only data. They can't be passed to `findings_of`.
read_scored_drafts = PreparedQuery(_scored_drafts)
# The Drafts for a reviewer who has not scored the script yet.
read_first_drafts = PreparedQuery(_first_drafts)


@lru_cache(maxsize=64)
def read_rubric(pk: int) -> Rubric:
    """Return a rubric version. The cache is safe because versions never change."""
    return Rubric.objects.get(pk=pk)
