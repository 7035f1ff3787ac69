"""Explain failed model calls: what happened, how the product reacted and what the user can do.

The texts follow from the Attempt's row and the run's state. The server's message is shown next to them as evidence.
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
# Reasons for which an endpoint pauses and its runs wait.
_KEPT_WAITING = (Outcome.BUSY, Outcome.LIMIT, Outcome.UNREACHABLE)


@dataclass(frozen=True)
class Failure:
    """Three short texts, and the technical terms behind them."""

    happened: str
    done: str
    advice: str
    evidence: str = ""


_BY_STATUS: dict[int, str] = {
    400: _("The server refused the request as it was put."),
    401: _("The server did not accept the key."),
    402: _("The account of this endpoint can't pay at present."),
    403: _("The key may not be used for this."),
    404: _("The server knows no such model, or nothing answers at this address."),
    413: _("The request was too large for the server."),
    429: _("The server had too many requests."),
    502: _("Something between here and the model gave no proper answer."),
    503: _("The server was not available."),
    504: _("Something between here and the model gave up waiting for it."),
    529: _("The model's servers were overloaded."),
}
_BY_OUTCOME: dict[str, str] = {
    Outcome.ANSWERED: _("The model answered."),
    Outcome.BUSY: _("The server was busy."),
    Outcome.LIMIT: _("A spend limit of the account is reached."),
    Outcome.REFUSED: _("The server refused the request."),
    Outcome.BROKEN: _("The server failed while it answered."),
    Outcome.TIMEOUT: _("The model took too long to answer."),
    Outcome.UNREACHABLE: _("No connection to the server could be made."),
    Outcome.ORPHANED: _("The worker was lost while the model was answering."),
    Outcome.EXPIRED: _("The message batch expired before the request was answered."),
    Outcome.CANCELLED: _("The request was taken back with its message batch."),
}
# Errors before the server could answer, or after it had sent too much.
_BY_TROUBLE: dict[str, str] = {
    Trouble.REDIRECT: _("The server sent the request on to another address, which was not asked."),
    Trouble.ADDRESS: _("The endpoint's address leads where no model is asked."),
    Trouble.CERTIFICATE: _("The server's certificate is not accepted, so nothing was sent."),
    Trouble.TLS: _("No encrypted connection to the server could be made."),
    Trouble.PROXY: _("The proxy did not connect to the server."),
    Trouble.TOO_LARGE: _("The reply was larger than the limit."),
    Trouble.ENCODING: _("The reply's compression could not be decoded."),
    Trouble.HEADERS: _("The reply had more headers than the limit."),
    Trouble.WEB_PAGE: _("A web page came back where a model should answer."),
    Trouble.LOADING: _("The server was still loading its model."),
    Trouble.CONTEXT: _("The prompt has more tokens than the model's context."),
    Trouble.ABANDONED: _("Nobody waited for the reply any more, so the connection was closed."),
}
_ADVICE_BY_TROUBLE: dict[str, str] = {
    Trouble.REDIRECT: _(
        "Ask an administrator to enter the address to which the server redirects, if texts may go there, "
        "or to correct the redirect; then resume the run."
    ),
    Trouble.ADDRESS: _(
        "Ask an administrator to check where the endpoint's host name leads; then resume the run."
    ),
    Trouble.CERTIFICATE: _(
        "Ask an administrator to renew the certificate, or to set SSL_CERT_FILE for the workers to "
        "its authority; then resume the run."
    ),
    Trouble.TLS: _(
        "Ask an administrator to check whether the server speaks https:// at this port; "
        "then resume the run."
    ),
    Trouble.PROXY: _(
        "Ask an administrator to check SCRIPTSMITH_MODEL_PROXY and what the proxy allows; "
        "then resume the run."
    ),
    Trouble.TOO_LARGE: _(
        "Ask for less at once. If such replies are expected, ask an administrator to raise "
        "SCRIPTSMITH_MOST_REPLY_BYTES."
    ),
    Trouble.ENCODING: _(
        "Ask an administrator to have any proxy between ScriptSmith and the model pass replies unchanged."
    ),
    Trouble.HEADERS: _(
        "Ask an administrator to check what answers at the endpoint's address: model servers send few headers."
    ),
    Trouble.WEB_PAGE: _(
        "Ask an administrator to check the endpoint's address: a page for people answers there, perhaps a sign-in page."
    ),
    Trouble.CONTEXT: _(
        "Shorten the context of the request, or ask an administrator to raise the context size of the server: for a "
        "local model, SCRIPTSMITH_LOCAL_MODEL_CONTEXT."
    ),
}
# Failures after a reply arrived or started.
_REPLIED = (Trouble.TOO_LARGE, Trouble.ENCODING, Trouble.HEADERS)
_DOUBTS: dict[str, str] = {
    UsageDoubt.NOT_REPORTED: _(
        "The server did not report the tokens: neither they nor the cost are counted."
    ),
    UsageDoubt.NOT_BELIEVED: _(
        "The server reported an impossible number of tokens: neither tokens nor cost are counted."
    ),
}
_BROKE_OFF = _("The connection broke while the model was answering.")
_NO_MESSAGE = _("The reply could not be read as a message.")

_ADVICE_BY_STATUS: dict[int, str] = {
    400: _(
        "Ask an administrator to compare the endpoint's mode and limits with the server's message below."
    ),
    401: _(
        "Ask an administrator to set the right key in the endpoint's environment variable and to restart the workers."
    ),
    403: _(
        "Ask an administrator for a key that may use this model, or choose another model in the configuration."
    ),
    404: _(
        "Ask an administrator to check the endpoint's address and the model's name in the configuration."
    ),
    413: _("Ask again with less context, or choose a model that takes more."),
}
_ADVICE_BY_OUTCOME: dict[str, str] = {
    Outcome.LIMIT: _(
        "Raise the limit or pay at the provider, or run it with a configuration of another endpoint."
    ),
    Outcome.TIMEOUT: _(
        "Resume the run later. If it happens often, ask an administrator to allow the endpoint more time."
    ),
    Outcome.UNREACHABLE: _(
        "Ask an administrator to check that the server runs and that the endpoint's address is right."
    ),
}
_RESUME_LATER = _("Resume the run later, or run it with another configuration.")
_NOTHING_TO_DO = _("Nothing has to be done.")

# Why a reply contained no script.
_BY_READING: dict[str, str] = {
    ReadingOutcome.REFUSED: _("The model refused to write this script."),
    ReadingOutcome.TRUNCATED: _("The model's reply was cut short."),
    ReadingOutcome.EMPTY: _("The model answered with nothing."),
    ReadingOutcome.UNPARSED: _("No script could be read from the model's reply."),
    ReadingOutcome.CONFLICT: _("The model's reply contradicts itself."),
}
_ADVICE_BY_READING: dict[str, str] = {
    ReadingOutcome.REFUSED: _(
        "Say in other words what is to be done and what for, or run it with another model."
    ),
    ReadingOutcome.TRUNCATED: _(
        "Ask for less at once, or allow longer replies in the configuration."
    ),
}
_ANOTHER_MODEL = _("Say it in other words, or run it with another model.")


def explain_trouble(word: str) -> str:
    """Explain a transport error and what a user can do; empty for other errors."""
    if word not in _BY_TROUBLE or word not in _ADVICE_BY_TROUBLE:
        return ""
    return f"{gettext(_BY_TROUBLE[word])} {gettext(_ADVICE_BY_TROUBLE[word])}"


def failure_of(run: Run) -> Failure | None:
    """Return why the run failed or what it waits for, or None. At most three queries."""
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
    done = gettext("No script was made of it.")
    if asked_again:
        again = gettext("It was asked again, once, and the second reply was no better.")
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
    # A spend limit uses statuses that otherwise mean something else.
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
    done = gettext("It was resumed each time.")
    asked = Endpoint.objects.filter(pk__in={role["endpoint_id"] for role in run.roles.values()})
    if any(may_bill(endpoint) for endpoint in asked):
        done = f"{done} {gettext('Calls in flight may have been billed.')}"
    return Failure(
        happened=gettext("The worker died %s times in a row over this run.") % MAX_CRASHES,
        done=done,
        advice=gettext("Ask an administrator to check the workers' log before you resume it."),
        evidence=run.problem,
    )


def _say_what_was_done(tries: Sequence[Attempt], *, run: Run) -> str:
    if run.is_active:
        said = gettext("The endpoint rests; the run goes on by itself and keeps no worker.")
    elif len(tries) > 1:
        said = ngettext("It was tried %s time.", "It was tried %s times.", len(tries)) % len(tries)
    else:
        said = gettext("It was not tried again: that would have changed nothing.")
    if tries[-1].call_id and not may_bill(tries[-1].call.endpoint):
        return said
    if any(attempt.possibly_billed for attempt in tries):
        if tries[-1].error_type in _REPLIED:
            return f"{said} {gettext('A server that bills has billed it, though its reply is of no use.')}"
        return f"{said} {gettext('It may have been billed although no reply came.')}"
    return f"{said} {gettext('Nothing was billed for it.')}"


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
    """Return whether the connection broke; the ledger stores this like a missing reply."""
    return attempt.outcome == Outcome.TIMEOUT and bool(attempt.error_type)


def _evidence_of(attempt: Attempt) -> str:
    status = f" (HTTP {attempt.http_status})" if attempt.http_status else ""
    return f"{attempt.message}{status}"
