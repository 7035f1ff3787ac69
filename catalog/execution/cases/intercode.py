"""InterCode's reward of a Bash command against a reference, for comparison only: a figure named `intercode`.

From the rule of Yang et al., "InterCode" (2023), as their published code computes it: what both did to the files,
as `git status --short` would list it, and what both printed, by words alone. Its holes are known: words of one
letter, case, order and punctuation do not exist for it, changed files are never compared, and an empty script gets
full marks where the reference prints nothing and adds and removes no file.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from catalog.execution.cases.effects import find_effects
from catalog.execution.sandbox import Entry

Code = Literal["M", "D", "??"]
SUCCESS = 1.0
# What the benchmark's repository leaves out.
SYSTEM_FOLDERS = frozenset(
    (
        "bin",
        "boot",
        "dev",
        "etc",
        "home",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "media",
        "mnt",
        "opt",
        "proc",
        "root",
    )
    + ("run", "sbin", "srv", "sys", "tmp", "usr", "var")
)
_WORD = re.compile(r"(?u)\b\w\w+\b")  # what scikit-learn's vectorizer takes for a word
_PART = 0.33


@dataclass(frozen=True)
class Outcome:
    """What one command did below the folders that count, and what it printed."""

    changes: frozenset[tuple[str, Code]]
    hashes: Mapping[str, str]
    printed: str


def observe(
    before: Mapping[str, Entry],
    after: Mapping[str, Entry],
    printed: str,
    ignored: Collection[str] = SYSTEM_FOLDERS,
) -> Outcome:
    """From two snapshots; only what git would see: files and links, and of new folders the topmost.

    Its repository is the whole file system, but for the top folders that are `ignored`.
    """
    effects = find_effects(before, after)

    def is_seen(path: str) -> bool:
        return path.split("/")[1] not in ignored

    tracked = {path for path, entry in before.items() if entry.kind != "folder"}
    folders_with_tracked = {parent for path in tracked for parent in _parents(path)}
    changes: set[tuple[str, Code]] = set()
    for path in effects.removed:
        if is_seen(path) and path in tracked:
            changes.add((path, "D"))
    for path in effects.changed:
        if is_seen(path) and path in tracked:
            changes.add((path, "M"))
    for path in effects.added:
        if is_seen(path) and after[path].kind != "folder":
            new = [parent for parent in _parents(path) if parent not in folders_with_tracked]
            topmost = min(new, key=len, default=None)
            changes.add((path if topmost is None else f"{topmost}/", "??"))
    return Outcome(
        changes=frozenset(changes),
        hashes={path: _hash_below(path, after) for path, _ in changes},
        printed=printed,
    )


def reward(done: Outcome, wanted: Outcome) -> float:
    """From 0.01 to 1.0, rounded in each part as InterCode rounds it."""
    different = len(wanted.changes - done.changes) + len(done.changes - wanted.changes)
    files = round(_PART * (1 - math.erf(different)), 2)
    common = [path for path, code in wanted.changes & done.changes if code == "??"]
    if common:
        equal = sum(done.hashes[path] == wanted.hashes[path] for path in common)
        contents = round(_PART * equal / len(common), 2)
    else:
        contents = _PART
    printed = round(_PART * _similarity(done.printed, wanted.printed), 2)
    return round(0.01 + files + contents + printed, 2)


def _similarity(one: str, other: str) -> float:
    """Cosine of TF-IDF vectors over the two texts; without any word, whether they are equal."""
    counts = [Counter(word.lower() for word in _WORD.findall(text)) for text in (one, other)]
    words = counts[0].keys() | counts[1].keys()
    if not words:
        return float(one == other)
    # Smooth inverse document frequency of two documents.
    weight = {
        word: math.log(3 / (1 + sum(word in count for count in counts))) + 1 for word in words
    }
    vectors = [{word: count[word] * weight[word] for word in count} for count in counts]
    lengths = [math.sqrt(sum(value**2 for value in vector.values())) for vector in vectors]
    if not all(lengths):
        return 0.0
    product = sum(vectors[0][word] * vectors[1].get(word, 0.0) for word in vectors[0])
    return product / (lengths[0] * lengths[1])


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(2, len(parts))]


def _hash_below(path: str, after: Mapping[str, Entry]) -> str:
    if not path.endswith("/"):
        entry = after.get(path)
        return str(entry.sha256) if entry is not None else ""
    below = sorted((name, entry.sha256) for name, entry in after.items() if name.startswith(path))
    return repr(below)
