"""A form that was sent after its session had ended: kept, and sent again after signing in."""

from __future__ import annotations

from typing import NamedTuple

from django.core import signing
from django.http import HttpRequest

_SALT = "scriptsmith.kept-form"
_LIFE_SECONDS = 24 * 60 * 60


class Kept(NamedTuple):
    """Where a form was sent, and what it held."""

    path: str
    fields: list[tuple[str, str]]


def sent_by(request: HttpRequest) -> Kept:
    """The form that this request brings; passwords and files stay out."""
    fields = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name != "csrfmiddlewaretoken" and "password" not in name
    ]
    return Kept(request.get_full_path(), fields)


def keep(kept: Kept) -> str:
    """The form as text for a hidden field, signed."""
    return signing.dumps(list(kept), salt=_SALT, compress=True)


def read_kept(text: str) -> Kept | None:
    """What `keep` made; None for what is not ours or is older than a day."""
    try:
        path, fields = signing.loads(text, salt=_SALT, max_age=_LIFE_SECONDS)
    except signing.BadSignature:
        return None
    return Kept(path, [(name, value) for name, value in fields])
