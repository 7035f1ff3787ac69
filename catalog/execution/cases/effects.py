"""Find the changes that a run made to its scenario, by comparing snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from catalog.execution.sandbox import Entry


@dataclass(frozen=True)
class Effects:
    """Affected paths, each in exactly one group. Directory timestamps are ignored, because changes to files update
    them.
    """

    removed: tuple[str, ...]
    added: tuple[str, ...]
    changed: tuple[str, ...]  # content, mode, kind or target
    touched: tuple[str, ...]  # the modification time only

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of all groups."""
        return (*self.removed, *self.added, *self.changed, *self.touched)

    def __bool__(self) -> bool:
        return bool(self.paths)


def find_effects(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> Effects:
    changed, touched = [], []
    for path in before.keys() & after.keys():
        old, new = before[path], after[path]
        if (old.kind, old.mode, old.size, old.sha256, old.target) != (
            new.kind, new.mode, new.size, new.sha256, new.target,
        ):  # fmt: skip
            changed.append(path)
        elif old.modified != new.modified and old.kind != "folder":
            touched.append(path)
    return Effects(
        removed=tuple(sorted(before.keys() - after.keys())),
        added=tuple(sorted(after.keys() - before.keys())),
        changed=tuple(sorted(changed)),
        touched=tuple(sorted(touched)),
    )
