"""Predefined reasons that a reviewer selects with one key and can extend."""

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
        _("It does something other than what was asked."),
        _("The request is clear, and the script doesn't follow it."),
    ),
    QuickReason(
        "harm",
        _("It could cause unintended damage."),
        _("It deletes or stops more than it should."),
    ),
    QuickReason(
        "misses",
        _("It misses a case."),
        _("It only works for some inputs."),
    ),
    QuickReason(
        "fails",
        _("It won't run on the target."),
        _("A command, option or path is missing."),
    ),
)
SKIP = (
    QuickReason(
        "system",
        _("I don't know this system well enough."),
        _("Someone who works with it should judge."),
    ),
    QuickReason(
        "unclear",
        _("The request is ambiguous."),
        _("The correct script depends on what was meant."),
    ),
    QuickReason(
        "close",
        _("I'm too close to this."),
        _("You requested it or worked on it."),
    ),
    QuickReason(
        "time",
        _("I don't have time for it now."),
        _("It's long, or needs to be tried out first."),
    ),
)
_WORDS = {one.name: one.words for one in (*REJECT, *SKIP)}


def with_quick_reason(choice: str, typed: str) -> tuple[str, str]:
    """Split the value of the chosen button into the kind of decision and the full reason.

    For example, `reject-harm` returns `reject`, and the predefined text followed by the typed text. An unknown name
    adds no text, so validation treats the reason as missing.
    """
    kind, _dash, name = choice.partition("-")
    words = str(_WORDS.get(name, ""))
    if not words or words in typed:
        return kind, typed
    return kind, f"{words} {typed}".strip()
