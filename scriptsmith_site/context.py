"""What every template may ask for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypedDict

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest

from review.intake import live_queue
from review.queue import waiting_for
from scriptsmith_site.people.roles import ADMINISTER

MOST_COUNTED = 99

_SECTIONS = {
    "home": "home",
    "action-new": "new",
    "queue": "queue",
    "item": "queue",
    "action": "actions",
    "run": "actions",
    "catalog": "catalogue",
    "entry": "catalogue",
    "version": "catalogue",
    "campaign": "campaigns",
    "cost": "cost",
    "prompt": "admin",
    "users": "admin",
    "user": "admin",
    "audit": "admin",
    "endpoint": "admin",
    "configuration": "admin",
}


class Site(TypedDict):
    theme: str
    nav_section: str
    waiting_count: Callable[[], int]
    show_admin: Callable[[], bool]
    product_version: str


def site(request: HttpRequest) -> Site:
    """Theme, what the navigation shows, the version; callables cost nothing until shown."""
    user = getattr(request, "user", None)

    @cache
    def waiting_count() -> int:
        return count_waiting(user) if isinstance(user, User) else 0

    match = request.resolver_match
    return {
        "theme": getattr(request, "theme", ""),
        "nav_section": nav_section(match.url_name if match else None),
        "waiting_count": waiting_count,
        "show_admin": lambda: user is not None and user.has_perm(ADMINISTER),
        "product_version": settings.VERSION,
    }


def nav_section(url_name: str | None) -> str:
    """The part of the navigation that a page belongs to, by the name of its address."""
    name = url_name or ""
    return _SECTIONS.get(name) or _SECTIONS.get(name.partition("-")[0], "")


def count_waiting(user: User) -> int:
    """Items of the live queue that the person could take now, 99 at most; 0 for who may not."""
    if not user.has_perm("review.review"):
        return 0
    return waiting_for(live_queue(), user)[:MOST_COUNTED].count()
