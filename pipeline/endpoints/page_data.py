"""Data for the endpoint page, with the findings of its check as text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from core.web.requests import signed_in
from pipeline.clients.destinations import is_loopback, leaves_machine, may_bill
from pipeline.clients.endpoint_keys import has_key, why_key_is_not_read
from pipeline.costs.pricing import cost_of
from pipeline.endpoints.check_requests import (
    TRY_STATEMENT,
    CheckState,
    asked_at,
    check_state,
    models_known_of,
)
from pipeline.endpoints.forms import CheckForm, PriceForm, SwitchOnForm
from pipeline.endpoints.places import holders_of
from pipeline.endpoints.prices import prices_of
from pipeline.endpoints.services import configurations_of, on_by_setting
from pipeline.ledger.failures import explain_trouble
from pipeline.llm.addresses import goes_by_proxy
from pipeline.llm.probe import MAX_TOKENS, MOST_CALLS
from pipeline.llm.probe_findings import Has, KeyFound, Outcome
from pipeline.llm.types import FailureKind, Usage
from pipeline.message_batches.services import requests_in_batches
from pipeline.models import Endpoint
from pipeline.types import Mode


@dataclass(frozen=True)
class ShownEndpoint:
    """An endpoint and its state, as shown on pages."""

    endpoint: Endpoint
    has_key: bool
    on_by_setting: bool
    rests: bool
    stays_here: bool
    is_readable_on_the_way: bool
    host: str
    check: CheckState
    wrong_mode: str  # the mode that the last check recommends, if it differs
    rests_for_key: str  # why the endpoint's key may not be read
    proxy: str  # host of the proxy; empty without a proxy


@dataclass(frozen=True)
class ShownMode:
    """The result of checking a mode, for the page."""

    label: str
    words: str
    tone: str
    icon: str
    detail: str
    milliseconds: int | None
    in_use: bool


@dataclass(frozen=True)
class ShownCheck:
    """The last check, for the page. `problem` says what to do if no mode was found."""

    state: CheckState
    asked_at: datetime | None
    found: dict[str, object]
    modes: list[ShownMode]
    problem: str
    key: str
    batches: str
    count_tokens: str
    is_listed: bool
    input_tokens: int
    output_tokens: int
    cost: int | None  # micro-dollars; None if no price is known

    @property
    def is_under_way(self) -> bool:
        return self.state in (CheckState.WAITING, CheckState.RUNNING)


def show_endpoint(endpoint: Endpoint) -> ShownEndpoint:
    """Return the data for a row in the list and for the page header."""
    blocked = endpoint.blocked_until
    recommended = str(endpoint.probe.get("recommended") or "")
    proxy = settings.SCRIPTSMITH_MODEL_PROXY
    by_proxy = not endpoint.is_built_in and goes_by_proxy(endpoint.base_url, proxy)
    return ShownEndpoint(
        endpoint=endpoint,
        has_key=has_key(endpoint),
        on_by_setting=on_by_setting(endpoint),
        rests=bool(why_key_is_not_read(endpoint))
        or (blocked is not None and blocked > timezone.now()),
        stays_here=not leaves_machine(endpoint),
        is_readable_on_the_way=endpoint.base_url.startswith("http:")
        and not is_loopback(endpoint.base_url),
        host=urlsplit(endpoint.base_url).netloc,
        check=check_state(endpoint),
        wrong_mode=recommended if recommended != endpoint.mode else "",
        rests_for_key=why_key_is_not_read(endpoint),
        proxy=urlsplit(proxy).netloc.rpartition("@")[2] if by_proxy else "",
    )


def show_page(
    request: HttpRequest,
    endpoint: Endpoint,
    *,
    refusal: str = "",
    check: CheckForm | None = None,
    price: PriceForm | None = None,
    switch: SwitchOnForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render an endpoint's page. Rejected forms keep the typed values."""
    context = describe_check(endpoint, signed_in(request), form=check) | {
        "nav_section": "admin",
        "refusal": refusal,
        "prices": prices_of(endpoint),
        "price_form": price or PriceForm(),
        "switch_form": switch or SwitchOnForm(),
        "users": configurations_of(endpoint),
        "in_batches": requests_in_batches(endpoint),
    }
    return render(request, "pipeline/endpoints/detail.html", context, status=status)


def describe_check(
    endpoint: Endpoint, user: User, *, form: CheckForm | None = None
) -> dict[str, object]:
    """Return the data for the live part of the page."""
    check = show_check(endpoint)
    return {
        "shown": show_endpoint(endpoint),
        "endpoint": endpoint,
        "check": check,
        "holders": holders_of(endpoint, user) if check.is_under_way else [],
        "check_form": form or CheckForm(),
        "models": models_known_of(endpoint),
        "most_calls": MOST_CALLS,
        "may_bill": may_bill(endpoint),
        "try_statement": TRY_STATEMENT,
        "most_tokens": MAX_TOKENS,
    }


