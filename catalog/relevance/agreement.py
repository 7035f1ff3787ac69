"""Find the literals that a statement and an entry share, and the literals that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from catalog.relevance.binding import bind
from catalog.relevance.statement.literals import Literal
from catalog.relevance.statement.profiles import StatementProfile, analyse
from catalog.relevance.statement.scripts import ScriptProfile, analyse_script
from catalog.relevance.statement.token_shapes import Kind
from catalog.relevance.statement.vocabulary import is_common
from catalog.relevance.types import Candidate, Parameter

Pair = tuple[Literal, Literal]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The literals of a statement, compared with the literals of an entry's phrasing."""

    same: tuple[Pair, ...] = ()
    differing: tuple[Pair, ...] = ()  # the statement's literal and the entry's counterpart
    extra: tuple[Literal, ...] = ()  # only in the statement, and not explained by the entry
    missing: tuple[Literal, ...] = ()  # only in the entry
    explained: tuple[
        Literal, ...
    ] = ()  # not in the phrasing, but in the script or another phrasing
    misplaced: tuple[Pair, ...] = ()  # equal values, but "from" on one side and "to" on the other
    loose_extra: tuple[Literal, ...] = ()  # guessed literals without a counterpart
    loose_missing: tuple[Literal, ...] = ()
    fills: Mapping[str, str] = field(default_factory=dict)
    open_places: tuple[Literal, ...] = ()  # literals on both sides that are parameter values
    defaulted: tuple[tuple[Parameter, Literal], ...] = ()  # parameters whose default applies
    unfilled: tuple[Parameter, ...] = ()  # no default, and no value in the statement

    @property
    def conflicts(self) -> int:
        """Return the number of literals that contradict the entry."""
        return len(self.differing) + len(self.extra) + len(self.missing) + len(self.misplaced)


def compare_literals(statement: StatementProfile, candidate: Candidate) -> Agreement:
    """Compare the statement's literals with the candidate's phrasing, script and parameters."""
    phrasing = analyse(candidate.phrasing)
    script = analyse_script(candidate.script)
    free = _free(phrasing.literals, candidate.parameters, script)
    fixed = [literal for literal in phrasing.literals if literal not in free.values()]
    same, mine, theirs = _match(statement.literals, fixed)
    binding = bind(
        [literal for literal in mine if not _is_hard_coded(literal, candidate.parameters, script)],
        candidate.parameters,
        statement.text,
    )
    bound = set(binding.literals.values())
    others = [analyse(text) for text in candidate.phrasings if text != candidate.phrasing]
    mine = [literal for literal in mine if literal not in bound]
    explained = [literal for literal in mine if _is_explained(literal, script, phrasing, others)]
    mine = [literal for literal in mine if literal not in explained]
    theirs = [literal for literal in theirs if not _occurs(literal, statement)]
    differing, mine, theirs = _pair(mine, theirs)
    return Agreement(
        same=tuple(same),
        differing=tuple(differing),
        extra=tuple(literal for literal in mine if literal.firm),
        missing=tuple(literal for literal in theirs if literal.firm),
        explained=tuple(explained),
        misplaced=tuple(_misplaced(same)),
        loose_extra=tuple(literal for literal in mine if not literal.firm),
        loose_missing=tuple(literal for literal in theirs if not literal.firm),
        fills=binding.fills,
        open_places=(*binding.literals.values(), *free.values()),
        defaulted=tuple(
            (parameter, free[parameter.name])
            for parameter in candidate.parameters
            if parameter.default is not None
            and parameter.name in free
            and parameter.name not in binding.fills
        ),
        unfilled=tuple(
            parameter
            for parameter in candidate.parameters
            if parameter.default is None and parameter.name not in binding.fills
        ),
    )


def _free(
    literals: Sequence[Literal], parameters: Sequence[Parameter], script: ScriptProfile
) -> dict[str, Literal]:
    """Return the phrasing's literals that are default or example values of a parameter, by parameter name."""
    if not parameters:
        return {}
    binding = bind(literals, parameters)
    defaults = {
        parameter.name: {parameter.default}
        | {literal.key for literal in analyse(parameter.default or "").literals}
        for parameter in parameters
    }
    # If a parameter has a default, a name in the phrasing is not an example value. It is the entry's subject, as in
    # "the PostgreSQL sessions".
    settled = {parameter.name for parameter in parameters if parameter.default is not None}
    return {
        name: literal
        for name, literal in binding.literals.items()
        if {binding.fills[name], literal.key} & defaults[name]
        or not script.explains(literal)
        and not (literal.kind.family == "name" and name in settled)
    }


def _is_hard_coded(
    literal: Literal, parameters: Sequence[Parameter], script: ScriptProfile
) -> bool:
    """Return whether the script itself contains the literal, which is then not a parameter value."""
    if literal.kind.family != "name" or not literal.firm:
        return False
    defaults = {parameter.default for parameter in parameters}
    return literal.text not in defaults and script.explains(literal)


def _match(
    mine: Sequence[Literal], theirs: Sequence[Literal]
) -> tuple[list[Pair], list[Literal], list[Literal]]:
    """Return the pairs of equal literals, and each side's unmatched literals, without duplicate values."""
    same: list[Pair] = []
    left = list(_unique(theirs))
    rest: list[Literal] = []
    for literal in _unique(mine):
        twin = next((other for other in left if literal.key == other.key), None) or next(
            (other for other in left if _is_like(literal, other)), None
        )
        if twin is None:
            rest.append(literal)
        else:
            left.remove(twin)
            same.append((literal, twin))
    return same, rest, left


