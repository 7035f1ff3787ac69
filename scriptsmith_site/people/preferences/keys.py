"""Keyboard shortcuts: one table of all actions with keys, and each user's changes to it.

Templates print `keys.NAME` on the control, and static/js/keys.js reads it from there, so keys are defined only in this
table. `Ctrl Enter` submits the current form. Users can't change this shortcut, J, K, ? or the letters of rarely used
pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from django.contrib.auth.models import User
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.errors import BadInput
from scriptsmith_site.models import Profile


class Where(StrEnum):
    """The pages that offer an action."""

    ALL = "all"
    REVIEW = "review"
    QUEUE = "queue"
    SETTLE = "settle"


class Group(NamedTuple):
    """A group of actions in the settings."""

    label: str | Promise
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class Action:
    """An action that has a key."""

    name: str
    key: str  # the default key
    label: str | Promise
    where: frozenset[Where] = frozenset({Where.REVIEW})
    # The user presses the key and then the number of a script.
    numbered: bool = False


_BOTH = frozenset({Where.REVIEW, Where.SETTLE})
_ALL = frozenset({Where.ALL})

GROUPS = (
    Group(
        gettext_lazy("Scoring"),
        (
            Action("score_0", "0", gettext_lazy("Incorrect"), _BOTH),
            Action("score_1", "1", gettext_lazy("Partially correct"), _BOTH),
            Action("score_2", "2", gettext_lazy("Correct"), _BOTH),
            Action("comment", "c", gettext_lazy("Comment"), _BOTH),
            Action("remark", "m", gettext_lazy("Comment on a line")),
            Action("undo", "u", gettext_lazy("Undo")),
            Action("earlier", "p", gettext_lazy("Previous item")),
            Action("skip", "x", gettext_lazy("Skip")),
            Action("flag", "l", gettext_lazy("Flag")),
            Action("take", "t", gettext_lazy("Start, continue, or keep my scores")),
            Action("next", ".", gettext_lazy("Item with new feedback, or the next item")),
        ),
    ),
    Group(
        gettext_lazy("Deciding"),
        (
            Action("approve", "a", gettext_lazy("Approve")),
            Action("edit", "e", gettext_lazy("Edit and approve")),
            Action("reject", "r", gettext_lazy("Reject")),
            Action("reveal", "v", gettext_lazy("Show the verdict now")),
            Action("feedback", "b", gettext_lazy("Get feedback and a rewrite")),
            Action("own_feedback", "f", gettext_lazy("Write your own feedback")),
        ),
    ),
    Group(
        gettext_lazy("Cause of a failed check"),
        (
            Action("case_wrong", "3", gettext_lazy("Test is wrong")),
            Action("interpretation", "4", gettext_lazy("Ambiguous request")),
            Action("output_too_strict", "5", gettext_lazy("Output check too strict")),
            Action("world_unlike_reality", "6", gettext_lazy("Unrealistic scenario")),
            Action("script_wrong", "7", gettext_lazy("Script is wrong")),
        ),
    ),
    Group(
        gettext_lazy("Viewing"),
        (
            Action("original", "o", gettext_lazy("Original script")),
            Action("refined", "n", gettext_lazy("Refined script")),
            Action("diff", "d", gettext_lazy("Difference, inline")),
            Action("layout", "z", gettext_lazy("Difference, side by side")),
            Action("show", "s", gettext_lazy("Show another script"), numbered=True),
            Action("wrap", "w", gettext_lazy("Wrap long lines"), _BOTH),
            Action("context", "i", gettext_lazy("Context"), _BOTH),
            Action("rubric", "g r", gettext_lazy("Rubric")),
            Action("leave", "q", gettext_lazy("Back to the review queue")),
            Action("names", "h", gettext_lazy("Show or hide names"), frozenset({Where.SETTLE})),
        ),
    ),
    Group(
        gettext_lazy("Navigation"),
        (
            Action("start", "s", gettext_lazy("Start reviewing"), frozenset({Where.QUEUE})),
            Action("search", "/", gettext_lazy("Search"), _ALL),
            Action("home", "g h", gettext_lazy("Home"), _ALL),
            Action("new", "g n", gettext_lazy("Request script"), _ALL),
            Action("queue", "g q", gettext_lazy("Queue"), _ALL),
            Action("incidents", "g i", gettext_lazy("Incidents"), _ALL),
            Action("actions", "g a", gettext_lazy("Requests"), _ALL),
            Action("catalogue", "g c", gettext_lazy("Catalogue"), _ALL),
            Action("studies", "g s", gettext_lazy("My studies"), _ALL),
            Action("campaigns", "g m", gettext_lazy("Studies"), _ALL),
            Action("cost", "g o", gettext_lazy("Cost"), _ALL),
        ),
    ),
)
ACTIONS = {action.name: action for group in GROUPS for action in group.actions}
ORIGINAL = {name: action.key for name, action in ACTIONS.items()}

# The keys for the next row, the previous row and the help, which are the same on every page.
FIXED = frozenset("jk?")
# Single pages use letters and digits, so keys that work on every page start with this letter or a symbol.
LEADER = "g"
TURNING = frozenset(".,")


def keys_of(changed: Mapping[str, str]) -> dict[str, str]:
    """Return the key of every action, given a user's changes."""
    return ORIGINAL | {name: key for name, key in changed.items() if name in ORIGINAL}


