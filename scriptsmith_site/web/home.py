"""The home page: waiting work for each of the user's roles, the user's requests, and a request field.

Everything except the field is updated automatically. The page polls for changes to its live part and gets an empty
response if nothing has changed. Expensive counts are computed when the page is opened, and then cached for a minute for
all users.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from catalog import services as catalog
from core.web.requests import signed_in, wants_fragment
from pipeline import services as pipeline
from pipeline.access import access_actions
from pipeline.actions.forms import AskForm
from pipeline.configurations.services import usable_configurations
from pipeline.costs.services import CostQuery, read_costs
from pipeline.models import Action
from review import services as review
from review.models import Flag, SentBack
from scriptsmith_site.integrations.alerts.access import may_see_incidents
from scriptsmith_site.integrations.alerts.services.incident_page import open_incidents
from scriptsmith_site.operation import work
from scriptsmith_site.operation.health import Health
from scriptsmith_site.operation.status import describe_parts
from scriptsmith_site.people.roles import ADMINISTER
from scriptsmith_site.web.template_context import keep_in_studies

_SHOWN = 8
_MOST_CARDS = 6
_SECONDS_KEPT = 60
_MOST_INCIDENTS = 5
Found = TypeVar("Found")
# Parts that differ in every response although nothing has changed: relative times and form tokens.
_NO_NEWS = re.compile(r"<time[^>]*>[^<]*</time>|<input[^>]*csrfmiddlewaretoken[^>]*>")


@require_GET
@vary_on_headers("HX-Request")
def home(request: HttpRequest) -> HttpResponse:
    """Show the page or its live part. Return 204 if the live part has not changed."""
    user = signed_in(request)
    follows = wants_fragment(request)
    described = describe_home(user, is_fresh=not follows)
    live = SafeString(render_to_string("site/home/_live.html", described, request))
    seen = hashlib.sha256(_NO_NEWS.sub("", live).encode()).hexdigest()[:16]
    context: dict[str, object] = {"live": live, "seen": seen, "may_ask": described["may_ask"]}
    if follows:
        if request.GET.get("seen") == seen:
            return HttpResponse(status=204)
        return render(request, "site/home/_follow.html", context)
    if context["may_ask"]:
        context["form"] = AskForm(configurations=usable_configurations())
    return render(request, "site/home.html", context)


def describe_home(user: User, *, is_fresh: bool = True) -> dict[str, object]:
    """Return the context for each of the user's roles, with a fixed number of queries per role.

    Unless `is_fresh` is set, expensive counts may be a minute old.
    """
    roles = {
        "may_review": user.has_perm("review.review"),
        "may_manage": user.has_perm("review.manage_campaigns"),
        "may_curate": user.has_perm("catalog.curate"),
        "may_administer": user.has_perm(ADMINISTER),
    }
    # Statements imported into a campaign are not the user's requests.
    asked = access_actions(user).filter(asked_by=user).exclude(source=Action.Source.IMPORTED)
    rows = pipeline.action_rows(asked.order_by("-pk")[:_SHOWN], user)
    # The key includes the shown rows, so that the count is computed again if one of them changes.
    looks = hash(
        tuple(
            (row.action.pk, row.answer.status, row.answer.is_unread) for row in rows if row.answer
        )
    )
    context: dict[str, object] = {
        **roles,
        "may_ask": user.has_perm("pipeline.ask"),
        "rows": rows,
        "news": _kept(
            f"news-{user.pk}-{looks}", lambda: len(pipeline.news_of(user)), is_fresh=is_fresh
        ),
        "most_news": pipeline.MOST_NEWS,
        "warnings": catalog.warnings_for(user),
    }
    if may_see_incidents(user):
        context |= open_incidents(most=_MOST_INCIDENTS)
    if roles["may_review"]:
        context |= _describe_reviewing(user)
    if roles["may_manage"]:
        context["cards"] = _kept(
            "cards", lambda: review.read_cards(most=_MOST_CARDS), is_fresh=is_fresh
        )
        context["flags"] = Flag.objects.filter(
            resolved_at=None, item__campaign__kind="live"
        ).select_related("item__run__action", "by")[:_SHOWN]
    if roles["may_curate"]:
        context["in_review"] = catalog.waiting_to_verify(user)[:_SHOWN]
        context["wordings"] = catalog.waiting_to_confirm(user)[:_SHOWN]
        context["backlog"] = _kept(
            "backlog", lambda: catalog.read_curation_backlog(most=_SHOWN), is_fresh=is_fresh
        )
    if roles["may_administer"]:
        context |= _kept("operation", lambda: _describe_operation(user), is_fresh=is_fresh)
    return context


def _kept(name: str, count: Callable[[], Found], *, is_fresh: bool) -> Found:
    """Return a cached count that is at most a minute old, or compute it."""
    found: Found | None = None if is_fresh else cache.get(f"home-{name}")
    if found is None:
        found = count()
        cache.set(f"home-{name}", found, _SECONDS_KEPT)
    return found


def _describe_reviewing(user: User) -> dict[str, object]:
    queue = review.live_queue()
    waiting = review.waiting_for(queue, user)
    held = list(review.held_by(user)[:_SHOWN])
    sent_back = set(
        SentBack.objects.filter(assignment__in=held, answered_at=None).values_list(
            "assignment", flat=True
        )
    )
    studies = review.studies_of(user)
    keep_in_studies(user, studies)
    return {
        "waiting": review.count_waiting_for(queue, user),
        "first": waiting.select_related("run__action").order_by(*review.URGENT_FIRST)[:_SHOWN],
        "held": [(one, one.pk in sent_back) for one in held],
        "studies": studies,
        "most": review.MOST_COUNTED,
        "pace": review.own_pace(user),
    }


def _describe_operation(user: User) -> dict[str, object]:
    today = datetime.now(UTC).date()
    spent = read_costs(CostQuery(today.replace(day=1), today), by=user)
    return {
        "troubles": [part for part in describe_parts() if part[1] is not Health.OK],
        "work": work.backlog_now(),
        "workers": work.living_workers().count(),
        "resting": work.endpoints_at_rest(),
        "spent": spent.total,
    }