def _unique(literals: Sequence[Literal]) -> list[Literal]:
    """Return one literal per value. Prefer firm literals."""
    best: dict[tuple[str, str], Literal] = {}
    for literal in literals:
        known = best.get(literal.key)
        if known is None or (literal.firm and not known.firm):
            best[literal.key] = literal
    return list(best.values())


def _is_like(literal: Literal, other: Literal) -> bool:
    """Return whether two names differ only in wildcards, a leading dot, case or a typo."""
    if literal.kind.family != "name" or other.kind.family != "name":
        return False
    kinds = {literal.kind, other.kind}
    if kinds in ({Kind.PATH}, {Kind.GLOB}):
        return False
    if Kind.GLOB in kinds and Kind.TEXT in kinds and not _is_containing(literal, other):
        return False
    mine, theirs = _core(literal), _core(other)
    if not (literal.firm and other.firm):  # as in "PDF files" and "*.pdf", not "foo" and "*.foo"
        mine, theirs = mine.lstrip("."), theirs.lstrip(".")
    if Kind.NAME in kinds:
        mine, theirs = mine.lower(), theirs.lower()
    if mine == theirs:
        return bool(mine)
    return not literal.firm and not other.firm and _is_slip(mine, theirs)


def _is_containing(literal: Literal, other: Literal) -> bool:
    """Return whether the pattern only means "contains" or "ends in", as in *name* or *.type."""
    pattern = literal.value if literal.kind == Kind.GLOB else other.value
    return pattern.startswith("*") and (pattern.endswith("*") or pattern.startswith("*."))


def _core(literal: Literal) -> str:
    return literal.value.strip("*?^$\\/")


def _is_slip(one: str, other: str) -> bool:
    """Return whether words of at least six letters differ only in a missing, added, changed or swapped letter."""
    if min(len(one), len(other)) < 6 or abs(len(one) - len(other)) > 1 or one[0] != other[0]:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    return (
        one[1:] == other[1:]
        or one[1:] == other
        or one == other[1:]
        or (one[:2] == other[:2][::-1] and one[2:] == other[2:])
    )


def _is_explained(
    literal: Literal,
    script: ScriptProfile,
    phrasing: StatementProfile,
    others: Sequence[StatementProfile],
) -> bool:
    return script.explains(literal) or any(_occurs(literal, text) for text in (phrasing, *others))


def _occurs(literal: Literal, profile: StatementProfile) -> bool:
    """Return whether the profile contains the literal, or its text contains the name."""
    if any(literal.key == other.key for other in profile.literals):
        return True
    if literal.kind.family != "name":
        return False
    core = _core(literal).lower()
    if literal.kind == Kind.GLOB and not literal.firm:  # for example "log files" and "logs"
        return core.lstrip(".") in profile.words
    if is_common(core):  # An ordinary word in the text may have another meaning than the name.
        return False
    wanted = f" {core} "
    return len(core) > 2 and wanted in f" {profile.text.translate(_PUNCTUATION)} "


_PUNCTUATION = str.maketrans(dict.fromkeys("\"'`,.:;()*?“”‘’", " "))


def _pair(
    mine: Sequence[Literal], theirs: Sequence[Literal]
) -> tuple[list[Pair], list[Literal], list[Literal]]:
    """Pair literals of the same family. Prefer literals of the same kind and firmness."""
    differing: list[Pair] = []
    rest = list(mine)
    left = list(theirs)
    for is_fit in (_same_kind, _same_family):
        for literal in list(rest):
            other = next((other for other in left if is_fit(literal, other)), None)
            if other is not None:
                rest.remove(literal)
                left.remove(other)
                differing.append((literal, other))
    return differing, rest, left


def _same_kind(one: Literal, other: Literal) -> bool:
    return one.kind == other.kind and one.firm == other.firm


def _same_family(one: Literal, other: Literal) -> bool:
    """Return whether the literals may be counterparts. A firm literal and a guess must also have the same kind."""
    if one.kind.family != other.kind.family:
        return False
    return (one.firm and other.firm) or one.kind == other.kind


def _goes_elsewhere(one: Literal, other: Literal) -> bool:
    """Return whether the literals have opposite sides. For a machine, one "from" is enough."""
    sides = {one.side, other.side}
    machine = one.kind in (Kind.HOST, Kind.ADDRESS, Kind.EMAIL)
    return sides == {"from", "to"} or (machine and "from" in sides and len(sides) == 2)


def _misplaced(same: Sequence[Pair]) -> list[Pair]:
    """Return the shared names with opposite sides, or else the names that are a target in only one of the two texts."""
    named = [pair for pair in same if pair[0].kind.family == "name"]
    opposite = [pair for pair in named if _goes_elsewhere(*pair)]
    if opposite:
        return opposite
    mine = {pair for pair in named if pair[0].side == "to"}
    theirs = {pair for pair in named if pair[1].side == "to"}
    return (
        sorted(mine | theirs, key=lambda pair: pair[0].start)
        if mine and theirs and not mine & theirs
        else []
    )
