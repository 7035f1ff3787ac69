"""The status of a request: usable or not, who approved it, or what blocks it.

Pages, the API and search all use this status. The database computes it (`with_answer_status`), so that lists can be
filtered by status. `answers_of` adds the user, time and reason for the rows of one page, in at most ten queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import (
    Case,
    CharField,
    Exists,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from catalog.models import Phrasing, Version
from core.database.key_lists import is_among
from pipeline import hooks
from pipeline.display_names import answer_label
from pipeline.models import Action, Assessment, Draft, ModelCall, RetrievedMatch, Run
from pipeline.runs.expected_time import say_about
from pipeline.runs.list_rows import RunRow
from pipeline.types import AnswerStatus, Verdict

_ACTIVE = [Run.State.QUEUED, Run.State.RUNNING]
# Automatic changes and hidden changes are not news.
_NO_NEWS = (AnswerStatus.RUNNING, AnswerStatus.HIDDEN)
# Statuses that a reviewer may still change.
AWAITED = (AnswerStatus.WAITING, AnswerStatus.IN_REVIEW, AnswerStatus.FLAGGED, AnswerStatus.UNKNOWN)
MOST_NEWS = 500  # maximum number of answers that are marked as seen at once


@dataclass(frozen=True)
class ShownAnswer:
    """The status of one run for one user, with its details. Fields that do not apply are empty."""

    status: AnswerStatus
    version: Version | None = None  # from the catalogue, verified or formerly verified
    by: str = ""  # the user who verified or decided
    at: datetime | None = None
    why: Sequence[str] = ()  # the errors, or the reason for a rejection or failure
    is_held: bool = False
    position: int | None = None
    usual_wait: timedelta | None = None
    decided_draft: int | None = None  # the key of a draft
    is_unread: bool = False
    # A model confirmed a match whose score alone was not certain.
    is_confirmed_match: bool = False

    @property
    def label(self) -> str:
        withdrawn = self.status == AnswerStatus.WITHDRAWN and self.version
        if withdrawn and withdrawn.entry.suspended_at is not None:
            return _("Suspended")
        return answer_label(self.status)

    @property
    def usual_time(self) -> str:
        """Return the usual duration of a review, rounded, or an empty string if unknown or only a few seconds."""
        return say_about(self.usual_wait.total_seconds()) if self.usual_wait else ""


def with_answer_status(user: User, runs: QuerySet[Run]) -> QuerySet[Run]:
    """Annotate the runs with `answer_status` for this user, and `vouching`, the key of the version that verifies them.

    A run whose verdict is hidden is *running* or *hidden*, regardless of its actual status.
    """
    marked = runs
    if "hides_verdict" not in runs.query.annotations and hooks.mark_hidden_runs:
        marked = hooks.mark_hidden_runs(user, runs)
    for mark in ("hides_verdict", "hides_end"):
        if mark not in marked.query.annotations:
            marked = marked.annotate(**{mark: Value(False)})
    reviewed = (
        hooks.mark_reviewed_runs(marked)
        if hooks.mark_reviewed_runs
        else marked.annotate(
            review_decision=Value(""), review_version=Value(""), review_waits=Value(False)
        )
    )
    failed_call = ModelCall.objects.filter(run=OuterRef("pk"), state=ModelCall.State.FAILED)
    unusable = Q(recommended=None)
    verdict = "recommended__assessment__verdict"
    answering = Q(
        answered_by__state=Version.State.VERIFIED, answered_by__entry__suspended_at__isnull=True
    )
    cases: list[tuple[Q, AnswerStatus]] = [
        # Equivalent to `shown_state`, which would repeat the longest part of the query.
        (Q(hides_end=True) | Q(state__in=_ACTIVE, finished_at=None), AnswerStatus.RUNNING),
        (Q(hides_verdict=True), AnswerStatus.HIDDEN),
        (unusable & Q(state__in=_ACTIVE), AnswerStatus.RUNNING),
        (unusable & Q(state=Run.State.CANCELLED), AnswerStatus.CANCELLED),
        (unusable & Q(Exists(_starting_points(Q(run=OuterRef("pk"))))), AnswerStatus.ADAPT),
        (
            unusable & Q(state=Run.State.FAILED) & (Exists(failed_call) | Q(crashes__gt=0)),
            AnswerStatus.FAILED,
        ),
        (unusable, AnswerStatus.UNWRITTEN),
        (Q(answered_by__isnull=False) & answering, AnswerStatus.VERIFIED),
        (Q(answered_by__isnull=False), AnswerStatus.WITHDRAWN),
        (Q(vouching__isnull=False), AnswerStatus.VERIFIED),
        (Q(review_decision="reject"), AnswerStatus.REJECTED),
        (Q(review_version=Version.State.IN_REVIEW), AnswerStatus.IN_REVIEW),
        (Q(review_decision__in=["approve", "edit"]), AnswerStatus.WITHDRAWN),
        (Q(**{verdict: Verdict.INCORRECT.value}), AnswerStatus.FLAGGED),
        (Q(**{verdict: Verdict.UNKNOWN.value}), AnswerStatus.UNKNOWN),
        (Q(review_waits=True), AnswerStatus.WAITING),
        (Q(**{verdict: Verdict.CORRECT.value}), AnswerStatus.UNREVIEWED),
    ]
    return reviewed.annotate(
        vouching=Subquery(_vouching().values("pk")[:1]),
        answer_status=Case(
            *(When(when, then=Value(then.value)) for when, then in cases),
            default=Value(AnswerStatus.UNKNOWN.value),
            output_field=CharField(),
        ),
    )


def _starting_points(of: Q) -> QuerySet[RetrievedMatch]:
    """Return verified entries that the catalogue offers as starting points."""
    return RetrievedMatch.objects.filter(
        of,
        answer="adapt",
        version__state=Version.State.VERIFIED,
        version__entry__suspended_at=None,
    )


def _vouching() -> QuerySet[Version]:
    """Return a subquery for the verified versions that contain one of a run's scripts and answer its statement.

    The same script may be right for one statement and wrong for another. Unconfirmed phrasings do not count.
    """
    texts = Draft.objects.filter(run=OuterRef(OuterRef("pk"))).values("sha256")
    worded = Phrasing.objects.filter(
        entry=OuterRef("entry"),
        text=OuterRef(OuterRef("action__statement")),
        confirmed_at__isnull=False,
    )
    from_this_run = Q(of_run=Cast(OuterRef("pk"), TextField()))
    return (
        Version.objects.alias(of_run=KeyTextTransform("run", "provenance"))
        .filter(
            Exists(worded) | from_this_run,
            sha256__in=texts,
            state=Version.State.VERIFIED,
            entry__suspended_at=None,
        )
        .order_by("-verified_at", "-pk")
    )


def answers_of(rows: Collection[RunRow], user: User) -> dict[int, ShownAnswer]:
    """Return the runs' answers by key. The verdicts count as shown to this user (see `visible_parts`)."""
    runs = {row.run.pk: row.run for row in rows}
    found = with_answer_status(user, Run.objects.filter(pk__in=list(runs)))
    statuses: dict[int, tuple[AnswerStatus, int | None]] = {
        pk: (AnswerStatus(status), version)
        for pk, status, version in found.values_list("pk", F("answer_status"), F("vouching"))
    }
    details = _Details(runs, statuses)
    return {
        pk: details.answer(runs[pk], status, user) for pk, (status, _version) in statuses.items()
    }


