"""Build the page of a run, which is also the response to a rejected form on that page."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalog import services as catalog
from catalog.analysis import Coverage, level_place
from catalog.models import Entry, MatchLabel, Version
from core.web.requests import signed_in
from pipeline.access import USE_UNREVIEWED, may_cancel, may_change, may_check, may_run
from pipeline.clients.destinations import may_bill
from pipeline.configurations.refinement_gain import rounds_of
from pipeline.costs.run_costs import costs_of
from pipeline.execution.draft_checks import (
    coverage_of_draft,
    is_current,
    is_current_assessment,
    missing_checks,
    prompts_in_use,
    risk_of,
    shown_findings,
)
from pipeline.ledger.failures import failure_of
from pipeline.models import (
    Assessment,
    Draft,
    DraftFinding,
    DraftUse,
    RetrievedMatch,
    Run,
    Stage,
)
from pipeline.runs.answers import AWAITED, ShownAnswer, answer_of, note_seen
from pipeline.runs.expected_time import RecentTimes
from pipeline.runs.forms import UseForm
from pipeline.runs.list_rows import RunRow, run_row
from pipeline.runs.page_data.feedback_details import show_feedbacks
from pipeline.runs.page_data.masked_secrets import show_secrets
from pipeline.runs.page_data.timeline import confirmation_of, show_stages
from pipeline.runs.page_data.waiting import Waiting, describe_wait
from pipeline.runs.recommendation import explain_recommendation, offered_draft
from pipeline.types import AnswerStatus, DraftKind

_NEAREST = 3  # entries


@dataclass(frozen=True)
class ShownDraft:
    """A Draft with its findings, assessment and uses."""

    draft: Draft
    assessment: Assessment | None
    is_assessment_current: bool
    problems: Sequence[DraftFinding]
    not_judged: Sequence[DraftFinding]
    older: Sequence[DraftFinding]  # findings from outdated versions of checks
    missing_checks: Sequence[str]  # checks that have not run in their current version
    vouched: Version | None  # the version that verifies exactly this text for this statement
    used: DraftUse | None  # the viewer's own use
    coverage: Coverage | None = None

    @property
    def risks(self) -> list[DraftFinding]:
        """Return the risks and hidden characters in the script, the most severe first."""
        found = [one for one in self.problems if one.check_name in ("risk", "characters")]
        return sorted(found, key=lambda one: level_place(one.level))

    @property
    def risk(self) -> str:
        """Return the risk of running the script, or an empty string if the text was erased."""
        return risk_of(self.draft, self.problems) or ""

    @property
    def label(self) -> str:
        """Return the draft's name."""
        return _("Draft %(number)s, %(kind)s") % {
            "number": self.draft.number,
            "kind": self.draft.get_kind_display().lower(),
        }

    @property
    def length(self) -> str:
        """Return the script's length as text."""
        lines = len(self.draft.script.splitlines())
        return ngettext("%(lines)s line", "%(lines)s lines", lines) % {"lines": lines}

    @property
    def code_id(self) -> str:
        """Return the HTML id of the draft's code block."""
        return f"draft-{self.draft.number}-code"

    def filled_in(self, filled: catalog.Filled) -> ShownDraft:
        """Return a copy whose findings have the line numbers of the filled-in script."""
        problems, not_judged = map(deepcopy, (self.problems, self.not_judged))
        for found in (*problems, *not_judged):
            found.line = filled.line_of(found.line)
            found.end_line = filled.line_of(found.end_line)
        return replace(self, problems=problems, not_judged=not_judged)

    @property
    def is_model_written(self) -> bool:
        """Return whether a model wrote this text."""
        return self.draft.kind not in (DraftKind.EDITED, DraftKind.IMPORTED, DraftKind.RETRIEVED)


