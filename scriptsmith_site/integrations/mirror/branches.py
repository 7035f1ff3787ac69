"""Import of branches. A worker reads a branch, a curator checks the changes, and they become versions in review."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from dulwich.diff_tree import tree_changes
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.walk import Walker

from catalog import services as catalog
from catalog.access import CURATE, require
from catalog.models import Entry, Version
from core.audit import record
from core.errors import BadInput, NotAllowedNow, Refused
from core.leased_jobs import Canceled, LostLease, claim, dispatch_unheld
from scriptsmith_site.integrations.mirror.addresses import read_branch as read_branch_name
from scriptsmith_site.integrations.mirror.layout import split_path
from scriptsmith_site.integrations.mirror.remotes import Remote, RemoteTrouble, open_remote
from scriptsmith_site.integrations.mirror.repository import Copy
from scriptsmith_site.integrations.mirror.secrets import access_of
from scriptsmith_site.integrations.mirror.writers import accounts_of, people_of, read_signature
from scriptsmith_site.models import Mirror, MirrorBranch, MirrorCommit

logger = logging.getLogger(__name__)

MOST_FOLDERS = 50  # changed folders in one branch
MOST_COMMITS = 1_000  # commits that only the branch has
MOST_SCRIPT = 200_000  # bytes
State = MirrorBranch.State


@transaction.atomic
def ask_for_branch(branch: str, *, by: User) -> MirrorBranch:
    """Enqueue a job that reads the changes in a branch of the mirror's repository. Raises BadInput, NotAllowedNow."""
    require(by, CURATE)
    branch = read_branch_name(branch)
    mirror = Mirror.objects.first()
    if mirror is None:
        raise NotAllowedNow(_("No mirror is set up."))
    if branch == mirror.branch:
        raise BadInput(_("This is the mirror's own branch. Enter another branch."), field="branch")
    job = MirrorBranch.objects.create(branch=branch, by=by)
    record(mirror, "branch read", by=by, branch=("", branch))
    return job.enqueue()


def read_branch(job_id: int) -> None:
    """Read the changes of a branch, unless another worker is reading it.

    Errors are stored with the job and not raised.
    """
    held = claim(MirrorBranch, job_id)
    if held is None:
        return
    job = MirrorBranch.objects.get(pk=job_id)
    try:
        mirror = Mirror.objects.first()
        if mirror is None or not mirror.head:
            raise RemoteTrouble(_("The mirror has no commits yet."))
        with open_remote(access_of(mirror)) as remote, Copy(mirror.pk) as copy:
            tip = _fetch(mirror, remote, copy, job.branch)
            found = []
            held.note()
            for change in _Branch(copy, tip).changes():
                found.append(change)
                held.note()
        held.end(State.DONE, commit=tip, found=found)
    except (LostLease, Canceled):
        return
    except RemoteTrouble as trouble:
        held.end(State.FAILED, problem=str(trouble)[:300])
    except Exception as error:
        logger.exception("A branch could not be read: %s", job.branch)
        held.end(State.FAILED, problem=f"{type(error).__name__}: {error}"[:300])


def read_missed() -> None:
    """Enqueue branches that no worker is reading."""
    dispatch_unheld(MirrorBranch)


@transaction.atomic
def take_in(job: MirrorBranch, *, by: User) -> tuple[list[Version], list[str]]:
    """Import the changes as versions in review. Return the new versions and the error messages for rejected changes.

    The importing user counts as the author. Neither that user nor the authors of the commits may verify the versions.
    If all changes are rejected, the import can be repeated. Raises NotAllowedNow if the branch has been imported or has
    no usable changes.
    """
    require(by, CURATE)
    usable = [one for one in job.found if not one["problem"]]
    if job.state != State.DONE or not usable:
        raise NotAllowedNow(_("This branch has no changes to import."))
    waiting = MirrorBranch.objects.filter(pk=job.pk, taken_at=None)
    if not waiting.update(taken_at=timezone.now()):
        raise NotAllowedNow(_("This branch has already been imported."))
    made, refused = [], []
    for one in usable:
        try:
            with transaction.atomic():
                made.append(_propose(job, one, by=by))
        except Refused as refusal:
            refused.append(f"{one['place']}: {refusal}")
    if not made:
        MirrorBranch.objects.filter(pk=job.pk).update(taken_at=None)
    return made, refused


def _propose(job: MirrorBranch, one: dict[str, object], *, by: User) -> Version:
    row = catalog.read_proposal(_files_of(one))
    if row.record is None:
        raise BadInput(row.problem)
    people = [tuple(pair) for pair in one["people"]]  # type: ignore[attr-defined]
    return catalog.propose(
        row.record,
        entry=Entry.objects.filter(pk=int(str(one["entry"]))).first() if one["entry"] else None,
        by=by,
        origin={
            "origin": "git",
            "branch": job.branch,
            "commit": one["commit"],
            "git_author": one["name"],
            "from_version": one["from_version"],
        },
        also_by=accounts_of(people),
    )


def _files_of(one: dict[str, object]) -> dict[str, bytes]:
    return {
        "metadata.yaml": str(one["metadata"]).encode(),
        "script.sh": str(one["script"]).encode(),
    }


def _fetch(mirror: Mirror, remote: Remote, copy: Copy, branch: str) -> str:
    heads = remote.heads()
    if branch not in heads:
        raise RemoteTrouble(_("The repository has no branch with this name."))
    for commit in (mirror.head, heads[branch]):
        if not copy.has(commit):
            remote.fetch(copy.repo, commit)
    return heads[branch]


