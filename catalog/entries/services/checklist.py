"""What whoever verifies a version has to know beside its script, and what of it the change has changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext as _

from catalog.models import Version

# The fields of a version that the checklist shows.
CHECKED = (
    *("risk", "side_effect", "privileges", "tools", "parameters"),
    *("runs_on", "operating_system", "shell"),
    *("check_before", "check_after", "undo", "repeatable"),
)


class Mark(StrEnum):
    """How a line of the checklist stands."""

    SAME = "same"
    CHANGED = "changed"
    MISSING = "missing"  # nobody has said it, and it should be said


@dataclass(frozen=True, kw_only=True)
class Check:
    """One line of the checklist; `before` is what the replaced version said, where that is something else."""

    label: str
    words: str
    before: str = ""
    mark: Mark = Mark.SAME


def checklist(version: Version, replaced: Version | None) -> list[Check]:
    """What it needs, what it does, and how to undo it, each beside what the replaced version said."""
    said = _say(version)
    before = _say(replaced) if replaced else said
    # What only looks has nothing to check and nothing to undo.
    changes_things = version.side_effect != Version.SideEffect.READ_ONLY
    needed = _needed() if changes_things else ()
    return [
        _line(label, words, before[label], is_needed=label in needed)
        for label, words in said.items()
    ]


def _say(version: Version) -> dict[str, str]:
    """The lines of the checklist in order, in words; empty where nobody has said it."""
    return {
        _("Risk"): str(version.get_risk_display()).lower(),
        _("Side effect"): str(version.get_side_effect_display()),
        _("Rights"): str(version.get_privileges_display()),
        _("Tools"): ", ".join(version.tools),
        _("Parameters"): _parameters(version),
        _("Runs on"): _place(version),
        _("Check before"): version.check_before,
        _("Check after"): version.check_after,
        _("How to undo"): version.undo,
        _("Safe to run twice"): {True: _("yes"), False: _("no"), None: ""}[version.repeatable],
    }


def _needed() -> tuple[str, ...]:
    return _("Check before"), _("Check after"), _("How to undo"), _("Safe to run twice")


def _line(label: str, words: str, before: str, *, is_needed: bool) -> Check:
    if not words and is_needed:
        return Check(label=label, words="", before=before, mark=Mark.MISSING)
    if before != words:
        return Check(label=label, words=words, before=before or "–", mark=Mark.CHANGED)
    return Check(label=label, words=words)


def _parameters(version: Version) -> str:
    return ", ".join(
        _("%(name)s (%(type)s)") % {"name": one["name"], "type": one["type"]}
        if one.get("required", True)
        else _("%(name)s (%(type)s, optional)") % {"name": one["name"], "type": one["type"]}
        for one in version.parameters
    )


def _place(version: Version) -> str:
    return ", ".join([str(version.get_runs_on_display()), version.operating_system, version.shell])
