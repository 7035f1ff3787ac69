"""Show a scenario as a tree of its files, with the changes that the script made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from catalog.execution.cases.display import show

MOST_ROWS = 60
MOST_LOOKED_AT = 2000  # scripts may create far more files than the page can show
DEEPEST = 8  # indentation levels on the page


class TreeRow(NamedTuple):
    """A file or folder in the tree, with its depth, its details and its change."""

    depth: int
    name: str
    note: str
    mark: str  # removed, added, changed, touched, or empty


def world_tree(world: Mapping[str, object], seen: Mapping[str, object]) -> Sequence[TreeRow]:
    """Return a tree of the scenario's files before and after the run, with at most MOST_ROWS files and folders."""
    notes: dict[str, str] = {}
    marks: dict[str, str] = {}
    files = world.get("files")
    for file in files if isinstance(files, list) else ():
        notes[show(file["path"])] = _describe(file)
    for mark in ("removed", "added", "changed", "touched"):
        paths = seen.get(mark)
        for path in paths if isinstance(paths, list) else ():
            marks[path] = mark
    rows: list[TreeRow] = []
    shown: set[str] = set()
    for path in sorted(notes.keys() | marks.keys()):
        if len(rows) > MOST_LOOKED_AT:
            break
        parts = [part for part in path.split("/") if part]
        for end in range(1, len(parts) + 1):
            place = "/" + "/".join(parts[:end])
            if place in shown:
                continue
            shown.add(place)
            folder = place not in notes and (end < len(parts) or place not in marks)
            name = parts[end - 1] + ("/" if folder else "")
            rows.append(
                TreeRow(min(end - 1, DEEPEST), name, notes.get(place, ""), marks.get(place, ""))
            )
    rows = _join_chains(rows)
    more = len(rows) - MOST_ROWS
    return [*rows[:MOST_ROWS], TreeRow(0, f"… {more} more", "", "")] if more > 0 else rows


def _join_chains(rows: Sequence[TreeRow]) -> list[TreeRow]:
    """Join folders that contain only one folder into one row, such as `var/log/app/`."""
    joined: list[TreeRow] = []
    lifted = [0] * (DEEPEST + 2)  # for each depth, how many levels later rows move up
    prefix = ""
    for position, row in enumerate(rows):
        below = _children(rows, position)
        is_chain = (
            row.name.endswith("/")
            and not row.mark
            and len(below) == 1
            and below[0].name.endswith("/")
            and row.depth < DEEPEST
        )
        lift = lifted[row.depth]
        for depth in range(row.depth + 1, len(lifted)):
            lifted[depth] = lift + (1 if is_chain else 0)
        if is_chain:
            prefix += row.name
            continue
        joined.append(row._replace(depth=max(0, row.depth - lift), name=prefix + row.name))
        prefix = ""
    return joined


def _children(rows: Sequence[TreeRow], position: int) -> list[TreeRow]:
    """Return the direct children of the row at this position."""
    found = []
    for row in rows[position + 1 :]:
        if row.depth <= rows[position].depth:
            break
        if row.depth == rows[position].depth + 1:
            found.append(row)
    return found


def _describe(file: Mapping[str, object]) -> str:
    parts = []
    if file.get("link") is not None:
        parts.append(f"→ {show(str(file['link']))}")
    if file.get("kind") == "folder":
        parts.append("folder")
    if file.get("size") is not None:
        parts.append(f"{file['size']:,} bytes")
    if file.get("mode") is not None:
        parts.append(str(file["mode"]))
    if file.get("age") is not None:
        parts.append(f"{file['age']} old")
    return ", ".join(parts)
