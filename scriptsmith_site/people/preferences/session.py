"""A user's preferences, stored in the session so that pages need no query for them."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib.auth.models import User
from django.http import HttpRequest

from scriptsmith_site.models import Profile

_KEY = "preferences"


class Preferences(NamedTuple):
    time_zone: str
    theme: str
    keys: dict[str, str] = {}  # only the changed keys


def profile_of(user: User) -> Profile:
    """Return the user's profile, or an unsaved profile with the defaults."""
    return Profile.objects.filter(user=user).first() or Profile(user=user)


def remember_preferences(request: HttpRequest, user: User) -> None:
    """Copy the user's preferences to the session. This is called at sign-in and after a change."""
    profile = profile_of(user)
    request.session[_KEY] = [profile.time_zone, profile.theme, profile.keys]


def preferences_of(request: HttpRequest) -> Preferences:
    """Return the signed-in user's preferences from the session, or from the database if the session has none."""
    remembered = request.session.get(_KEY)
    if remembered is not None:
        return Preferences(*remembered)
    assert isinstance(request.user, User)  # only called for signed-in users
    profile = profile_of(request.user)
    return Preferences(profile.time_zone, profile.theme, profile.keys)
