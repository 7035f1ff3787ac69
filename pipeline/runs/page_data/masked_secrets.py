"""The handling of secrets in the texts that a run sent to models, for the run's page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from pipeline.models import Run
from pipeline.types import SecretsChoice


@dataclass(frozen=True)
class MaskedFor:
    """The kinds of secrets that were masked in requests to one endpoint."""

    endpoint: str
    kinds: Sequence[str]
    calls: int


@dataclass(frozen=True)
class ShownSecrets:
    """The masked secrets of a run, and whether a user chose to send its secrets."""

    masked: Sequence[MaskedFor]
    are_sent: bool
    # Applies to feedback that users wrote later.
    are_sent_in_feedback: bool


def show_secrets(run: Run) -> ShownSecrets:
    """Return the kinds of secrets that the run's calls have masked so far, per endpoint, in one query."""
    of_feedback = Q(refinement__isnull=False) & ~Q(refinement__sent_secrets=[])
    rows = run.calls.filter(~Q(masked=[]) | of_feedback).order_by("created_at", "key")
    by_endpoint: dict[str, list[list[str]]] = {}
    are_sent_in_feedback = False
    for endpoint, kinds, sent in rows.values_list(
        "endpoint__title", "masked", "refinement__sent_secrets"
    ):
        are_sent_in_feedback |= bool(sent)
        if kinds:
            by_endpoint.setdefault(endpoint, []).append(kinds)
    return ShownSecrets(
        masked=[
            MaskedFor(
                endpoint, list(dict.fromkeys(kind for call in calls for kind in call)), len(calls)
            )
            for endpoint, calls in by_endpoint.items()
        ],
        are_sent=run.secrets == SecretsChoice.SEND,
        are_sent_in_feedback=are_sent_in_feedback,
    )
