"""Map our columns to the names in a file, from `--map` or from the names in known datasets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from review.exchange.rows.column_words import ITEM_WORDS, SCORE_WORDS, plain_name

STAGES = ("script", "feedback", "refined")
ITEM_COLUMNS = (
    *("id", "statement", "context", "environment", "reference", "script", "feedback", "refined"),
    *("verdict", "execution", "configuration", "severity", "target", "impact"),
    # More columns of exports. Importing them reproduces the figures.
    *("purpose", "known", "overlap", "closed", "sham", "execution_reason", "made", "recommended"),
    *("no_error_found", "demo", "experts", "repeats", "withdrawn", "later", "called_in"),
    "pilot",
)
SCORE_COLUMNS = (
    *("item", "reviewer", *STAGES, "comment", "configuration", "arm", "stage", "value"),
    *("at", "blind", "current", "reason", "passed_over", "copied", "feedback_by"),
    *("active_seconds", "round", "undone_at"),
    # In a file without IDs, the ID is derived from these columns.
    *("statement", "reference"),
)
REVIEWER, CALLED_IN, ADJUDICATED = "reviewer:", "called_in:", "adjudicated:"

_MOST_PATHS, _DEEPEST = 100, 10

# InterCode's records have the columns query and gold. Records of nl2bash-eabench have test and prompt.
Habits = tuple[tuple[frozenset[str], dict[str, str]], ...]
ITEM_HABITS: Habits = (
    (frozenset({"query", "gold"}), {"statement": "query", "reference": "gold"}),
    (frozenset({"test", "prompt"}), {"id": "test", "statement": "prompt"}),
)
SCORE_HABITS: Habits = ((frozenset({"id"}), {"item": "id"}),)


class BadMapping(ValueError):
    """The mapping is invalid, for example because it names an unknown column."""


@dataclass(frozen=True)
class WideColumn:
    """A column with one reviewer's scores for one stage."""

    person: str
    stage: str
    name: str
    adjudicates: bool = False
    was_called_in: bool = False


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Maps our column names to the names in a file. An unmapped column has our name."""

    named: Mapping[str, str] = field(default_factory=dict)
    wide: tuple[WideColumn, ...] = ()

    def with_habits_of(self, names: Iterable[str], habits: Habits) -> Columns:
        """Return a copy that also maps the names of a known dataset if the file uses them instead of ours."""
        there, named = set(names), dict(self.named)
        for marks, habit in habits:
            if marks <= there:
                for ours, theirs in habit.items():
                    if ours not in there:
                        named.setdefault(ours, named.get(theirs, theirs))
        return Columns(named=named, wide=self.wide)

    def with_similar(self, names: Collection[str], ours: Iterable[str]) -> Columns:
        """Return a copy that also maps names that differ from ours only in case, spaces and punctuation."""
        taken = {*self.named, *names}
        similar = {plain_name(name): name for name in names if name not in self.named.values()}
        found = {one: similar[one] for one in ours if one not in taken and one in similar}
        return Columns(named={**found, **self.named}, wide=self.wide) if found else self

    def rename(self, values: dict[str, object]) -> dict[str, object]:
        """Return the values with our names as keys."""
        paths, gone = self._moves
        if not paths:
            return values
        moved = {ours: value_at(values, theirs) for ours, theirs in paths.items()}
        kept = {name: value for name, value in values.items() if name not in gone}
        return kept | {ours: value for ours, value in moved.items() if value is not None}

    @cached_property
    def _moves(self) -> tuple[dict[str, str], set[str]]:
        """Return the path of each value to rename, and the columns to remove from the record."""
        paths = {**self.named, **{one.name: one.name for one in self.wide if "." in one.name}}
        roots = {path.partition(".")[0] for path in paths.values()}
        return paths, {*paths, *paths.values(), *roots}


def value_at(values: Mapping[str, object], path: str) -> object:
    """Return the value of a column or of a path in a nested record, such as `data.prompt` or `annotations.0.score`.

    If the path has no index for a list, the list's first element is used.
    """
    if path in values or "." not in path:
        return values.get(path)
    found: object = values
    for name in path.split("."):
        if isinstance(found, list) and not name.isdecimal():
            found = found[0] if found else None
        if isinstance(found, dict):
            found = found.get(name)
        elif isinstance(found, list):
            found = found[int(name)] if int(name) < len(found) else None
        else:
            return None
    return found[0] if isinstance(found, list) and len(found) == 1 else found


def paths_of(value: object, path: str = "", *, depth: int = 0) -> Iterator[str]:
    """Yield the paths of texts and numbers in a nested record, up to a depth of 10."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict) and depth < _DEEPEST:
        for name, inner in value.items():
            yield from paths_of(inner, f"{path}.{name}" if path else name, depth=depth + 1)
    elif isinstance(value, (str, int, float)) and path.isprintable():
        yield path[:100]


