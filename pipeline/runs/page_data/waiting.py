"""Explain why a run is waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from pipeline.endpoints.places import Holder, holders_of, say_server
from pipeline.message_batches.services import wait_of
from pipeline.models import Endpoint, Run


@dataclass(frozen=True)
class Waiting:
    """The reason why a run is waiting, and the runs that are using the endpoint."""

    words: str
    holders: Sequence[Holder] = ()

    def __str__(self) -> str:
        return " ".join([self.words, *(one.words for one in self.holders)])


def describe_wait(run: Run, user: User) -> Waiting | None:
    """Return the reason why an active run is waiting, or None."""
    if not run.is_active:
        return None
    if run.batch and run.batch.paused_at:
        return Waiting(run.batch.paused_why or _("The study is paused."))
    now = timezone.now()
    is_put_off = run.not_before is not None and run.not_before > now
    if is_put_off and run.batch_id is not None and (wait := wait_of(run)) is not None:
        return Waiting(wait.words)
    if run.state != Run.State.QUEUED or not (is_put_off or run.waits_for):
        return None
    asked = [*(role["endpoint_id"] for role in run.roles.values()), run.waits_for_id or 0]
    resting = Endpoint.objects.filter(pk__in=asked, blocked_until__gt=now).first()
    if resting is not None:
        return Waiting(f"{resting}: {say_server(resting)}")
    if run.waits_for is None:
        return None
    holders = holders_of(run.waits_for, user)
    taken = (
        _("%s has reached its limit of concurrent calls. The run continues when a call ends.")
        if holders
        else _(
            "%s has reached its limit of concurrent calls, or its free slots are reserved. The run continues when its "
            "turn "
            "comes."
        )
    )
    return Waiting(f"{taken % run.waits_for} {say_server(run.waits_for)}".strip(), holders)
