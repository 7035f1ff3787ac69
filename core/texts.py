"""Validate text from users, with or without stripping it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from core.errors import BadInput

LONGEST_STATEMENT = 20_000  # characters
LONGEST_TITLE = 300
LONGEST_REASON = 2_000


def clean_text(value: str, *, field: str, longest: int, required: bool = True) -> str:
    """Return the stripped text. Raises BadInput if the text is empty, too long or can't be stored."""
    check_characters(value, field=field)
    value = value.strip()
    if required and not value:
        raise BadInput(_("This field can't be empty."), field=field)
    if len(value) > longest:
        raise BadInput(
            _("This text has %(length)s characters. Use at most %(longest)s.")
            % {"length": f"{len(value):,}", "longest": f"{longest:,}"},
            field=field,
        )
    return value


def check_text(text: str, *, field: str, most: int) -> str:
    """Return the text unchanged. Raises BadInput if the text is longer than `most` or can't be stored."""
    check_characters(text, field=field)
    if len(text) > most:
        raise BadInput(
            _("This text has %(length)s characters. Use at most %(most)s.")
            % {"length": f"{len(text):,}", "most": f"{most:,}"},
            field=field,
        )
    return text


def name_of(person: User | None) -> str:
    """Return a user's display name, or a placeholder for None."""
    return _("A user") if person is None else person.get_full_name() or person.username


def check_characters(value: str, *, field: str) -> None:
    """Raise BadInput for text that contains NUL or lone surrogates, which can't be stored."""
    if "\0" in value:
        raise BadInput(_("This text contains a NUL character."), field=field)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadInput(
            _("Character %(place)s is not valid Unicode.") % {"place": error.start + 1}, field=field
        ) from error
