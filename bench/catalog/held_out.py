"""Public pairs of statements and scripts, split so that no part contains another part's answers.

Two pairs are connected if their normalized scripts or their reduced statements are equal. Connected pairs form a
component, and a component is never split.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

PAIRS = Path(__file__).resolve().parents[3] / "shared" / "data" / "nl2bash_pairs_half.jsonl"

_QUOTES = str.maketrans("", "", "\"'`“”‘’")
_FOLDER = re.compile(r"\bfolder(s?)\b")
_TOKEN = re.compile(
    r"""
    \|\| | && | ;; | [|;&()<>]                                     # operators
    | (?: \\. | '[^']*' | "(?:\\.|[^"\\])*" | [^\s|;&()<>'"\\] | ['"] )+
    """,
    re.VERBOSE | re.DOTALL,
)
_MODE = re.compile(r"0+([0-7]{3,4})")
_OPERATORS = frozenset({"||", "&&", ";;", "|", ";", "&", "(", ")", "<", ">"})
_NULLS = frozenset({"-print0", "-0", "--null"})


class Pair(NamedTuple):
    """A statement and its script, with the number of their component."""

    statement: str
    script: str
    component: int


@dataclass(frozen=True, slots=True)
class Task:
    """A catalogue, and the queries to run against it."""

    catalogue: tuple[Pair, ...]
    queries: tuple[Pair, ...]  # half of them have no answer in the catalogue


def read_pairs(path: Path = PAIRS) -> list[Pair]:
    """Return the pairs in a file, with their components. Raises OSError."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    texts = [(row["statement"], row["script"]) for row in rows]
    return [
        Pair(statement, script, component)
        for (statement, script), component in zip(texts, join(texts), strict=True)
    ]


def join(texts: Sequence[tuple[str, str]]) -> list[int]:
    """Return the component number of each pair of statement and script."""
    parents = list(range(len(texts)))

    def find(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    known: dict[tuple[str, str], int] = {}
    for place, (statement, script) in enumerate(texts):
        for key in (("statement", reduce(statement)), ("script", normalize(script))):
            parents[find(place)] = find(known.setdefault(key, place))
    return [find(place) for place in range(len(texts))]


def reduce(statement: str) -> str:
    """Return a statement in lower case without quotes, articles and final period. Replace *folder* with *directory*.

    >>> reduce("Find the 'a' folders.")
    'find a directories'
    """
    words = statement.translate(_QUOTES).lower().split()
    text = " ".join(word for word in words if word not in ("a", "an", "the")).rstrip(". ")
    return _FOLDER.sub(lambda match: "directories" if match[1] else "directory", text)


def normalize(script: str) -> str:
    """Return a script as shell tokens without quotes. Equivalent commands get the same spelling.

    >>> normalize("find -name 'a b' -exec chmod 0755 {} \\\\; -print")
    'find . -name a b -exec chmod 755 {} +'
    """
    tokens = [token for token in map(_plain, _TOKEN.findall(script)) if token]
    found: list[str] = []
    for token, following in zip(tokens, [*tokens[1:], "|"], strict=True):
        is_last = following in _OPERATORS
        if token == "-print" and is_last:
            continue
        found.append(token)
        if token == "find" and (is_last or following.startswith(("-", "!"))):
            found.append(".")
    return " ".join(found)


def _plain(token: str) -> str:
    if token in ("\\;", "';'", '";"', "+"):
        return "+"
    token = re.sub("['\"\\\\]", "", token)
    if token in _NULLS:
        return ""
    mode = _MODE.fullmatch(token)
    return mode[1] if mode else token


def split(components: Iterable[int], *, parts: int, seed: int) -> list[frozenset[int]]:
    """Split the components at random into parts of similar size."""
    shuffled = sorted(set(components))
    random.Random(seed).shuffle(shuffled)
    return [frozenset(shuffled[start::parts]) for start in range(parts)]


def make_task(
    pairs: Sequence[Pair],
    *,
    known: frozenset[int],
    asked: frozenset[int],
    seed: int,
    may_be_taken: Callable[[int], bool] = lambda component: True,
) -> Task:
    """Create a catalogue from the `known` components, and queries from the `asked` components, a subset of `known`.

    The catalogue has one statement per script, and omits half of the `asked` components. Half of the queries come from
    components in the catalogue, but their reduced statements are not in it. The other half come from omitted
    components.
    """
    dice = random.Random(seed)
    candidates = sorted(component for component in asked if may_be_taken(component))
    taken = frozenset(dice.sample(candidates, len(candidates) // 2))
    listed = [pair for pair in pairs if pair.component in known - taken]
    listed.sort(key=lambda pair: normalize(pair.script))
    catalogue = [
        dice.choice(list(same))
        for _, same in groupby(listed, key=lambda pair: normalize(pair.script))
    ]
    shown = {reduce(pair.statement) for pair in catalogue}
    rest = _once((pair for pair in listed if pair.component in asked), shown)
    gone = _once((pair for pair in pairs if pair.component in taken), shown)
    count = min(len(rest), len(gone))
    return Task(tuple(catalogue), (*dice.sample(rest, count), *dice.sample(gone, count)))


def _once(pairs: Iterable[Pair], shown: set[str]) -> list[Pair]:
    """Return one pair for each reduced statement that is not in `shown`."""
    return list(
        {text: pair for pair in pairs if (text := reduce(pair.statement)) not in shown}.values()
    )
