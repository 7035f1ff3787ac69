"""Texts that people send: kept exactly as they are, or refused with the reason."""

from __future__ import annotations

from django.utils.translation import gettext as _

from catalog.types import BadInput


def check_text(text: str, *, field: str, most: int) -> str:
    """The text itself; raises BadInput where it can't be stored or has more than `most` characters."""
    if "\0" in text:
        raise BadInput(_("This holds a NUL byte; it looks like a binary file."), field=field)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(_("This holds half of a character."), field=field) from None
    if len(text) > most:
        raise BadInput(
            _("This has %(length)s characters; at most %(most)s are taken.")
            % {"length": f"{len(text):,}", "most": f"{most:,}"},
            field=field,
        )
    return text
