"""Convert the role that a user chose for each column of a file to an import mapping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from core.errors import BadInput
from review.exchange.rows.columns import (
    ADJUDICATED,
    CALLED_IN,
    ITEM_COLUMNS,
    ITEM_HABITS,
    REVIEWER,
    SCORE_COLUMNS,
    SCORE_HABITS,
    STAGES,
    Columns,
)
from review.models import Transfer

# Maps one of our names to no column, so that a column with this name is ignored. No real column is named like this.
NOWHERE = "\u2014"
HABITS = {Transfer.Kind.ITEMS.value: ITEM_HABITS, Transfer.Kind.SCORES.value: SCORE_HABITS}
OURS = {Transfer.Kind.ITEMS.value: ITEM_COLUMNS, Transfer.Kind.SCORES.value: SCORE_COLUMNS}
# Item columns that scores also need, with their names in score files.
_SHARED = {
    "id": "item",
    "configuration": "configuration",
    "statement": "statement",
    "reference": "reference",
}
_COMMON_OF_ITEMS = (
    *("id", "statement", "context", "reference", "script", "feedback", "refined"),
    *("verdict", "execution", "configuration"),
)
_COMMON_OF_SCORES = ("item", "reviewer", *STAGES, "comment", "configuration", "stage", "value")

RoleGroup = tuple[str, list[tuple[str, str]]]


@dataclass(frozen=True)
class FileColumn:
    """A column of the file, with samples from its first rows. `role` is empty if the column is ignored.

    `told_by` is the source of a guessed role, `name` or `values`, or empty if the user chose the role.
    """

    name: str
    samples: Sequence[str]
    role: str
    person: str = ""
    told_by: str = ""


def is_of_person(role: str) -> bool:
    """Return whether a column with this role contains one reviewer's scores or the final scores."""
    return role.startswith((REVIEWER, CALLED_IN, ADJUDICATED))


def pairs_of(kind: str, chosen: Sequence[FileColumn]) -> dict[str, str]:
    """Return the import mapping for the chosen roles. Raises BadInput if a role was chosen twice."""
    ours, pairs = OURS[kind], dict[str, str]()
    for column in chosen:
        role = column.role
        if is_of_person(role):
            what, _colon, stage = role.partition(":")
            role = f"{what}:{column.person or column.name}:{stage}"
        if not role:
            continue
        if role in pairs:
            raise BadInput(
                _("“%(one)s” and “%(other)s” map to the same column.")
                % {"one": pairs[role], "other": column.name},
                field="columns",
            )
        pairs[role] = column.name
    # Ignored columns must not match by their own names or by the conventions of a known dataset.
    names = [column.name for column in chosen]
    habits = Columns().with_habits_of(names, HABITS[kind]).named
    usual = {name: name for name in names if name in ours} | {one: to for to, one in habits.items()}
    for column in chosen:
        is_read = column.role and not (is_of_person(column.role) and kind == Transfer.Kind.ITEMS)
        if not is_read and column.name in usual:
            pairs.setdefault(usual[column.name], NOWHERE)
    return {role: name for role, name in pairs.items() if role != name}


def of_items(pairs: Mapping[str, str]) -> dict[str, str]:
    """Return the part of a mapping that describes the items themselves."""
    return {role: name for role, name in pairs.items() if not is_of_person(role)}


def scores_beside(pairs: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the mapping for the score columns in a file of items, or {} if the file has no score columns."""
    people = {role: name for role, name in pairs.items() if is_of_person(role)}
    if not people:
        return {}
    there = set(names)
    # In this file, all other columns with the name of a score column have a different meaning.
    mapping = {ours: NOWHERE for ours in SCORE_COLUMNS if ours in there}
    for of_item, of_score in _SHARED.items():
        name = pairs.get(of_item, of_item)
        if name in there:
            mapping[of_score] = name
    return people | {role: name for role, name in mapping.items() if role != name}


def roles_of(kind: str) -> list[RoleGroup]:
    """Return a column's possible roles with their labels, grouped for a select element."""
    by_rater = [(f"{REVIEWER}{stage}", _("a reviewer’s %s scores") % stage) for stage in STAGES]
    # Tie-breakers saw mainly disputed items, so the agreement figures exclude their scores.
    called_in = [
        (f"{CALLED_IN}{stage}", _("a tie-breaker’s %s scores") % stage) for stage in STAGES
    ]
    finals = [(f"{ADJUDICATED}{stage}", _("final %s scores") % stage) for stage in STAGES]
    is_items = kind == Transfer.Kind.ITEMS
    common = _COMMON_OF_ITEMS if is_items else _COMMON_OF_SCORES
    others = [name for name in OURS[kind] if name not in common]
    return [
        (_("Common"), [(name, name) for name in common]),
        (_("Reviewers"), [*by_rater, *called_in, *finals]),
        (_("Other"), [(name, name) for name in others]),
    ]
