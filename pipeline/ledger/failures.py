"""Explain failed model calls: what happened, how the product reacted and what the user can do.

The texts are derived from the Attempt's row and the run's state. The server's message is shown next to them as
evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_noop as _

from pipeline.clients.destinations import may_bill
from pipeline.llm.types import Trouble, UsageDoubt
from pipeline.models import Attempt, Endpoint, ModelCall, Run
from pipeline.scheduling.run_leases import MAX_CRASHES
from pipeline.types import ReadingOutcome

Outcome = Attempt.Outcome
# Failure reasons that pause an endpoint and make its runs wait.
_KEPT_WAITING = (Outcome.BUSY, Outcome.LIMIT, Outcome.UNREACHABLE)


@dataclass(frozen=True)
class Failure:
    """The explanation of a failure: three short texts, and the underlying technical terms."""

    happened: str
    done: str
    advice: str
    evidence: str = ""


_BY_STATUS: dict[int, str] = {
    400: _("The server rejected the request as invalid."),
    401: _("The server did not accept the key."),
    402: _("The account of this endpoint has a payment problem."),
    403: _("The key has no permission for this model."),
    404: _("The server does not have this model, or the endpoint's address is wrong."),
    413: _("The request was too large for the server."),
    429: _("The server received too many requests."),
    502: _("A gateway between ScriptSmith and the model returned an invalid response."),
    503: _("The server was not available."),
    504: _("A gateway between ScriptSmith and the model timed out."),
    529: _("The model's servers were overloaded."),
}
_BY_OUTCOME: dict[str, str] = {
    Outcome.ANSWERED: _("The model replied."),
    Outcome.BUSY: _("The server was busy."),
    Outcome.LIMIT: _("The account has reached its spend limit."),
    Outcome.REFUSED: _("The server rejected the request."),
    Outcome.BROKEN: _("The server failed during the reply."),
    Outcome.TIMEOUT: _("The model took too long to reply."),
    Outcome.UNREACHABLE: _("The server could not be reached."),
    Outcome.ORPHANED: _("The worker stopped while the model was replying."),
    Outcome.EXPIRED: _("The message batch expired before the model replied."),
    Outcome.CANCELLED: _("The request was canceled with its message batch."),
}
# Failures before the server could reply, or after it sent too much data.
_BY_TROUBLE: dict[str, str] = {
    Trouble.REDIRECT: _("The server redirects to another address. Redirects are not followed."),
    Trouble.ADDRESS: _("The endpoint's address is in a blocked network."),
    Trouble.CERTIFICATE: _("The server's certificate is not trusted, so nothing was sent."),
    Trouble.TLS: _("An encrypted connection to the server failed."),
    Trouble.PROXY: _("The proxy did not connect to the server."),
    Trouble.TOO_LARGE: _("The reply was larger than the limit."),
    Trouble.ENCODING: _("The reply's compression could not be decoded."),
    Trouble.HEADERS: _("The reply had more headers than the limit."),
    Trouble.WEB_PAGE: _("The server returned a web page instead of a model's reply."),
    Trouble.LOADING: _("The server was still loading its model."),
    Trouble.CONTEXT: _("The prompt is longer than the model's context window."),
    Trouble.ABANDONED: _("The run no longer needed the reply, so the connection was closed."),
}
_ADVICE_BY_TROUBLE: dict[str, str] = {
    Trouble.REDIRECT: _(
        "Ask an administrator to enter the new address, if texts may be sent there, or to fix the "
        "redirect. Then resume the run."
    ),
    Trouble.ADDRESS: _(
        "Ask an administrator to check the IP address of the endpoint's host. Then resume the run."
    ),
    Trouble.CERTIFICATE: _(
        "Ask an administrator to renew the certificate, or to point the workers' SSL_CERT_FILE at its certificate "
        "authority. Then resume the run."
    ),
    Trouble.TLS: _(
        "Ask an administrator to check whether the server supports https:// at this port. Then resume "
        "the run."
    ),
    Trouble.PROXY: _(
        "Ask an administrator to check SCRIPTSMITH_MODEL_PROXY and the proxy's rules. Then resume the "
        "run."
    ),
    Trouble.TOO_LARGE: _(
        "Request a smaller task. If you expect such replies, ask an administrator to raise "
        "SCRIPTSMITH_MOST_REPLY_BYTES."
    ),
    Trouble.ENCODING: _(
        "Ask an administrator to check that no proxy between ScriptSmith and the model changes replies."
    ),
    Trouble.HEADERS: _(
        "Ask an administrator to check the endpoint's address. Model servers send few headers, so this "
        "is probably another server."
    ),
    Trouble.WEB_PAGE: _(
        "Ask an administrator to check the endpoint's address. The server returns a web page, perhaps a sign-in page."
    ),
    Trouble.CONTEXT: _(
        "Shorten the context of the request, or ask an administrator to increase the server's context "
        "size (SCRIPTSMITH_LOCAL_MODEL_CONTEXT for a local model)."
    ),
}
# Failures after a reply arrived or started.
_REPLIED = (Trouble.TOO_LARGE, Trouble.ENCODING, Trouble.HEADERS)
_DOUBTS: dict[str, str] = {
    UsageDoubt.NOT_REPORTED: _(
        "The server did not report the tokens, so tokens and cost are not counted."
    ),
    UsageDoubt.NOT_BELIEVED: _(
        "The server reported an impossible number of tokens, so tokens and cost are not counted."
    ),
}
_BROKE_OFF = _("The connection broke while the model was replying.")
_NO_MESSAGE = _("The reply could not be read as a message.")

_ADVICE_BY_STATUS: dict[int, str] = {
    400: _(
        "Ask an administrator to compare the endpoint's mode and limits with the server's message below."
    ),
    401: _(
        "Ask an administrator to set the correct key in the endpoint's environment variable and to "
        "restart the workers."
    ),
    403: _(
        "Ask an administrator for a key that may use this model, or choose another model in the configuration."
    ),
    404: _(
        "Ask an administrator to check the endpoint's address and the model's name in the configuration."
    ),
    413: _("Shorten the context, or choose a model that accepts longer requests."),
}
_ADVICE_BY_OUTCOME: dict[str, str] = {
    Outcome.LIMIT: _(
        "Raise the limit or settle the bill with the provider, or choose a configuration with another endpoint."
    ),
    Outcome.TIMEOUT: _(
        "Resume the run later. If this happens often, ask an administrator to increase the endpoint's "
        "timeout."
    ),
    Outcome.UNREACHABLE: _(
        "Ask an administrator to check that the server is running and that the endpoint's address is "
        "correct."
    ),
}
_RESUME_LATER = _("Resume the run later, or choose another configuration.")
_NOTHING_TO_DO = _("No action is needed.")

# Reasons why a reply contained no script.
_BY_READING: dict[str, str] = {
    ReadingOutcome.REFUSED: _("The model refused to write this script."),
    ReadingOutcome.TRUNCATED: _("The model's reply was truncated."),
    ReadingOutcome.EMPTY: _("The model's reply was empty."),
    ReadingOutcome.UNPARSED: _("The model's reply contained no readable script."),
    ReadingOutcome.CONFLICT: _("The model's reply contradicts itself."),
}
_ADVICE_BY_READING: dict[str, str] = {
    ReadingOutcome.REFUSED: _("Rephrase the task and say why it's needed, or try another model."),
    ReadingOutcome.TRUNCATED: _(
        "Request a smaller task, or allow longer replies in the configuration."
    ),
}
_ANOTHER_MODEL = _("Rephrase the task, or try another model.")


def explain_trouble(word: str) -> str:
    """Explain a transport error and what a user can do. Return an empty string for other errors."""
    if word not in _BY_TROUBLE or word not in _ADVICE_BY_TROUBLE:
        return ""
    return f"{gettext(_BY_TROUBLE[word])} {gettext(_ADVICE_BY_TROUBLE[word])}"


def failure_of(run: Run) -> Failure | None:
    """Explain why the run failed or is waiting, or return None. Uses at most three queries."""
    if run.state == Run.State.FAILED:
        return _failure_of_failed(run)
    if not run.is_active or run.not_before is None or run.not_before <= timezone.now():
        return None
    tries = Attempt.objects.filter(call__run=run).select_related("call__endpoint")
    last = tries.order_by("-pk").first()
    if last is None or last.outcome not in _KEPT_WAITING or last.error_type == Trouble.LOADING:
        return None
    return explain_attempts([last], run=run)


def explain_attempts(tries: Sequence[Attempt], *, run: Run) -> Failure:
    """Explain the attempts of the call that stopped the run."""
    last = tries[-1]
    return Failure(
        happened=describe_attempt(last),
        done=_say_what_was_done(tries, run=run),
        advice=_advise(last, run=run),
        evidence=run.problem or _evidence_of(last),
    )


def explain_reading(outcome: str, *, asked_again: bool, evidence: str = "") -> Failure:
    """Explain a reply that contained no script."""
    done = gettext("No script was stored.")
    if asked_again:
        again = gettext("A second attempt failed too.")
        done = f"{again} {done}"
    return Failure(
        happened=gettext(_BY_READING.get(outcome, _BY_READING[ReadingOutcome.UNPARSED])),
        done=done,
        advice=gettext(_ADVICE_BY_READING.get(outcome, _ANOTHER_MODEL)),
        evidence=evidence,
    )


def describe_attempt(attempt: Attempt) -> str:
    """Describe how an attempt ended in one sentence."""
    outcome = attempt.outcome
    if outcome == Outcome.ANSWERED and attempt.error_type in _DOUBTS:
        return gettext(_DOUBTS[attempt.error_type])
    if attempt.error_type in _BY_TROUBLE:
        return gettext(_BY_TROUBLE[attempt.error_type])
    if _broke_off(attempt):
        return gettext(_BROKE_OFF)
    if outcome == Outcome.BROKEN and attempt.http_status is None:
        return gettext(_NO_MESSAGE)
    by_status = _BY_STATUS.get(attempt.http_status or 0)
    # A spend limit uses statuses that otherwise have a different meaning.
    if by_status and (outcome != Outcome.LIMIT or attempt.http_status == 402):
        return gettext(by_status)
    return gettext(_BY_OUTCOME[outcome]) if outcome in _BY_OUTCOME else ""


def _failure_of_failed(run: Run) -> Failure:
    failed = run.calls.filter(state=ModelCall.State.FAILED).select_related("endpoint")
    call = failed.order_by("-ended_at").first()
    tries = list(call.attempts.order_by("pk")) if call else []
    if tries:
        return explain_attempts(tries, run=run)
    if run.crashes >= MAX_CRASHES:
        return _explain_crashes(run)
    last = run.calls.filter(state=ModelCall.State.DONE).order_by("-created_at").first()
    if last and last.outcome not in ("", ReadingOutcome.READ):
        return explain_reading(last.outcome, asked_again=last.sample > 0, evidence=run.problem)
    return Failure(run.problem, "", gettext("Fix the problem above, then resume the run."))


def _explain_crashes(run: Run) -> Failure:
    done = gettext("The run was resumed each time.")
    asked = Endpoint.objects.filter(pk__in={role["endpoint_id"] for role in run.roles.values()})
    if any(may_bill(endpoint) for endpoint in asked):
        done = f"{done} {gettext('Calls in progress may have been billed.')}"
    return Failure(
        happened=gettext("The worker crashed %s times in a row during this run.") % MAX_CRASHES,
        done=done,
        advice=gettext("Ask an administrator to check the workers' log before you resume the run."),
        evidence=run.problem,
    )


def _say_what_was_done(tries: Sequence[Attempt], *, run: Run) -> str:
    if run.is_active:
        said = gettext(
            "The endpoint is paused. The run continues automatically and does not occupy a worker."
        )
    elif len(tries) > 1:
        said = ngettext("%s attempt.", "%s attempts.", len(tries)) % len(tries)
    else:
        said = gettext("The call was not retried, because a retry would not have helped.")
    if tries[-1].call_id and not may_bill(tries[-1].call.endpoint):
        return said
    if any(attempt.possibly_billed for attempt in tries):
        if tries[-1].error_type in _REPLIED:
            return f"{said} {gettext('The unusable reply was billed if the server charges for calls.')}"
        return f"{said} {gettext('The call may have been billed despite the missing reply.')}"
    return f"{said} {gettext('The call was not billed.')}"


def _advise(attempt: Attempt, *, run: Run) -> str:
    if run.is_active and attempt.outcome != Outcome.LIMIT:
        return gettext(_NOTHING_TO_DO)
    if attempt.error_type in _ADVICE_BY_TROUBLE:
        found = _ADVICE_BY_TROUBLE[attempt.error_type]
    elif _broke_off(attempt):
        found = _RESUME_LATER
    elif attempt.outcome == Outcome.REFUSED:
        found = _ADVICE_BY_STATUS.get(attempt.http_status or 0, _ADVICE_BY_STATUS[400])
    else:
        found = _ADVICE_BY_OUTCOME.get(attempt.outcome, _RESUME_LATER)
    return gettext(found)


def _broke_off(attempt: Attempt) -> bool:
    """Return whether the connection broke, which the ledger stores like a missing reply."""
    return attempt.outcome == Outcome.TIMEOUT and bool(attempt.error_type)


def _evidence_of(attempt: Attempt) -> str:
    status = f" (HTTP {attempt.http_status})" if attempt.http_status else ""
    return f"{attempt.message}{status}"
