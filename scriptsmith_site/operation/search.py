"""One search over everything: catalogue, actions, runs, people; ten of each at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from catalog.services import search_entries
from core.web.requests import signed_in
from pipeline import services as pipeline
from pipeline.access import access_actions, access_runs
from scriptsmith_site.people.roles import ADMINISTER

MOST_OF_A_KIND = 10
LONGEST_QUERY = 500


@dataclass(frozen=True)
class Hit:
    """One line of the answer."""

    words: str
    url: str
    note: str = ""
    action: pipeline.ActionRow | None = None  # with its answer


@dataclass(frozen=True)
class Group:
    """The hits of one kind; `url` leads to all of them, and is empty where there are no more."""

    title: str
    hits: Sequence[Hit]
    url: str


@require_GET
def show_search(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_QUERY]
    groups = search_everything(query, by=signed_in(request)) if query else []
    return render(request, "site/search.html", {"query": query, "groups": groups})


def search_everything(query: str, *, by: User) -> list[Group]:
    """What the person may find, by kind, without empty kinds; a fixed number of queries."""
    groups = [_entries(query), _actions(query, by), _runs(query, by)]
    if by.has_perm(ADMINISTER):
        groups.append(_people(query))
    return [group for group in groups if group.hits]


def _entries(query: str) -> Group:
    found = search_entries(query, limit=MOST_OF_A_KIND).entries
    hits = [Hit(entry.title, reverse("entry-detail", args=[entry.slug])) for entry in found]
    return Group(_("Catalogue"), hits, _all("catalog-list", query))


def _actions(query: str, by: User) -> Group:
    found = access_actions(by).filter(statement__icontains=query)[:MOST_OF_A_KIND]
    hits = [
        Hit(
            row.action.statement,
            reverse("run-detail", args=[row.newest.run.pk])
            if row.newest
            else reverse("action-detail", args=[row.action.pk]),
            action=row,
        )
        for row in pipeline.action_rows(found, by)
    ]
    return Group(_("Actions"), hits, _all("action-list", query))


def _runs(query: str, by: User) -> Group:
    number = query.lower().removeprefix("run").strip().removeprefix("#")
    if not number.isdecimal() or len(number) > 18:
        return Group(_("Runs"), [], "")
    found = access_runs(by).filter(pk=int(number))
    hits = [
        Hit(str(run), reverse("run-detail", args=[run.pk]), run.action.statement) for run in found
    ]
    return Group(_("Runs"), hits, "")


def _people(query: str) -> Group:
    named = Q(username__icontains=query) | Q(first_name__icontains=query)
    found = User.objects.filter(named).order_by("-pk")[:MOST_OF_A_KIND]
    hits = [
        Hit(user.get_username(), reverse("user-detail", args=[user.pk]), user.get_full_name())
        for user in found
    ]
    return Group(_("People"), hits, _all("users", query))


def _all(name: str, query: str) -> str:
    return f"{reverse(name)}?{urlencode({'q': query})}"
