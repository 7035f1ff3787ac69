"""The checklist for verifying a version. It shows the version's details and marks changed details."""

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
    """The state of a line in the checklist."""

    SAME = "same"
    CHANGED = "changed"
    MISSING = "missing"  # empty, although the script changes things and needs the detail


@dataclass(frozen=True, kw_only=True)
class Check:
    """A line of the checklist. `before` is the replaced version's value, if it differs."""

    label: str
    words: str
    before: str = ""
    mark: Mark = Mark.SAME


def checklist(version: Version, replaced: Version | None) -> list[Check]:
    """Return the version's requirements, effects and undo steps, compared with the replaced version."""
    said = _say(version)
    before = _say(replaced) if replaced else said
    # A read-only script needs no checks and no undo steps.
    changes_things = version.side_effect != Version.SideEffect.READ_ONLY
    needed = _needed() if changes_things else ()
    return [
        _line(label, words, before[label], is_needed=label in needed)
        for label, words in said.items()
    ]


def _say(version: Version) -> dict[str, str]:
    """Return the checklist's labels and values in order, with empty values for missing details."""
    return {
        _("Risk"): str(version.get_risk_display()).lower(),
        _("Side effect"): str(version.get_side_effect_display()),
        _("Privileges"): str(version.get_privileges_display()),
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