class _Branch:
    """The commits of a branch that are not in the mirror."""

    def __init__(self, copy: Copy, tip: str) -> None:
        self._store = copy.repo.object_store
        self._tip = ObjectID(tip.encode())
        self._base, self._position, self._own = self._find_base()
        self._people = people_of(self._own)
        self._old, self._new = self._commit(self._base).tree, self._commit(self._tip).tree

    def changes(self) -> Iterator[dict[str, object]]:
        """Yield each changed entry folder, and each other changed path as a problem."""
        places: dict[str, None] = {}
        for change in tree_changes(self._store, self._old, self._new):
            entry = change.new if change.new is not None and change.new.path else change.old
            assert entry is not None
            assert entry.path is not None
            path = entry.path.decode("utf-8", "replace")
            found = split_path(path)
            if found is None:
                places.setdefault(f"={path[:200]}")
            else:
                places.setdefault(f"{found[0]}/{found[1]}")
            if len(places) > MOST_FOLDERS:
                raise RemoteTrouble(_("The branch changes more than %s entries.") % MOST_FOLDERS)
        for place in places:
            if place.startswith("="):
                yield _untaken(place[1:], _("is neither a script nor the metadata of an entry"))
            else:
                yield self._change(place)

    def _change(self, place: str) -> dict[str, object]:
        folder = self._folder(place)
        if folder is None:
            return _untaken(place, _("was deleted. Deprecate the entry in the catalogue instead"))
        try:
            files = {name: self._read(folder, name) for name in ("metadata.yaml", "script.sh")}
            row = catalog.read_proposal(files)
            if row.record is None:
                return _untaken(place, row.problem)
            texts = {name: data.decode() for name, data in files.items()}
        except ValueError as error:
            return _untaken(place, str(error))
        commit = self._find_last(place)
        # Use the folder's entry at the time of branching, because the name may belong to another entry now.
        shown = MirrorCommit.objects.filter(
            folder=place.partition("/")[2],
            shown_id__isnull=False,
            state=MirrorCommit.State.PUSHED,
            position__lte=self._position,
        )
        before = shown.order_by("-position").first()
        number = None
        if before is not None:
            versions = Version.objects.filter(pk=before.shown_id or 0)
            number = versions.values_list("number", flat=True).first()
        return {
            "place": place,
            "entry": before.entry_id if before else None,
            "from_version": number,
            "title": row.record.title,
            "metadata": texts["metadata.yaml"],
            "script": texts["script.sh"],
            "name": read_signature(commit.author)[0],
            "people": self._people,
            "commit": commit.id.decode(),
            "problem": "",
        }

    def _find_base(self) -> tuple[ObjectID, int, list[Commit]]:
        """Return the newest mirror commit that the branch is based on, its position, and the branch's own commits.

        The number of commits is limited because the history is external input.
        """
        pushed = MirrorCommit.objects.filter(state=MirrorCommit.State.PUSHED)
        ours = dict(pushed.order_by("position").values_list("commit", "position"))
        met: list[tuple[int, ObjectID]] = []
        own: list[Commit] = []
        seen = {self._tip}
        waiting = deque([self._tip])
        while waiting:
            key = waiting.popleft()
            position = ours.get(key.decode())
            if position is not None:
                met.append((position, key))
                continue
            if len(own) >= MOST_COMMITS:
                raise RemoteTrouble(
                    _("The branch has more than %s commits of its own.") % MOST_COMMITS
                )
            commit = self._commit(key)
            own.append(commit)
            parents = [parent for parent in commit.parents if parent not in seen]
            seen.update(parents)
            waiting.extend(parents)
        if not met:
            raise RemoteTrouble(_("The branch is not based on the mirror's branch."))
        position, base = max(met)
        return base, position, own

    def _find_last(self, place: str) -> Commit:
        """Return the last commit that changes a folder."""
        exclude, paths = [self._base], [place.encode()]
        walker = Walker(self._store, [self._tip], exclude=exclude, paths=paths, max_entries=1)
        last = next(iter(walker), None)
        return self._commit(self._tip) if last is None else last.commit

    def _folder(self, place: str) -> Tree | None:
        area, _slash, name = place.encode().partition(b"/")
        above = self._tree(self._new)
        if area not in above:
            return None
        inner = self._store[above[area][1]]
        if not isinstance(inner, Tree) or name not in inner:
            return None
        folder = self._store[inner[name][1]]
        return folder if isinstance(folder, Tree) else None

    def _read(self, folder: Tree, name: str) -> bytes:
        if name.encode() not in folder:
            raise ValueError(_("%s is missing") % name)
        mode, key = folder[name.encode()]
        found = self._store[key]
        if mode not in (0o100644, 0o100755) or not isinstance(found, Blob):
            raise ValueError(_("%s is not a regular file") % name)
        if len(found.data) > MOST_SCRIPT:
            raise ValueError(_("%s is larger than 200,000 bytes") % name)
        return found.data

    def _commit(self, key: ObjectID) -> Commit:
        found = self._store[key]
        assert isinstance(found, Commit)
        return found

    def _tree(self, key: ObjectID) -> Tree:
        found = self._store[key]
        assert isinstance(found, Tree)
        return found


def _untaken(place: str, problem: str) -> dict[str, object]:
    return {"place": place.replace("\0", "\ufffd"), "problem": problem[:300]}