def save_keys(user: User, wanted: Mapping[str, str]) -> dict[str, str]:
    """Save the user's keys, with defaults for actions that are not in `wanted`. Return the changed keys.

    Raises BadInput for an invalid key, or a key that two actions on a page would share.
    """
    keys = read_keys(wanted)
    faults = find_faults(keys)
    if faults:
        name, said = next(iter(faults.items()))
        raise BadInput(said, field=name)
    changed = {name: key for name, key in keys.items() if key != ORIGINAL[name]}
    Profile.objects.update_or_create(user=user, defaults={"keys": changed})
    return changed


def read_keys(wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the key of every action in normalized form: `GQ` and `G  q` become `g q`."""
    read = dict(ORIGINAL)
    for name in ORIGINAL.keys() & wanted.keys():
        characters = "".join(wanted[name].split()).lower()
        read[name] = " ".join(characters) if len(characters) == 2 else characters[:9]
    return read


def find_faults(keys: Mapping[str, str]) -> dict[str, str]:
    """Return an error message for each action with an invalid key."""
    faults = {name: said for name, key in keys.items() if (said := _fault_of(ACTIONS[name], key))}
    pressed = {name: _pressed(ACTIONS[name], key) for name, key in keys.items()}
    for one, other in combinations(keys, 2):
        if _meet(ACTIONS[one], ACTIONS[other]) and _share(pressed[one], pressed[other]):
            for name, clash in ((one, other), (other, one)):
                said = _("“%s” also uses this key. Choose another key for one of them.")
                faults.setdefault(name, said % ACTIONS[clash].label)
    return faults


def _fault_of(action: Action, key: str) -> str:
    parts = key.split()
    if not 1 <= len(parts) <= 2 or not all(_is_key(part) for part in parts):
        return _("Enter one key, or two keys to press in sequence.")
    if action.numbered and len(parts) > 1:
        return _("Enter a single key, because the script number follows it.")
    if parts[0] in FIXED:
        return _("J, K and ? are reserved on every page.")
    if Where.ALL in action.where and belongs_to_pages(parts[0]):
        return _(
            "A shortcut that works on every page must start with G or a symbol. Letters and digits are "
            "reserved for individual pages."
        )
    return ""


def belongs_to_pages(key: str) -> bool:
    """Return whether single pages may use this key although it is not in the table."""
    return key in TURNING or (key.isalnum() and key != LEADER)


def _is_key(part: str) -> bool:
    return len(part) == 1 and part.isprintable()


def _meet(one: Action, other: Action) -> bool:
    """Return whether any page offers both actions."""
    return Where.ALL in one.where | other.where or bool(one.where & other.where)


def _share(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether one key sequence equals the other or is a prefix of it."""
    alike = (
        first == second or "#" in (first, second) and (first + second).strip("#").isdigit()
        for first, second in zip(one, other, strict=False)
    )
    return bool(one and other) and all(alike)


def _pressed(action: Action, key: str) -> tuple[str, ...]:
    """Return the key sequence of an action. `#` means any digit."""
    return (*key.split(), "#") if action.numbered else tuple(key.split())
