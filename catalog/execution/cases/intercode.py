"""Calculate InterCode's reward for a Bash command compared with a reference. Only the `intercode` figure uses this
reward.

The rule is from Yang et al., "InterCode" (2023), and follows their published code. The rule compares the file changes,
as `git status --short` lists them, and the words of the output. Its known weaknesses are that it ignores one-letter
words, case, order and punctuation and never compares the contents of changed files. An empty script gets the full
reward if the reference prints nothing and neither adds nor removes a file.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from catalog.execution.sandbox import Entry

Code = Literal["M", "T", "D", "??"]
SUCCESS = 1.0
# The folders that the benchmark's repository ignores.
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
_WORD = re.compile(r"(?u)\b\w\w+\b")  # the words that scikit-learn's vectorizer finds
_PART = 0.33
_KINDS = ("file", "link")  # the only kinds that Git tracks
_MOST_LINKS = 40


@dataclass(frozen=True)
class Outcome:
    """The changes that one command made outside of the ignored folders, and its output."""

    changes: frozenset[tuple[str, Code]]
    hashes: Mapping[str, str]
    printed: str


def observe(
    before: Mapping[str, Entry],
    after: Mapping[str, Entry],
    printed: str,
    ignored: Collection[str] = SYSTEM_FOLDERS,
) -> Outcome:
    """Compare two snapshots as Git would. Only files and links are compared, and new folders are listed only by their
    topmost folder.

    The repository is the whole file system without the top-level folders in `ignored`.
    """
    tracked = {path for path, entry in before.items() if entry.kind in _KINDS}
    folders_with_tracked = {parent for path in tracked for parent in _parents(path)}
    changes: set[tuple[str, Code]] = set()
    for path in before.keys() | after.keys():
        if path.split("/")[1] in ignored:
            continue
        old, new = before.get(path), after.get(path)
        if path in tracked:
            code = _change_of(before[path], new)
            if code is not None:
                changes.add((path, code))
        elif new is not None and new.kind in _KINDS and (old is None or old.kind != new.kind):
            # A file that replaces a folder is untracked, like a file in a new folder.
            new_folders = [
                parent for parent in _parents(path) if parent not in folders_with_tracked
            ]
            topmost = min(new_folders, key=len, default=None)
            changes.add((path if topmost is None else f"{topmost}/", "??"))
    return Outcome(
        changes=frozenset(changes),
        hashes={path: _hash_below(path, after) for path, _ in changes},
        printed=printed,
    )


def _change_of(old: Entry, new: Entry | None) -> Code | None:
    """Return Git's status code for a tracked path. Git tracks only the owner's execute bit of the mode."""
    if new is None or new.kind not in _KINDS:
        return "D"  # a folder in its place contains only untracked files
    if old.kind != new.kind:
        return "T"
    if old.kind == "link":
        return "M" if old.target != new.target else None
    is_same = (old.size, old.sha256) == (new.size, new.sha256)
    return "M" if not is_same or (old.mode ^ new.mode) & 0o100 else None


def reward(done: Outcome, wanted: Outcome) -> float:
    """Return the reward from 0.01 to 1.0, with each part rounded as in InterCode."""
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
    """Return the cosine similarity of the texts' TF-IDF vectors, or 1 or 0 for texts without words."""
    counts = [Counter(word.lower() for word in _WORD.findall(text)) for text in (one, other)]
    words = counts[0].keys() | counts[1].keys()
    if not words:
        return float(one == other)
    # Smoothed inverse document frequency for two documents.
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
        return _hash(path, entry, after) if entry is not None else ""
    below = sorted(
        (name, _hash(name, entry, after))
        for name, entry in after.items()
        if name.startswith(path) and entry.kind in _KINDS
    )
    return repr(below)


def _hash(path: str, entry: Entry, after: Mapping[str, Entry]) -> str:
    """Return the hash of an entry, following links as md5sum does.

    Broken links are represented by their target, large files by their size.
    """
    found = _follow(path, entry, after)
    if found is None:
        return f"link to {entry.target}"
    return found.sha256 or f"{found.kind} of {found.size} bytes"


def _follow(path: str, entry: Entry, after: Mapping[str, Entry]) -> Entry | None:
    for _ in range(_MOST_LINKS):
        if entry.kind != "link":
            return entry
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), entry.target or ""))
        found = after.get(path)
        if found is None:
            return None
        entry = found
    return None
