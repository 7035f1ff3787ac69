"""The administration page for agents: setup, active tokens, latest calls, a test, and a pause switch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from core.web.requests import signed_in
from core.web.site_address import site_url
from pipeline.services import MAX_STATEMENT
from scriptsmith_site.integrations.agents import pause, protocol
from scriptsmith_site.integrations.agents.caller import Caller, Scope
from scriptsmith_site.integrations.agents.calls import last_calls, live_tokens
from scriptsmith_site.models import AgentPause
from scriptsmith_site.people.services import require_administrator


class TestForm(forms.Form):
    statement = forms.CharField(
        label=gettext_lazy("Task to search for"),
        max_length=MAX_STATEMENT,
        initial="restart nginx if its configuration is valid",
    )


class Step(NamedTuple):
    """One message of the test and its response."""

    method: str
    works: bool
    answer: str


@require_GET
def show_agents(request: HttpRequest) -> HttpResponse:
    """Show the connection settings and the latest calls of agents."""
    require_administrator(signed_in(request))
    return _render(request, TestForm())


@require_POST
def test_agents(request: HttpRequest) -> HttpResponse:
    """Simulate an agent that connects and searches for a script, and show the responses."""
    user = signed_in(request)
    require_administrator(user)
    form = TestForm(request.POST)
    steps = _carry_out(user, request, form.cleaned_data["statement"]) if form.is_valid() else []
    return _render(request, form, steps=steps)


@require_POST
def pause_agents(request: HttpRequest) -> HttpResponse:
    pause.pause(by=signed_in(request))
    messages.success(request, _("Agents paused. They receive no results until you resume them."))
    return redirect("agents")


@require_POST
def resume_agents(request: HttpRequest) -> HttpResponse:
    pause.resume(by=signed_in(request))
    messages.success(request, _("Agents resumed."))
    return redirect("agents")


def _render(
    request: HttpRequest, form: TestForm, *, steps: list[Step] | None = None
) -> HttpResponse:
    address = site_url(reverse("mcp"), request)
    calls = last_calls()
    context = {
        "nav_section": "admin",
        "address": address,
        "example": _example(address),
        "client_address": reverse("client-script"),
        "tokens": live_tokens().select_related("user").order_by("-pk")[:100],
        "calls": calls,
        "last_answered": next((one for one in calls if not one.was_refused), None),
        "last_refused": next((one for one in calls if one.was_refused), None),
        "pause": AgentPause.objects.select_related("by").first(),
        "form": form,
        "steps": steps,
        "limits": (
            settings.SCRIPTSMITH_AGENT_CALLS_PER_MINUTE,
            settings.SCRIPTSMITH_AGENT_REPORTS_PER_HOUR,
            settings.SCRIPTSMITH_AGENT_REQUESTS_PER_DAY,
        ),
    }
    status = 422 if form.errors else 200
    return render(request, "integrations/agents.html", context, status=status)


def _example(address: str) -> str:
    """Return example settings for an MCP client."""
    server = {
        "type": "http",
        "url": address,
        "headers": {"Authorization": "Bearer ${SCRIPTSMITH_TOKEN}"},
    }
    return json.dumps({"mcpServers": {"scriptsmith": server}}, indent=2)


def _carry_out(user: User, request: HttpRequest, statement: str) -> list[Step]:
    scopes = frozenset({str(Scope.AGENT_READ)})
    caller = Caller(user, scopes, "test", user, partial(site_url, request=request))
    asked = {"name": "find_script", "arguments": {"statement": statement, "limit": 3}}
    return [
        _step("initialize", {"protocolVersion": protocol.VERSIONS[0]}, caller),
        _step("tools/list", {}, caller),
        _step("tools/call", asked, caller),
    ]


def _step(method: str, params: Mapping[str, object], caller: Caller) -> Step:
    try:
        result = protocol.answer(protocol.Message(method, params, 1), caller) or {}
    except protocol.Problem as problem:
        return Step(method, False, str(problem))
    if method == "tools/list":
        tools = cast("list[dict[str, str]]", result["tools"])
        return Step(method, bool(tools), ", ".join(tool["name"] for tool in tools))
    shown = result.get("structuredContent", result)
    return Step(method, not result.get("isError"), json.dumps(shown, indent=2, ensure_ascii=False))