def show_run(
    request: HttpRequest,
    run: Run,
    *,
    form: UseForm | None = None,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render the page. `form` and `refusal` are the rejected form and the reason."""
    context = describe_run(run, signed_in(request))
    context |= {"form": form or UseForm(), "refusal": refusal}
    return render(request, "pipeline/runs/detail.html", context, status=status)


def describe_run(run: Run, user: User) -> dict[str, object]:
    """Return the data for the page and its live part, in a fixed number of queries."""
    row = run_row(run, user)
    parts = row.parts
    # Do not even read hidden parts, because the response time would reveal their size.
    stages = list(run.stages.all()) if parts.verdict else []
    waits = describe_wait(run, user) if parts.verdict else None
    context: dict[str, object] = {
        "run": run,
        "row": row,
        "action": run.action,
        "parts": parts,
        "seen": fingerprint_of(row, stages, waits=waits),
        # Seconds until the next update of the live part, or 0 if no more changes are expected.
        "asks_after": 1 if row.is_active else 0,
        "may_change": may_change(user, run),
        "may_cancel": may_cancel(user, run),
        "may_run": may_run(user, run.action),
    }
    if not parts.verdict:
        return context | {"failure": failure_of(run) if row.state == Run.State.FAILED else None}
    context |= {"waits": waits, "failure": failure_of(run)}
    if row.is_active:
        players = {(role["endpoint_id"], role["model"]) for role in run.roles.values()}
        context["expected"] = RecentTimes().say_expected(players)
    answer = answer_of(row, user)
    note_seen(run, answer, by=user)
    if not row.is_active:
        context["seen"] = fingerprint_of(row, stages, answer)
        context["asks_after"] = 20 if answer.status in AWAITED else 0
    is_start = answer.status == AnswerStatus.ADAPT
    drafts = show_drafts(run, user, vouching=None if is_start else answer.version)
    costs = costs_of(run, bills=may_bill)
    main = _main_draft(run, answer, drafts)
    matches = list(run.matches.answers().select_related("version__entry", "version__verified_by"))
    copied = _describe_copy(answer, matches)
    others = [one for one in drafts if one is not main]
    if main is not None and main.vouched and isinstance(filled := copied["filled"], catalog.Filled):
        main = main.filled_in(filled)
    return context | {
        "answer": answer,
        "secrets": show_secrets(run) if parts.models else None,
        "stages": show_stages(stages, costs, beside_evidence=main is not None, run_state=run.state),
        "milliseconds": row.milliseconds,
        "costs": costs,
        "rounds": rounds_of([one.draft for one in drafts], costs),
        "why": explain_recommendation(run, [one.draft for one in drafts], stages),
        "main": main,
        "others": others,
        "offered": offered_draft(stages),
        "feedbacks": show_feedbacks(run, stages),
        "may_use": user.has_perm(USE_UNREVIEWED),
        "may_check": may_check(user),
        **_describe_match(run, user, matches, start=answer.version if is_start else None),
        "nearest": _nearest_entries(run) if answer.status == AnswerStatus.UNWRITTEN else [],
        "is_unwritten": is_start or answer.status == AnswerStatus.UNWRITTEN,
        "confirmation": confirmation_of(run, stages),
        **copied,
    }


def _main_draft(run: Run, answer: ShownAnswer, drafts: Sequence[ShownDraft]) -> ShownDraft | None:
    """Return the answer's draft: the verified draft, otherwise the decided draft, otherwise the recommended draft."""
    verified = next((one for one in drafts if one.vouched), None)
    decided = next((one for one in drafts if one.draft.pk == answer.decided_draft), None)
    recommended = next((one for one in drafts if one.draft.pk == run.recommended_id), None)
    return verified or decided or recommended


def _describe_copy(answer: ShownAnswer, matches: Sequence[RetrievedMatch]) -> dict[str, object]:
    """Return the verified text with the statement's values, and whether it can be copied unchanged."""
    version = answer.version
    if version is None or answer.status != AnswerStatus.VERIFIED:
        return {"filled": None, "values": []}
    fills: Mapping[str, str] = next(
        (one.fills for one in matches if one.version_id == version.pk), {}
    )
    values = _values_for(version, fills)
    filled = catalog.fill_in(version, dict(values))
    return {
        "filled": filled,
        "values": values,
        "may_copy": not (filled.problems or filled.dangers),
        "is_filled_in": filled.text != version.script,
    }


def fingerprint_of(
    row: RunRow,
    stages: Sequence[Stage],
    answer: ShownAnswer | None = None,
    waits: Waiting | None = None,
) -> str:
    """Return a digest that changes whenever the live part would look different to this user.

    `answer` is the answer of a finished run, which may be waiting for a reviewer.
    """
    seen: tuple[object, ...] = (row.state,)
    if row.parts.verdict:
        states = [(stage.pk, stage.state) for stage in stages]
        status = answer.status if answer else None
        seen = (row.run.state, row.run.finished_at, row.run.not_before, states, status, str(waits))
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def show_drafts(run: Run, user: User, *, vouching: Version | None = None) -> list[ShownDraft]:
    """Return the drafts, oldest first. `vouching` is the verified version that answers the run's statement."""
    own_uses = DraftUse.objects.filter(by=user)
    drafts = list(
        run.drafts.select_related("assessment", "author", "parent").prefetch_related(
            "findings", Prefetch("uses", queryset=own_uses, to_attr="own_uses")
        )
    )
    is_verified = vouching is not None and vouching.state == Version.State.VERIFIED
    by_text = {vouching.sha256: vouching} if vouching and is_verified else {}
    in_use = prompts_in_use(run.configuration)
    return [_show_draft(draft, by_text, in_use) for draft in drafts]


def _show_draft(
    draft: Draft, verified: Mapping[str, Version], in_use: Mapping[str, str]
) -> ShownDraft:
    kept = list(draft.findings.all())
    found = [one for one in kept if is_current(one, draft)]
    missing = missing_checks(draft, kept)
    assessment = getattr(draft, "assessment", None)
    own_uses: list[DraftUse] = getattr(draft, "own_uses", [])
    return ShownDraft(
        draft=draft,
        assessment=assessment,
        is_assessment_current=assessment is None
        or is_current_assessment(assessment, draft, in_use),
        problems=[one for one in found if one.outcome == "failed"],
        not_judged=[one for one in found if one.outcome == "unscored"],
        older=[one for one in shown_findings(kept) if one.check_name in missing],
        missing_checks=sorted(missing),
        vouched=verified.get(draft.sha256),
        used=own_uses[0] if own_uses else None,
        coverage=coverage_of_draft(draft),
    )


def _describe_match(
    run: Run, user: User, matches: Sequence[RetrievedMatch], *, start: Version | None = None
) -> dict[str, object]:
    """Return the catalogue's answer or the script's starting point, and whether it was confirmed.

    `start` is the entry that the answer offers as a starting point. The default is the nearest entry.
    """
    offered = [one for one in matches if start is None or one.version_id == start.pk]
    best = offered[0] if offered else None
    answered = run.answered_by_id is not None
    return {
        "match": best if answered else None,
        "start": best if best and best.answer == "adapt" and not answered else None,
        "label": _label_by(run, user) if answered else None,
        "followed": run.followed_by.order_by("-pk").first() if answered else None,
    }


def _nearest_entries(run: Run) -> list[Entry]:
    """Return the entries closest to the statement, closest first, for runs without a script."""
    near = run.matches.filter(
        version__state=Version.State.VERIFIED, version__entry__suspended_at__isnull=True
    ).select_related("version__entry")
    return list(dict.fromkeys(one.version.entry for one in near.order_by("rank")))[:_NEAREST]


def _values_for(version: Version, fills: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return parameter values: the statement's literals, otherwise the defaults."""
    return [
        (name, fills.get(name, row.get("default") or ""))
        for row in version.parameters
        if (name := row["name"])
    ]


def _label_by(run: Run, user: User) -> MatchLabel | None:
    return (
        MatchLabel.objects.counting()
        .filter(statement=run.action.statement, version=run.answered_by, by=user)
        .first()
    )
