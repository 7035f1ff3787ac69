"""The local copy of the mirror, in which trees and commits are created. Missing commits are fetched from the remote."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from shutil import rmtree

from django.conf import settings
from dulwich.object_store import commit_tree_changes
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.repo import Repo

from scriptsmith_site.integrations.mirror.contents import Signature, author_of
from scriptsmith_site.integrations.mirror.layout import (
    ATTRIBUTES,
    ATTRIBUTES_TEXT,
    README,
    README_TEXT,
    Area,
)

MOST_LOOSE = 1_000  # objects in separate files; one publication adds about six
_FILE = 0o100644
_PROGRAM = 0o100755
_FOLDER = 0o040000
Change = tuple[bytes, int | None, ObjectID | None]


def forget_copies(kept: Collection[int]) -> None:
    """Delete the local copies of deleted mirrors."""
    for path in (settings.LAYOUT.data / "mirror").glob("*.git"):
        if path.stem not in {str(key) for key in kept}:
            rmtree(path)


class Copy:
    """A bare repository in the data folder, without branches. Its objects are addressed by hash."""

    def __init__(self, key: int) -> None:
        path = settings.LAYOUT.data / "mirror" / f"{key}.git"
        if (path / "objects").is_dir():
            self.repo = Repo(str(path), bare=True)
        else:
            path.mkdir(parents=True, exist_ok=True)
            self.repo = Repo.init_bare(str(path))

    def __enter__(self) -> Copy:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.repo.close()

    def has(self, commit: str) -> bool:
        """Return whether the copy has this commit."""
        return ObjectID(commit.encode()) in self.repo.object_store

    def tree_of(self, commit: str) -> ObjectID:
        """Return the tree of a commit, or an empty tree for an empty string."""
        if not commit:
            return self._keep(Tree())
        found = self.repo.object_store[ObjectID(commit.encode())]
        assert isinstance(found, Commit)
        return ObjectID(found.tree)

    def begin(self, tree: ObjectID) -> ObjectID:
        """Add the files that every mirror has, and return the new tree."""
        names = {ATTRIBUTES: ATTRIBUTES_TEXT, README: README_TEXT}
        kept = self._tree(tree)
        return self._change(
            tree,
            [
                (name.encode(), _FILE, self._keep(Blob.from_string(text)))
                for name, text in names.items()
                # Keep an existing README.
                if name == ATTRIBUTES or name.encode() not in kept
            ],
        )

    def apply(self, tree: ObjectID, folders: Mapping[str, Mapping[str, bytes] | None]) -> ObjectID:
        """Return the tree with each folder replaced by its given files, or removed if the value is None."""
        changes: list[Change] = []
        for place, files in folders.items():
            if files is None:
                if self._has(tree, place):
                    changes.append((place.encode(), None, None))
                continue
            changes.append((place.encode(), _FOLDER, self._keep_folder(files)))
        return self._change(tree, changes)

    def replace_areas(self, tree: ObjectID, by: ObjectID) -> ObjectID:
        """Return `tree` with its entry folders replaced by those of `by`."""
        theirs, ours = self._tree(tree), self._tree(by)
        for area in (one.value.encode() for one in Area):
            if area in theirs:
                del theirs[area]
            if area in ours:
                theirs[area] = ours[area]
        return self.begin(self._keep(theirs))

    def commit(
        self, tree: ObjectID, *, parent: str, by: Signature, at: datetime, message: str
    ) -> str:
        """Create a commit of this tree and return its hash. Equal arguments produce the same commit."""
        made = Commit()
        made.tree = tree
        made.parents = [ObjectID(parent.encode())] if parent else []
        made.author = str(by).encode()
        made.committer = str(author_of(None)).encode()
        made.author_time = made.commit_time = int(at.astimezone(UTC).timestamp())
        made.author_timezone = made.commit_timezone = 0
        made.encoding = b"UTF-8"
        made.message = message.encode("utf-8", "replace")
        return self._keep(made).decode()

    def pack(self) -> None:
        """Pack loose objects if the copy has more than MOST_LOOSE.

        Creating a pack for each push would slow down every object lookup.
        """
        store = self.repo.object_store
        if store.count_loose_objects() > MOST_LOOSE:
            store.pack_loose_objects()

    def _change(self, tree: ObjectID, changes: list[Change]) -> ObjectID:
        if not changes:
            return tree
        return commit_tree_changes(self.repo.object_store, tree, changes)

    def _has(self, tree: ObjectID, place: str) -> bool:
        area, _slash, folder = place.encode().partition(b"/")
        above = self._tree(tree)
        return area in above and folder in self._tree(above[area][1])

    def _keep_folder(self, files: Mapping[str, bytes]) -> ObjectID:
        folder = Tree()
        for name, data in files.items():
            mode = _PROGRAM if name.endswith(".sh") else _FILE
            folder.add(name.encode(), mode, self._keep(Blob.from_string(data)))
        return self._keep(folder)

    def _tree(self, key: ObjectID) -> Tree:
        found = self.repo.object_store[key]
        assert isinstance(found, Tree)
        return found

    def _keep(self, made: Blob | Tree | Commit) -> ObjectID:
        self.repo.object_store.add_object(made)
        return made.id
