"""The use of the catalogue's answers in runs: how often a version was shown, and cases to label.

The composition root registers these functions in `catalog.hooks`, because the catalogue does not depend on runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from django.db.models import Case as Choice
from django.db.models import Count, F, Value, When

from catalog.hooks import Case, Shown
from catalog.types import Answer
from pipeline.models import Draft, RetrievedMatch, Run
from pipeline.types import DraftKind

# Studies have many runs per statement, and their reviewers must not see the labels.
_PEOPLE = (Run.Origin.ASKED, Run.Origin.COMMAND, Run.Origin.DEMO)
# A starting point that the assessor confirmed was shown as the answer.
_SHOWN_AS = Choice(
    When(run__answered_by=F("version"), then=Value(Answer.MATCH.value)), default=F("answer")
)
NEWEST = 2_000  # number of rows that are searched for cases
# Some rules cap a starting point's confidence at this distance below the threshold. A capped value says little.
CAPPED = 0.0011


def count_shown(version_ids: Sequence[int]) -> Mapping[int, Shown]:
    """Count how often users saw these versions as the answer or as a starting point, and how often they edited them.

    Uses two queries. Versions that were never shown are omitted.
    """
    shown: Counter[tuple[int, str]] = Counter()
    rows = RetrievedMatch.objects.answers().filter(version__in=version_ids, run__origin__in=_PEOPLE)
    for pk, answer, count in (
        rows.order_by()
        .annotate(shown_as=_SHOWN_AS)
        .values_list("version", "shown_as")
        .annotate(count=Count("pk"))
    ):
        shown[pk, answer] = count
    edited = Counter(
        Draft.objects.filter(
            kind=DraftKind.EDITED.value,
            parent__kind=DraftKind.RETRIEVED.value,
            parent__version__in=version_ids,
        ).values_list("parent__version", flat=True)
    )
    return {
        pk: Shown(shown[pk, Answer.MATCH], shown[pk, Answer.ADAPT], edited[pk])
        for pk in {pk for pk, _answer in shown} | set(edited)
    }


def find_cases(confidence: float, scoring: str, limit: int) -> Sequence[Case]:
    """Return the recent answers whose confidence is nearest to `confidence`, once per statement and version."""
    rows = RetrievedMatch.objects.answers().filter(
        run__origin__in=_PEOPLE, run__action__erased_at=None
    )
    if scoring:
        rows = rows.filter(scoring=scoring)
    newest = rows.order_by("-pk").values_list(
        "run__action__statement", "version", "confidence", "answer"
    )[:NEWEST]
    cases = {
        (statement, version): Case(statement, version, said)
        for statement, version, said, answer in newest
        if answer == Answer.MATCH or said < confidence - CAPPED
    }
    return sorted(cases.values(), key=lambda case: abs(case.confidence - confidence))[:limit]
