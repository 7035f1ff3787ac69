"""Store calls that are waiting for a Message Batch, and wake the runs that are waiting for the replies.

A run that reaches such a call stores it, frees its worker and sleeps until the reply arrives.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from pipeline.ledger.capacity import RunMustWait
from pipeline.ledger.model_calls import Position, make_call, position_of
from pipeline.ledger.outgoing_secrets import SecretsRule
from pipeline.ledger.retry_policy import failure_message
from pipeline.llm.request_builder import RoleSpec
from pipeline.models import Attempt, Endpoint, ModelCall, Refinement, Run
from pipeline.scheduling.dispatch import dispatch_abandoned
from pipeline.scheduling.run_leases import Lease
from pipeline.types import Problem, Question, StageName

# A run that was not woken continues on its own after this time. A batch ends within a day.
_LOOKS_ITSELF = timedelta(hours=26)
_SLICE = 500
# The author of the feedback is waiting for this stage.
NEVER_BATCHED = frozenset({StageName.SHORTEN})


class AwaitsReplies(RunMustWait):
    """Raised if the run must wait for a Message Batch. Reading the results wakes the run."""


def endpoints_with_batches(run: Run, refinement: Refinement | None) -> Mapping[int, Endpoint]:
    """Return the endpoints that can batch this run's calls, or no endpoints if a user is waiting for the answer.

    Users wait for runs outside campaigns, and for refinements that they requested or that use their feedback.
    """
    by_a_person = refinement is not None and (
        refinement.feedback_id is not None or refinement.asked_by_id is not None
    )
    if run.batch is None or not run.batch.uses_message_batches or by_a_person:
        return {}
    return Endpoint.objects.filter(has_batches=True).in_bulk()


def can_wait(
    question: Question, role: RoleSpec, known: ModelCall | None, endpoints: Collection[int]
) -> bool:
    """Return whether the call for this question goes into a batch.

    An earlier call stays as it is, because it may already be in a batch.
    """
    if question.stage in NEVER_BATCHED:
        return False
    return known.in_batches if known is not None else role.endpoint_id in endpoints


def note_waiting(
    lease: Lease,
    asked: Sequence[tuple[Question, RoleSpec]],
    *,
    known: Mapping[Position, ModelCall],
    refinement: Refinement | None,
    endpoints: Mapping[int, Endpoint],
    secrets: SecretsRule,
) -> None:
    """Store the calls that go into a batch, with secrets masked. Existing calls stay unchanged.

    Raises Problem if a call has failed permanently, and LostLease.
    """
    new = []
    for question, role in asked:
        call = known.get(position_of(question))
        if call is None:
            call = make_call(lease, question, role, refinement)
            call.in_batches, call.fence = True, lease.fence
            secrets.apply(call, endpoints[role.endpoint_id])
            new.append(call)
        elif call.state == ModelCall.State.FAILED:
            raise Problem(failure_message(call))
    if new:
        with transaction.atomic():
            lease.check()
            ModelCall.objects.bulk_create(new, ignore_conflicts=True)


def rest_until_replies() -> AwaitsReplies:
    """Return the exception that lets a run sleep until its replies arrive."""
    return AwaitsReplies(
        _("The next model call is waiting in a message batch."),
        until=timezone.now() + _LOOKS_ITSELF,
    )


def waiting_calls() -> QuerySet[ModelCall]:
    """Return the calls that are waiting for a batch, except calls of runs that a worker is processing."""
    under_way = Attempt.objects.filter(call=OuterRef("pk"), ended_at=None)
    return ModelCall.objects.filter(
        ~Exists(under_way),
        in_batches=True,
        state=ModelCall.State.OPEN,
        run__state=Run.State.QUEUED,
        run__owner="",
    )


@transaction.atomic
def give_to_direct_calls() -> int:
    """Convert waiting calls to direct calls if batches were turned off, and return the number of calls.

    This includes endpoints that were turned off, so that their runs fail with that problem instead of sleeping forever.
    """
    is_off = Q(endpoint__enabled=False) & ~Q(endpoint__name__in=settings.SCRIPTSMITH_ENDPOINTS)
    left = waiting_calls().filter(
        Q(run__batch__uses_message_batches=False) | Q(endpoint__has_batches=False) | is_off
    )
    locked = left.select_for_update(of=("self",), no_key=True, skip_locked=True)
    found = dict(locked.values_list("pk", "run")[:_SLICE])
    # Check again under the locks, because a call may have been collected in the meantime.
    if not found or not waiting_calls().filter(pk__in=list(found)).update(in_batches=False):
        return 0
    given = ModelCall.objects.filter(pk__in=list(found), in_batches=False)
    runs = [found[key] for key in given.values_list("pk", flat=True)]
    wake(set(runs))
    return len(runs)


def wake(runs: Collection[int]) -> None:
    """Wake these runs, unless a worker is processing them."""
    ordered = sorted(runs)
    for start in range(0, len(ordered), _SLICE):
        Run.objects.filter(
            pk__in=ordered[start : start + _SLICE], state=Run.State.QUEUED, owner=""
        ).update(not_before=None, told_at=None)
    if ordered:
        dispatch_abandoned()
