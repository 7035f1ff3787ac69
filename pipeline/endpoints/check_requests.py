"""The state of an endpoint's check, for pages: never requested, waiting, running, lost or done.

`Endpoint.probe` contains the result of `llm.probe.Found.as_json` and whether the worker has the key (`worker_has_key`).
`asked` describes the check in progress: its id, and the times when it was requested and when a worker began it.
`check_worker`, which only workers load, runs the check.
"""

from __future__ import annotations

import logging
import uuid
from datetime import datetime, timedelta
from enum import StrEnum

from celery import current_app
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from pipeline.access import require_endpoint_manager
from pipeline.llm.probe import MOST_CALLS
from pipeline.models import Endpoint, RoleSetting

logger = logging.getLogger(__name__)

TASK = "pipeline.check_endpoint"
# A check is billed, so it must not run long after the request. If no worker starts the check in this time, the message
# expires, the page reports that, and late workers skip the check.
WAIT_FOR_WORKER = timedelta(seconds=60)
_GRACE = timedelta(seconds=60)  # for the free requests, in addition to the calls


class CheckState(StrEnum):
    NEVER = "never"
    WAITING = "waiting"  # for a worker
    RUNNING = "running"
    LOST = "lost"  # no worker started the check, or its worker was lost
    DONE = "done"


# The request text of a *try*. It contains no incident data, so it may be sent to any endpoint.
TRY_STATEMENT = "Show the ten largest files under /var/log, largest first"


@transaction.atomic
def ask_check(endpoint: Endpoint, *, model: str = "", tries: bool = False, by: User) -> None:
    """Request a check with at most MOST_CALLS model calls. Raises BadInput, or NotAllowedNow if a check is in progress.

    With `tries`, one more call asks the model for the script of TRY_STATEMENT, as a run would.
    """
    require_endpoint_manager(by)
    model = model.strip()
    if len(model) > 100 or not model.isprintable():
        raise BadInput(
            _("Enter a model name of at most 100 characters on one line."), field="model"
        )
    kept = Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    if check_state(kept) in (CheckState.WAITING, CheckState.RUNNING):
        raise NotAllowedNow(_("A check is already running."))
    check_id = uuid.uuid4().hex
    asked = {
        "id": check_id,
        "at": timezone.now().isoformat(),
        "model": model,
        "tries": tries,
    }
    kept.probe = {**kept.probe, "asked": asked}
    kept.save(update_fields=["probe"])
    record(kept, "check requested", by=by, model=("", model), tries=("", tries))
    transaction.on_commit(lambda: _enqueue(kept.pk, check_id))


@transaction.atomic
def cancel_check(endpoint: Endpoint, *, by: User) -> None:
    """Cancel the check in progress. Its worker closes the connection. Raises NotAllowedNow if no check is running."""
    require_endpoint_manager(by)
    kept = Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    if check_state(kept) not in (CheckState.WAITING, CheckState.RUNNING):
        raise NotAllowedNow(_("No check is running."))
    asked = kept.probe.pop("asked")
    kept.probe["canceled"] = asked["id"]
    kept.save(update_fields=["probe"])
    record(kept, "check canceled", by=by)


def check_state(endpoint: Endpoint) -> CheckState:
    """Return the state of the newest check."""
    asked = endpoint.probe.get("asked")
    if not asked:
        return CheckState.DONE if endpoint.probed_at else CheckState.NEVER
    now = timezone.now()
    begun = _moment(asked.get("begun_at"))
    if begun is None:
        at = _moment(asked.get("at"))
        return CheckState.WAITING if at and now < at + WAIT_FOR_WORKER else CheckState.LOST
    longest = timedelta(seconds=(MOST_CALLS + 1) * (endpoint.timeout_seconds + 2)) + _GRACE
    return CheckState.RUNNING if now < begun + longest else CheckState.LOST


def asked_at(endpoint: Endpoint) -> datetime | None:
    """Return the time when the running or lost check was requested."""
    return _moment((endpoint.probe.get("asked") or {}).get("at"))


def models_known_of(endpoint: Endpoint) -> list[str]:
    """List the known models of an endpoint: first from configurations, then from prices, then from its last check."""
    played = RoleSetting.objects.filter(endpoint=endpoint, configuration__archived_at=None)
    named = [*played.order_by("pk").values_list("model", flat=True)]
    named += [price.model for price in endpoint.prices.all()]
    named += [str(name) for name in endpoint.probe.get("models", [])]
    return list(dict.fromkeys(named))


def _enqueue(endpoint_id: int, check_id: str) -> None:
    try:
        current_app.send_task(
            TASK, (endpoint_id, check_id), queue="interactive", expires=WAIT_FOR_WORKER.seconds
        )
    except Exception:
        # No sweep restarts checks. The page reports that no worker started the check, and the user can request another.
        logger.warning("check of endpoint %s could not be enqueued", endpoint_id, exc_info=True)


def _moment(text: object) -> datetime | None:
    return parse_datetime(text) if isinstance(text, str) else None
