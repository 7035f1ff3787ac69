"""Forms that were submitted after the session ended. They are stored and submitted again after sign-in."""

from __future__ import annotations

from typing import NamedTuple

from django.core import signing
from django.http import HttpRequest

_SALT = "scriptsmith.kept-form"
_LIFE_SECONDS = 24 * 60 * 60


class Kept(NamedTuple):
    """The target of a form and its fields."""

    path: str
    fields: list[tuple[str, str]]


def sent_by(request: HttpRequest) -> Kept:
    """Return the form of this request, without passwords and files."""
    fields = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name != "csrfmiddlewaretoken" and "password" not in name
    ]
    return Kept(request.get_full_path(), fields)


def keep(kept: Kept) -> str:
    """Return the form as signed text for a hidden field."""
    return signing.dumps(list(kept), salt=_SALT, compress=True)


def read_kept(text: str) -> Kept | None:
    """Return a form that `keep` signed, or None if the text is invalid or older than a day."""
    try:
        path, fields = signing.loads(text, salt=_SALT, max_age=_LIFE_SECONDS)
    except signing.BadSignature:
        return None
    return Kept(path, [(name, value) for name, value in fields])