def count_statuses(user: User, runs: QuerySet[Run]) -> dict[str, int]:
    """Return the number of these runs with each status for this user, most frequent first."""
    # Count here, because a query grouped by status would compute each status twice.
    found = with_answer_status(user, runs).values_list("pk", F("answer_status"))
    numbers = Counter(status for _pk, status in found)
    return dict(sorted(numbers.items(), key=lambda one: (-one[1], one[0])))


def answer_of(row: RunRow, user: User) -> ShownAnswer:
    """Return the answer of one run."""
    return answers_of([row], user)[row.run.pk]


class _Details:
    """The user, time and reason of each answer, read once for all runs. Hidden data is not read."""

    def __init__(
        self, runs: Mapping[int, Run], statuses: Mapping[int, tuple[AnswerStatus, int | None]]
    ) -> None:
        def with_status(*wanted: AnswerStatus) -> list[int]:
            return [pk for pk, (status, _vouching) in statuses.items() if status in wanted]

        # Hidden runs may also have a version, so read only the data that the status needs.
        vouching = {
            pk: version for pk in with_status(AnswerStatus.VERIFIED) if (version := statuses[pk][1])
        }
        answered = {
            pk: key
            for pk in with_status(AnswerStatus.VERIFIED, AnswerStatus.WITHDRAWN)
            if (key := runs[pk].answered_by_id)
        }
        starting = dict(
            _starting_points(Q(run__in=with_status(AnswerStatus.ADAPT)))
            .order_by("-rank")
            .values_list("run", "version")
        )
        self._versions = _versions_of({**vouching, **answered, **starting})
        published = [pk for pk in with_status(AnswerStatus.WITHDRAWN) if pk not in answered]
        if published:
            made = Version.objects.select_related("entry", "verified_by").order_by("pk")
            for one in made.filter(provenance__run__in=published):
                self._versions[one.provenance["run"]] = one
        self._flagged = _differences_of(runs[pk] for pk in with_status(AnswerStatus.FLAGGED))
        decided = with_status(
            AnswerStatus.WAITING,
            AnswerStatus.FLAGGED,
            AnswerStatus.UNKNOWN,
            AnswerStatus.IN_REVIEW,
            AnswerStatus.REJECTED,
            AnswerStatus.WITHDRAWN,
        )
        describe = hooks.describe_reviews
        self._reviews = describe(decided) if describe and decided else {}

    def answer(self, run: Run, status: AnswerStatus, user: User) -> ShownAnswer:
        version = self._versions.get(run.pk)
        review = self._reviews.get(run.pk, hooks.ReviewProgress())
        by, at, why = review.decided_by, review.decided_at, [review.reason]
        if version is not None and version.verified_by:
            by = version.verified_by.get_full_name() or version.verified_by.get_username()
        if version is not None:
            at, why = version.verified_at, [version.entry.suspended_why]
        if status == AnswerStatus.FLAGGED:
            why = self._flagged.get(run.recommended_id or 0, [])
        elif status == AnswerStatus.UNKNOWN:
            why = [
                _("The assessor's reply could not be read.")
                if run.verdict
                else _("No model has assessed this script.")
            ]
        elif status in (AnswerStatus.ADAPT, AnswerStatus.UNWRITTEN, AnswerStatus.FAILED):
            why = [run.problem]
        return ShownAnswer(
            status=status,
            version=version,
            by=by,
            at=at,
            why=[one for one in why if one],
            is_held=review.is_held,
            position=review.position,
            usual_wait=review.usual_wait,
            decided_draft=review.draft,
            is_unread=is_news(run.action, status, user),
            is_confirmed_match=status == AnswerStatus.VERIFIED and bool(run.match_confirmed_by),
        )


