"""The context variables that every template receives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TypedDict

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache as kept
from django.db.models import Exists
from django.http import HttpRequest

from review.models import Campaign
from review.services import Study, count_waiting_for, studies_of, takes_part
from scriptsmith_site.people.preferences.keys import keys_of
from scriptsmith_site.people.sign_in.backend import MOST_UNREAD
from scriptsmith_site.web.navigation import Bar, Link, links_for

MOST_COUNTED = 99
_SECONDS_KEPT = 10
_OUT_OF_SIGHT = (Campaign.State.SETUP, Campaign.State.CLOSED)

_SECTIONS = {
    "home": "home",
    "action-new": "new",
    "queue": "queue",
    "item": "queue",
    "study": "studies",
    "incident": "incidents",
    "alert": "admin",
    "action": "actions",
    "run": "actions",
    "catalog": "catalogue",
    "entry": "catalogue",
    "version": "catalogue",
    "campaign": "campaigns",
    "transfer": "campaigns",
    "flag": "campaigns",
    "cost": "cost",
    "prompt": "admin",
    "users": "admin",
    "user": "admin",
    "audit": "admin",
    "integrations": "admin",
    "mirror": "admin",
    "destination": "admin",
    "delivery": "admin",
    "endpoint": "admin",
    "configuration": "admin",
}


class Site(TypedDict):
    theme: str
    keys: dict[str, str]
    nav_section: str
    unread_count: str
    waiting_count: Callable[[], int]
    studies_count: Callable[[], int]
    main_links: Callable[[], list[tuple[Link, str]]]  # each link with its keyboard shortcut
    menu_links: Callable[[], list[Link]]
    product_version: str


def site(request: HttpRequest) -> Site:
    """Return the theme, the navigation and the version. Callables run their queries only if a template calls them."""
    user = getattr(request, "user", None)

    @cache
    def queue() -> Campaign | None:
        return queue_of(user) if isinstance(user, User) else None

    @cache
    def waiting_count() -> int:
        found = queue()
        return count_waiting(user, found) if isinstance(user, User) and found else 0

    def has_studies() -> bool:
        found = queue()
        return bool(found and getattr(found, "has_studies", False))

    @cache
    def studies_count() -> int:
        return count_in_studies(user) if isinstance(user, User) and has_studies() else 0

    keys = keys_of(getattr(request, "changed_keys", {}))

    def main_links() -> list[tuple[Link, str]]:
        shown = links_for(user, Bar.MAIN) if isinstance(user, User) else ()
        return [
            (link, keys[link.section])
            for link in shown
            if link.section != "studies" or has_studies()
        ]

    match = request.resolver_match
    return {
        "theme": getattr(request, "theme", ""),
        "keys": keys,
        "nav_section": nav_section(match.url_name if match else None),
        "unread_count": say_unread(user),
        "waiting_count": waiting_count,
        "studies_count": studies_count,
        "main_links": main_links,
        "menu_links": lambda: list(links_for(user, Bar.MENU)) if isinstance(user, User) else [],
        "product_version": settings.VERSION,
    }


def say_unread(user: object) -> str:
    """Return the number of unread notifications as shown in the bar, or an empty string for 0."""
    count = getattr(user, "unread", None) or 0
    return f"{MOST_UNREAD}+" if count > MOST_UNREAD else str(count or "")


def nav_section(url_name: str | None) -> str:
    """Return the navigation section of a page, based on its URL name."""
    name = url_name or ""
    return _SECTIONS.get(name) or _SECTIONS.get(name.partition("-")[0], "")


def queue_of(user: User) -> Campaign | None:
    """Return the review queue, annotated with whether the user reviews in a study.

    Return None for users who may not review.
    """
    if not user.has_perm("review.review"):
        return None
    studies = Campaign.objects.filter(takes_part(user)).exclude(state__in=_OUT_OF_SIGHT)
    return Campaign.objects.annotate(has_studies=Exists(studies)).get(kind=Campaign.Kind.LIVE)


def count_waiting(user: User, queue: Campaign | None = None) -> int:
    """Return the number of items in the review queue that the user can claim now, at most 99."""
    queue = queue or queue_of(user)
    return count_waiting_for(queue, user, most=MOST_COUNTED) if queue else 0


def count_in_studies(user: User) -> int:
    """Return the number of items in open studies that the user can claim now, at most 99.

    Finished studies count as 0. The result is cached for some seconds, because every page shows it.
    """
    found: int | None = kept.get(_key_of(user))
    return keep_in_studies(user, studies_of(user)) if found is None else found


def keep_in_studies(user: User, studies: Iterable[Study]) -> int:
    """Cache and return the count for studies that the page has already loaded, so that the bar needs no query."""
    found = min(sum(one.waiting for one in studies if not one.is_through), MOST_COUNTED)
    kept.set(_key_of(user), found, _SECONDS_KEPT)
    return found


def _key_of(user: User) -> str:
    return f"waiting-in-studies-{user.pk}"
