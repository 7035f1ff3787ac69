"""The global search: a few results each from the catalogue, actions, runs, campaigns, users, pages and commands.

Users find only data that the pages would show them. A run is shown with the state that the user may see.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from catalog.services import line_with, search_entries, show_entries
from core.database.words import has_every_word
from core.errors import BadInput
from core.web.requests import signed_in, wants_fragment
from pipeline import services as pipeline
from pipeline.access import access_actions, access_runs, with_shown_state
from review.access import MANAGE_CAMPAIGNS, access_campaigns
from review.services import REVIEW, studies_under_way
from scriptsmith_site.people.roles import ADMINISTER
from scriptsmith_site.web.navigation import COMMANDS, LINKS

MOST_OF_A_KIND = 10
MOST_WHILE_TYPING = 5
LONGEST_QUERY = 500
AROUND = 60  # characters before the match in a long statement


@dataclass(frozen=True)
class Hit:
    """One result. `line` is the matching line, if the title does not show the match."""

    words: str
    url: str
    note: str = ""
    line: str = ""
    verified: str = ""  # state of the version
    risk: str = ""
    run: str = ""  # state of the run
    action: pipeline.ActionRow | None = None  # the request and its state


@dataclass(frozen=True)
class Group:
    """The results of one kind. `url` is the page that lists all of them, or empty."""

    title: str
    hits: Sequence[Hit]
    url: str


@require_GET
@vary_on_headers("HX-Request")
def show_search(request: HttpRequest) -> HttpResponse:
    """Show the search page, or only the results while the user types."""
    query = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_QUERY]
    is_typing = wants_fragment(request)
    most = MOST_WHILE_TYPING if is_typing else MOST_OF_A_KIND
    groups = search_everything(query, by=signed_in(request), most=most) if query else []
    template = "site/_found.html" if is_typing else "site/search.html"
    return render(request, template, {"query": query, "groups": groups})


def search_everything(query: str, *, by: User, most: int = MOST_OF_A_KIND) -> list[Group]:
    """Return the results that the user may see, grouped by kind, without empty groups.

    The number of queries is fixed.
    """
    groups = [
        _pages(query, by, most),
        _entries(query, most),
        _actions(query, by, most),
        _runs(query, by),
        _studies(query, by, most),
    ]
    if by.has_perm(MANAGE_CAMPAIGNS):
        groups.append(_campaigns(query, by, most))
    if by.has_perm(ADMINISTER):
        groups.append(_people(query, most))
    return [group for group in groups if group.hits]


def _pages(query: str, by: User, most: int) -> Group:
    """Return the matching pages and commands. Each query word must be the start of a word in the name."""
    words = _words_of(query)

    def fits(label: str) -> bool:
        names = _words_of(label)
        return all(any(name.startswith(word) for name in names) for word in words)

    found = {
        link.url: Hit(str(link.label), link.url)
        for link in (*LINKS, *COMMANDS)
        if fits(str(link.label)) and link.is_for(by)
    }
    return Group(_("Pages and commands"), list(found.values())[:most], "")


def _words_of(text: str) -> list[str]:
    """Return the lowercase words of a text, split at hyphens."""
    return text.casefold().replace("-", " ").split()


def _entries(query: str, most: int) -> Group:
    try:
        found = search_entries(query, limit=most).entries
    except BadInput:
        found = []
    hits = [
        Hit(
            row.entry.title,
            reverse("entry-detail", args=[row.entry.slug]),
            line=line_with(query, row.version.script, title=row.entry.title),
            verified="suspended" if row.entry.suspended_at else row.version.state,
            risk=row.version.risk,
        )
        for row in show_entries(found)
    ]
    return Group(_("Catalogue"), hits, _all("catalog-list", query))


def _actions(query: str, by: User, most: int) -> Group:
    found = access_actions(by).filter(has_every_word("statement", query)).order_by("-pk")[:most]
    hits = [
        Hit(
            _around(row.action.statement, query),
            reverse("run-detail", args=[row.newest.run.pk])
            if row.newest
            else reverse("action-detail", args=[row.action.pk]),
            action=row,
        )
        for row in pipeline.action_rows(found, by)
    ]
    return Group(_("Requests"), hits, _all("action-list", query))


def _runs(query: str, by: User) -> Group:
    number = query.lower().removeprefix("run").strip().removeprefix("#")
    if not number.isdecimal() or len(number) > 18:
        return Group(_("Runs"), [], "")
    found = with_shown_state(by, access_runs(by).filter(pk=int(number)))
    hits = [
        Hit(
            str(run),
            reverse("run-detail", args=[run.pk]),
            run.action.statement,
            run=run.shown_state,  # type: ignore[attr-defined]
        )
        for run in found
    ]
    return Group(_("Runs"), hits, "")


def _studies(query: str, by: User, most: int) -> Group:
    """Return the studies in which the user reviews."""
    if not by.has_perm(REVIEW):
        return Group(_("My studies"), [], "")
    found = studies_under_way(by).filter(has_every_word("name", query)).order_by("-pk")[:most]
    hits = [
        Hit(one.name, reverse("study-queue", args=[one.pk]), one.get_state_display().lower())
        for one in found
    ]
    return Group(_("My studies"), hits, "")


def _campaigns(query: str, by: User, most: int) -> Group:
    found = access_campaigns(by).filter(has_every_word("name", query)).order_by("-pk")[:most]
    hits = [
        Hit(one.name, reverse("campaign-detail", args=[one.pk]), one.get_state_display().lower())
        for one in found
    ]
    return Group(_("Studies"), hits, "")


def _people(query: str, most: int) -> Group:
    named = Q(username__icontains=query) | Q(first_name__icontains=query)
    named |= Q(last_name__icontains=query)
    found = User.objects.filter(named).order_by("-pk")[:most]
    hits = [
        Hit(user.get_username(), reverse("user-detail", args=[user.pk]), _about(user))
        for user in found
    ]
    return Group(_("Users"), hits, _all("users", query))


def _about(user: User) -> str:
    parts: Iterable[str] = (user.get_full_name(), "" if user.is_active else _("deactivated"))
    return ", ".join(part for part in parts if part)


def _around(statement: str, query: str) -> str:
    """Return the statement on one line, starting shortly before the first match."""
    line = " ".join(statement.split())
    folded = line.casefold()
    at = min((at for word in query.casefold().split() if (at := folded.find(word)) >= 0), default=0)
    return f"…{line[at - AROUND :]}" if at > 2 * AROUND else line


def _all(name: str, query: str) -> str:
    return f"{reverse(name)}?{urlencode({'q': query})}"