def _versions_of(keys: Mapping[int, int]) -> dict[int, Version]:
    if not keys:
        return {}
    found = (
        Version.objects.filter(pk__in=set(keys.values()))
        .select_related("entry", "verified_by")
        .defer("entry__document")
        .in_bulk()
    )
    return {run: found[version] for run, version in keys.items() if version in found}


def _differences_of(runs: Iterable[Run]) -> dict[int, list[str]]:
    """Return the assessor's objections by recommended draft, or the assessor's reason if it lists no differences."""
    drafts = [run.recommended_id for run in runs]
    if not drafts:
        return {}
    rows = Assessment.objects.filter(draft__in=drafts).values_list(
        "draft", "differences", "difference_reason", "similarity_reason", "syntax_ok"
    )
    return {
        draft: differences
        or ([_("Bash can't parse this script.")] if parses is False else [difference or similarity])
        for draft, differences, difference, similarity, parses in rows
    }


# --- Changes since the requester's last visit ----------------------------------------------------------------------


def is_news(action: Action, status: AnswerStatus, user: User) -> bool:
    """Return whether this user is the requester and has not seen this status."""
    return (
        action.asked_by_id == user.pk
        and action.seen_status not in ("", status)
        and status not in _NO_NEWS
    )


def note_seen(run: Run, answer: ShownAnswer, *, by: User) -> None:
    """Record that the requester has seen the answer of a run, if the run is the action's newest."""
    action = run.action
    if action.asked_by_id != by.pk or action.seen_status == answer.status:
        return
    if action.runs.filter(pk__gt=run.pk).exists():
        return
    Action.objects.filter(pk=action.pk).update(seen_status=answer.status)
    action.seen_status = answer.status


def with_news(user: User, actions: QuerySet[Action]) -> QuerySet[Action]:
    """Return the user's actions whose answer changed since their last visit."""
    newest = with_answer_status(user, newest_runs()).exclude(
        Q(answer_status__in=[status.value for status in _NO_NEWS])
    )
    return actions.filter(
        Exists(newest.exclude(Q(answer_status=F("action__seen_status")))),
        asked_by=user,
    ).exclude(seen_status="")


def news_of(user: User) -> dict[int, str]:
    """Return the new status of actions whose answer changed since this user's last visit, up to MOST_NEWS."""
    seen = dict(
        Action.objects.filter(asked_by=user)
        .exclude(seen_status="")
        .values_list("pk", "seen_status")
    )
    if not seen:
        return {}
    # Compare here, because a condition on the status would repeat the whole query that computes it.
    newest = with_answer_status(
        user, newest_of(Action.objects.filter(is_among("pk", seen)).values("pk"))
    )
    news = {
        action: status
        for action, status in newest.values_list("action", F("answer_status"))
        if status not in (seen[action], *_NO_NEWS)
    }
    return dict(sorted(news.items(), reverse=True)[:MOST_NEWS])


def mark_seen(user: User, shown: Mapping[int, str]) -> int:
    """Mark these answers as seen by this user, and return the number of answers that were news.

    An answer that has changed again in the meantime is still news.
    """
    newest = with_answer_status(user, newest_runs())
    count = 0
    for status in sorted(set(shown.values())):
        actions = Action.objects.filter(pk__in=[pk for pk, one in shown.items() if one == status])
        still_so = Exists(newest.filter(Q(answer_status=status)))
        count += with_news(user, actions).filter(still_so).update(seen_status=status)
    return count


def newest_runs() -> QuerySet[Run]:
    """Return the newest run of an action, as a subquery for actions."""
    return _newest().filter(action=OuterRef("pk"))


def newest_of(actions: QuerySet[Action, Any]) -> QuerySet[Run]:
    """Return the newest run of each of these actions, given as a query of keys."""
    return _newest().filter(action__in=actions)


def _newest() -> QuerySet[Run]:
    newer = Run.objects.filter(action=OuterRef("action"), pk__gt=OuterRef("pk"))
    return Run.objects.filter(~Exists(newer))
