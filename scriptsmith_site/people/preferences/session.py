"""A person's time zone, theme and keys, kept in their session so that a page costs no query for them."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib.auth.models import User
from django.http import HttpRequest

from scriptsmith_site.models import Profile

_KEY = "preferences"


class Preferences(NamedTuple):
    time_zone: str
    theme: str
    keys: dict[str, str] = {}  # those that were changed


def profile_of(user: User) -> Profile:
    """The person's profile, or an unsaved one with the defaults."""
    return Profile.objects.filter(user=user).first() or Profile(user=user)


def remember_preferences(request: HttpRequest, user: User) -> None:
    """This session has the person's preferences; called at sign-in and after a change."""
    profile = profile_of(user)
    request.session[_KEY] = [profile.time_zone, profile.theme, profile.keys]


def preferences_of(request: HttpRequest) -> Preferences:
    """The signed-in person's preferences: from the session, else (not made by our sign-in) read."""
    remembered = request.session.get(_KEY)
    if remembered is not None:
        return Preferences(*remembered)
    assert isinstance(request.user, User)  # asked for signed-in people only
    profile = profile_of(request.user)
    return Preferences(profile.time_zone, profile.theme, profile.keys)
