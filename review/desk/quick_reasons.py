"""Common reasons that a reviewer selects with one key and can extend."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class QuickReason:
    """A predefined reason. `words` is the stored text, and `means` explains when to choose it."""

    name: str
    words: str | Promise
    means: str | Promise


REJECT = (
    QuickReason(
        "other",
        _("It does something else than was asked."),
        _("The statement is clear, and this is not it."),
    ),
    QuickReason(
        "harm",
        _("It could do harm that was not asked for."),
        _("It deletes or stops more than it should."),
    ),
    QuickReason(
        "misses",
        _("It misses a case."),
        _("It is right for some inputs only."),
    ),
    QuickReason(
        "fails",
        _("It would not run there."),
        _("A command, option or path that is not there."),
    ),
)
SKIP = (
    QuickReason(
        "system",
        _("I do not know this system well enough."),
        _("Somebody who works with it should judge."),
    ),
    QuickReason(
        "unclear",
        _("The statement can be read in several ways."),
        _("What is right depends on what was meant."),
    ),
    QuickReason(
        "close",
        _("I am too close to it to judge it."),
        _("You asked for it, or had a hand in it."),
    ),
    QuickReason(
        "time",
        _("It takes more time than I have now."),
        _("It is long, or has to be tried out first."),
    ),
)
_WORDS = {one.name: one.words for one in (*REJECT, *SKIP)}


def with_quick_reason(choice: str, typed: str) -> tuple[str, str]:
    """Split the chosen button into the kind of decision and the full reason.

    `reject-harm` returns `reject`, and the text of the reason followed by what was typed. An unknown reason adds no
    text, so validation treats it as missing.
    """
    kind, _dash, name = choice.partition("-")
    words = str(_WORDS.get(name, ""))
    if not words or words in typed:
        return kind, typed
    return kind, f"{words} {typed}".strip()