def say_paths(values: Mapping[str, object], column: str, *, like: str = "") -> str:
    """Return a hint for an error message that suggests paths for the column, or "" if the record is not nested.

    Paths whose last name is a usual name for the column `like` come first.
    """
    inner = {name: value for name, value in values.items() if name not in ITEM_COLUMNS}
    paths = [path for path in islice(paths_of(inner), _MOST_PATHS) if path not in values]
    if not paths:
        return ""
    like = like or column
    words = (like, *ITEM_WORDS.get(like, ()), *SCORE_WORDS.get(like, ()))
    paths.sort(key=lambda path: plain_name(path) not in words)
    others = f" Other paths: {', '.join(paths[1:6])}." if paths[1:] else ""
    return f" outside of nested values. Map its path, for example {column}={paths[0]}.{others}"


def read_mapping(pairs: Mapping[str, str], *, ours: tuple[str, ...]) -> Columns:
    """Convert a mapping such as `{"statement": "query", "reviewer:A": "rater_a"}` to Columns. Raises BadMapping.

    `reviewer:A` is A's score for the script, and `reviewer:A:refined` is A's score for the refined script.
    `called_in:A` is the score of A as a tie-breaker, and `adjudicated:A` is the final score by A as the adjudicator.
    """
    named, wide = {}, []
    for wanted, theirs in pairs.items():
        if not theirs:
            raise BadMapping(f"Name the column for {wanted!r}: {wanted}=NAME.")
        if wanted in ours:
            named[wanted] = theirs
        elif "reviewer" in ours and wanted.startswith((REVIEWER, CALLED_IN, ADJUDICATED)):
            wide.append(_read_wide(wanted, theirs))
        else:
            raise BadMapping(f"Unknown column {wanted!r}. Known columns: {', '.join(ours)}.")
    return Columns(named=named, wide=tuple(wide))


def read_pairs(texts: Iterable[str]) -> dict[str, str]:
    """Return the mapping for texts such as `["statement=query"]`. Raises BadMapping."""
    pairs = {}
    for text in texts:
        wanted, equals, theirs = text.partition("=")
        if not equals:
            raise BadMapping(f"{text!r} is not of the form OUR_NAME=NAME_IN_THE_FILE.")
        pairs[wanted.strip()] = theirs.strip()
    return pairs


def _read_wide(wanted: str, theirs: str) -> WideColumn:
    what, _colon, person = wanted.partition(":")
    name, _colon, stage = person.rpartition(":")
    if stage not in STAGES or not name:
        name, stage = person, "script"
    if not name.strip():
        raise BadMapping(f"Name the reviewer of the scores in {theirs!r}: {what}:NAME={theirs}.")
    return WideColumn(
        name.strip(),
        stage,
        theirs,
        adjudicates=f"{what}:" == ADJUDICATED,
        was_called_in=f"{what}:" == CALLED_IN,
    )
