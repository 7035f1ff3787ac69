"""Which of our columns has which name in a file: as asked for by `--map`, or by the habits of known sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

STAGES = ("script", "feedback", "refined")
ITEM_COLUMNS = (
    *("id", "statement", "context", "environment", "reference", "script", "feedback", "refined"),
    *("verdict", "execution", "configuration", "severity", "target", "impact"),
    # What an export says besides, so that an import of it gives the same figures.
    *("purpose", "known", "overlap", "closed", "sham", "execution_reason", "made", "recommended"),
    *("no_error_found", "demo", "experts", "repeats", "withdrawn", "later", "called_in"),
)
SCORE_COLUMNS = (
    *("item", "reviewer", *STAGES, "comment", "configuration", "arm", "stage", "value"),
    *("at", "blind", "current", "reason", "passed_over", "copied", "feedback_by"),
    *("active_seconds", "round", "undone_at"),
    # Where a file has no ids, what they are made from.
    *("statement", "reference"),
)
REVIEWER, CALLED_IN, ADJUDICATED = "reviewer:", "called_in:", "adjudicated:"

# InterCode's array has query and gold; nl2bash-eabench's records test, name, prompt, script, path.
Habits = tuple[tuple[frozenset[str], dict[str, str]], ...]
ITEM_HABITS: Habits = (
    (frozenset({"query", "gold"}), {"statement": "query", "reference": "gold"}),
    (frozenset({"test", "prompt"}), {"id": "test", "statement": "prompt"}),
)
SCORE_HABITS: Habits = ((frozenset({"id"}), {"item": "id"}),)


class BadMapping(ValueError):
    """What was asked for names a column that there is not."""


@dataclass(frozen=True)
class WideColumn:
    """A column that holds what one person gave at one stage."""

    person: str
    stage: str
    name: str
    adjudicates: bool = False
    was_called_in: bool = False


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Our name to the file's, for what was mapped; whatever is not named stands under our own name."""

    named: Mapping[str, str] = field(default_factory=dict)
    wide: tuple[WideColumn, ...] = ()

    def with_habits_of(self, names: Iterable[str], habits: Habits) -> Columns:
        """The same, and the names of a known set of data where the file has them and not ours."""
        there, named = set(names), dict(self.named)
        for marks, habit in habits:
            if marks <= there:
                for ours, theirs in habit.items():
                    if ours not in there:
                        named.setdefault(ours, theirs)
        return Columns(named=named, wide=self.wide)

    def rename(self, values: dict[str, object]) -> dict[str, object]:
        """The values under our names."""
        if not self.named:
            return values
        moved = {ours: values[theirs] for ours, theirs in self.named.items() if theirs in values}
        taken = set(self.named.values())
        kept = {
            name: value
            for name, value in values.items()
            if name not in taken and name not in self.named
        }
        return kept | moved


def read_mapping(pairs: Mapping[str, str], *, ours: tuple[str, ...]) -> Columns:
    """The columns of `{"statement": "query", "reviewer:A": "rater_a"}`. Raises BadMapping.

    `reviewer:A` is the script's score by A, `reviewer:A:refined` that of the refined script, `called_in:A` that
    of somebody who was asked because the others differed, and `adjudicated:A` the final score with A as the one
    who settled it.
    """
    named, wide = {}, []
    for wanted, theirs in pairs.items():
        if not theirs:
            raise BadMapping(f"Say which column is {wanted!r}: {wanted}=NAME.")
        if wanted in ours:
            named[wanted] = theirs
        elif "reviewer" in ours and wanted.startswith((REVIEWER, CALLED_IN, ADJUDICATED)):
            wide.append(_read_wide(wanted, theirs))
        else:
            raise BadMapping(f"There is no column {wanted!r}; there are {', '.join(ours)}.")
    return Columns(named=named, wide=tuple(wide))


def read_pairs(texts: Iterable[str]) -> dict[str, str]:
    """The mapping of `["statement=query", ...]`. Raises BadMapping."""
    pairs = {}
    for text in texts:
        wanted, equals, theirs = text.partition("=")
        if not equals:
            raise BadMapping(f"{text!r} does not say OUR_NAME=NAME_IN_THE_FILE.")
        pairs[wanted.strip()] = theirs.strip()
    return pairs


def _read_wide(wanted: str, theirs: str) -> WideColumn:
    what, _colon, person = wanted.partition(":")
    name, _colon, stage = person.rpartition(":")
    if stage not in STAGES or not name:
        name, stage = person, "script"
    if not name.strip():
        raise BadMapping(f"Say whose scores stand in {theirs!r}: {what}:NAME={theirs}.")
    return WideColumn(
        name.strip(),
        stage,
        theirs,
        adjudicates=f"{what}:" == ADJUDICATED,
        was_called_in=f"{what}:" == CALLED_IN,
    )