def show_check(endpoint: Endpoint) -> ShownCheck:
    """Return the last check and the check in progress."""
    found = endpoint.probe
    modes = [one for one in found.get("modes", []) if isinstance(one, dict)]
    tokens = Usage(
        input=sum(one["input_tokens"] for one in modes),
        output=sum(one["output_tokens"] for one in modes),
    )
    return ShownCheck(
        state=check_state(endpoint),
        asked_at=asked_at(endpoint),
        found=found,
        modes=[_show_mode(one, endpoint) for one in modes],
        problem=_say_problem(endpoint, modes) if not found.get("recommended") else "",
        key=_say_key(endpoint),
        batches=_say_has(found.get("batches")),
        count_tokens=_say_has(found.get("count_tokens")),
        is_listed=found.get("model") in found.get("models", []),
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cost=_cost(endpoint, str(found.get("model", "")), tokens),
    )


def _show_mode(found: dict[str, object], endpoint: Endpoint) -> ShownMode:
    mode, outcome = Mode(str(found["mode"])), Outcome(str(found["outcome"]))
    said = {
        Outcome.REAL: (_("works") if mode is Mode.TEXT else _("works"), "verdigris", "check"),
        Outcome.IGNORED: (_("ignored"), "straw", "warning"),
        Outcome.REFUSED: (_("refused"), "", "x"),
        Outcome.UNCLEAR: (_("unclear"), "straw", "question"),
        Outcome.FAILED: (_("no reply"), "crimson", "failed"),
        Outcome.NOT_ASKED: (_("not checked"), "", "skipped"),
    }
    words, tone, icon = said[outcome]
    milliseconds = found.get("milliseconds")
    return ShownMode(
        label=mode.label,
        words=words,
        tone=tone,
        icon=icon,
        detail=_say_detail(str(found.get("detail", ""))),
        milliseconds=milliseconds if isinstance(milliseconds, int) else None,
        in_use=mode.value == endpoint.mode,
    )


def _say_detail(detail: str) -> str:
    return {
        "truncated": _("The reply was truncated before the answer started."),
        "empty": _("The reply was empty."),
        "refused": _("The model declined to answer."),
    }.get(detail, detail)


def _say_problem(endpoint: Endpoint, modes: list[dict[str, object]]) -> str:
    """Explain why no mode was found and what to do. Return an empty string if the endpoint was never checked."""
    problem = str(endpoint.probe.get("problem", ""))
    if not endpoint.probed_at or not problem and not modes:
        return ""
    if problem == "no key":
        return _(
            "%(name)s is not set in the worker's environment. Set it, restart the worker and check "
            "again."
        ) % {"name": endpoint.key_variable}
    if problem == "no model":
        return _("Enter a model. Neither the server nor a configuration names one.")
    if problem == "broken":
        return _("The check failed with an internal error. See the worker's log.")
    if why_key_is_not_read(endpoint):
        return problem
    if said := explain_trouble(problem):
        return said
    if endpoint.probe.get("reachable") is False and modes:
        return _(
            "The server at %(address)s stopped answering during the check. Start it, then check again."
        ) % {"address": endpoint.base_url}
    if endpoint.probe.get("reachable") is False:
        return _("No server responds at %(address)s. Check that the server is running.") % {
            "address": endpoint.base_url
        }
    if endpoint.probe.get("key") == KeyFound.REFUSED and not endpoint.key_variable:
        return _(
            "The server requires a key, but this endpoint has none. Set the key as an environment "
            "variable of the web server and the worker, and enter the variable's name under "
            "“Edit”. The modes were not checked."
        )
    if endpoint.probe.get("key") == KeyFound.REFUSED:
        return _("The server rejected the key. Check the key in the worker's environment.")
    if any(one.get("failure") == FailureKind.TIMEOUT for one in modes):
        return _(
            "The server did not complete a reply within %(seconds)s seconds. It may be loading a model "
            "or busy with runs. Check again later or increase the timeout."
        ) % {"seconds": endpoint.timeout_seconds}
    return _say_status([one.get("http_status") for one in modes])


def _say_status(statuses: list[object]) -> str:
    last = next((status for status in reversed(statuses) if status), None)
    if last in (401, 403):
        return _("The server rejected the key. Check the key in the worker's environment.")
    if last == 402:
        return _("The account has reached its spend limit. Raise the limit at the provider.")
    if last == 404:
        return _(
            "The server returned 404. The model does not exist, or this address has no Messages API."
        )
    if last in (429, 503, 529):
        return _("The server is busy. Check again later.")
    return _("The model returned no readable reply.")


def _say_key(endpoint: Endpoint) -> str:
    if endpoint.probe.get("key") == KeyFound.REFUSED:
        return _("refused")
    if endpoint.probe.get("key") != KeyFound.ACCEPTED:
        return _("unknown")
    return _("accepted") if endpoint.key_variable else _("none needed")


def _say_has(value: object) -> str:
    return {Has.YES: _("yes"), Has.NO: _("no")}.get(Has(str(value or "unknown")), _("unknown"))


def _cost(endpoint: Endpoint, model: str, tokens: Usage) -> int | None:
    today = timezone.now().date()
    dated = [one for one in endpoint.prices.all() if one.model == model and one.since <= today]
    return cost_of(tokens, max(dated, key=lambda one: one.since)) if dated else None
