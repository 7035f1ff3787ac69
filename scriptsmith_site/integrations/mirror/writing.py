"""Commit publications and push them in order, exactly once, with one worker at a time and without force.

A commit is recorded before it is pushed. If a worker dies between pushing and recording, the head of the branch is a
recorded commit, and the next run marks it as pushed. Any other unexpected head stops the mirror until an administrator
decides.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from itertools import groupby

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Case, F, Max, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.models import Entry, Version
from core import metrics
from core.audit import record
from core.database.advisory_lock import WRITE_MIRROR, only_one
from scriptsmith_site.integrations.mirror.contents import author_of, files_of, message_of
from scriptsmith_site.integrations.mirror.entry_status import EntryStatus, status_of
from scriptsmith_site.integrations.mirror.layout import Area, folder_name
from scriptsmith_site.integrations.mirror.queue import queue_snapshot
from scriptsmith_site.integrations.mirror.remotes import (
    MovedOn,
    Remote,
    RemoteTrouble,
    open_remote,
)
from scriptsmith_site.integrations.mirror.repository import Copy, forget_copies
from scriptsmith_site.integrations.mirror.secrets import access_of
from scriptsmith_site.integrations.outbox.events.confidentiality import is_hidden
from scriptsmith_site.models import Mirror, MirrorCommit

logger = logging.getLogger(__name__)

State, Kind = MirrorCommit.State, MirrorCommit.Kind
_AT_A_TIME = 200  # rows per push
_PAUSES = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 300, 1_800, 2 * 3_600))
_DONE = (State.MADE, State.PUSHED)
_MOVES = (Kind.SUSPENDED, Kind.REINSTATED, Kind.MERGED)  # events that move an entry to another area
# If an administrator continues on top of an unexpected head, that commit precedes all waiting rows.
_FIRST = Case(When(kind=Kind.ACCEPTED, then=Value(0)), default=Value(1))


def write_mirror() -> int:
    """Update the mirror and return the number of pushed commits. Delete local copies of removed mirrors.

    Return 0 if the mirror is paused, is waiting for a retry, or is locked by another worker.
    """
    forget_copies(Mirror.objects.values_list("pk", flat=True))
    if not _due().exists():
        return 0
    with only_one(WRITE_MIRROR) as is_mine:
        mirror = _due().first() if is_mine else None
        return _attempt(mirror) if mirror is not None else 0


def forget_made() -> None:
    """Reset commits that were created but not pushed, so that they are created again."""
    MirrorCommit.objects.filter(state=State.MADE).update(
        state=State.WAITING, commit="", position=None, area="", folder="", shown_id=None
    )


def _due() -> QuerySet[Mirror]:
    now = timezone.now()
    may_write = Q(paused_at=None, diverged_at=None) & (Q(retry_at=None) | Q(retry_at__lte=now))
    return Mirror.objects.filter(may_write | Q(test_asked_at__isnull=False))


def _attempt(mirror: Mirror) -> int:
    is_test = mirror.test_asked_at is not None
    if not is_test and not _has_work(mirror):
        return 0
    Mirror.objects.filter(pk=mirror.pk).update(test_asked_at=None)
    may_write = mirror.paused_at is None and mirror.diverged_at is None
    try:
        with open_remote(access_of(mirror)) as remote:
            if is_test:
                remote.check()
            pushed = _bring_up_to_date(mirror, remote) if may_write else 0
    except MovedOn as moved:
        _stop(mirror, moved.found)
    except (OperationalError, InterfaceError):
        raise  # The database is unavailable, so the failure can't be recorded.
    except RemoteTrouble as trouble:
        _note_failure(mirror, str(trouble))
    except Exception as error:
        logger.exception("Could not write the mirror")
        _note_failure(mirror, f"{type(error).__name__}: {error}")
    else:
        _note_success(mirror)
        return pushed
    return 0


def _has_work(mirror: Mirror) -> bool:
    unfinished = MirrorCommit.objects.filter(state__in=[State.WAITING, State.MADE])
    return not mirror.has_snapshot or unfinished.exists()


def _bring_up_to_date(mirror: Mirror, remote: Remote) -> int:
    if not mirror.has_snapshot:
        with transaction.atomic():
            queue_snapshot()
            Mirror.objects.filter(pk=mirror.pk).update(has_snapshot=True)
    found = remote.heads().get(mirror.branch, "")
    with Copy(mirror.pk) as copy:
        parent = _find_place(mirror, found)
        if parent and not copy.has(parent):
            remote.fetch(copy.repo, parent)
        if mirror.head and not copy.has(mirror.head):
            _fetch_lost(mirror, remote, copy)
        _forget_lost(copy)
        tip = _make(mirror, copy, parent)
        if tip == found:
            # An earlier run pushed this commit but did not record it.
            return _note_pushed(mirror, tip)
        remote.push(copy.repo, mirror.branch, tip, expected=found)
        count = _note_pushed(mirror, tip)
        copy.pack()
    return count


def _find_place(mirror: Mirror, found: str) -> str:
    """Return the commit to continue from. If an earlier push was not recorded, record it. Raises MovedOn."""
    if found == mirror.head:
        return found
    made = MirrorCommit.objects.filter(state=State.MADE, commit=found)
    if found and made.exists():
        _note_pushed(mirror, found)
        return found
    if found == mirror.accepted_head:
        return found
    raise MovedOn(found)


def _fetch_lost(mirror: Mirror, remote: Remote, copy: Copy) -> None:
    try:
        remote.fetch(copy.repo, mirror.head)
    except RemoteTrouble:
        raise RemoteTrouble(
            _(
                "The earlier commits are missing both in the repository and on this machine. Remove "
                "the mirror and set it up again."
            )
        ) from None


def _forget_lost(copy: Copy) -> None:
    """Reset unpushed commits if the local copy that contained them is lost."""
    made = MirrorCommit.objects.filter(state=State.MADE).values_list("commit", flat=True)
    if any(not copy.has(commit) for commit in set(made)):
        forget_made()


def _make(mirror: Mirror, copy: Copy, parent: str) -> str:
    """Create commits for the waiting rows and return the last one, or `parent` if nothing changed."""
    made = MirrorCommit.objects.filter(state=State.MADE).order_by("position").last()
    tip = made.commit if made is not None else parent
    rows = list(_waiting()[:_AT_A_TIME])
    if any(row.kind == Kind.SNAPSHOT for row in rows):
        rows = list(_waiting())  # The first commit contains all entries, however many there are.
    for kind, group in groupby(rows, key=lambda row: row.kind):
        if kind == Kind.SNAPSHOT:
            tip = _commit(copy, tip, list(group))
            continue
        for row in group:
            is_accepted = kind == Kind.ACCEPTED
            tip = _put_back(mirror, copy, row, tip) if is_accepted else _commit(copy, tip, [row])
    return tip


def _waiting() -> QuerySet[MirrorCommit]:
    waiting = MirrorCommit.objects.filter(state=State.WAITING)
    return waiting.select_related("by").order_by(_FIRST, "pk")


def _put_back(mirror: Mirror, copy: Copy, row: MirrorCommit, tip: str) -> str:
    """Commit the catalogue's files on top of an unexpected head. Other files stay unchanged.

    If the branch was deleted, return its last known head with its history.
    """
    commit = mirror.head
    if tip:
        tree = copy.replace_areas(copy.tree_of(tip), by=copy.tree_of(mirror.head))
        message = message_of(row, None, "", returns=False)
        commit = copy.commit(tree, parent=tip, by=author_of(row.by), at=row.at, message=message)
    _note_made([row], commit)
    return commit


def _commit(copy: Copy, tip: str, rows: list[MirrorCommit]) -> str:
    """Create one commit for these rows and record its contents. Return `tip` if the commit would change nothing."""
    folders: dict[str, dict[str, bytes] | None] = {}
    shown: list[tuple[MirrorCommit, Version]] = []
    returns = False
    for row in rows:
        before = _before(row)
        status, is_withheld = _status(row, before)
        if status is None:
            _end(row, State.WITHHELD if is_withheld else State.UNCHANGED)
            continue
        area, version = status
        folder = folder_name(version.entry.slug, version.entry_id)
        if before is not None and (before.area, before.folder) != (area, folder):
            folders.setdefault(f"{before.area}/{before.folder}", None)
        folders[f"{area}/{folder}"] = files_of(version, area)
        row.area, row.folder, row.shown_id = area, folder, version.pk
        returns = _returns(before, version)
        shown.append((row, version))
    if not shown:
        return tip
    tree = copy.tree_of(tip)
    changed = copy.apply(copy.begin(tree), folders)
    if changed == tree:
        for row, _version_shown in shown:
            _end(row, State.UNCHANGED)
        return tip
    first, version = shown[0]
    is_snapshot = first.kind == Kind.SNAPSHOT
    message = message_of(first, None if is_snapshot else version, first.folder, returns=returns)
    at = max(row.at for row, _version_shown in shown)
    commit = copy.commit(changed, parent=tip, by=author_of(first.by), at=at, message=message)
    _note_made([row for row, _version_shown in shown], commit)
    return commit


def _note_made(rows: list[MirrorCommit], commit: str) -> None:
    last = MirrorCommit.objects.aggregate(last=Max("position"))["last"] or 0
    for row in rows:
        row.state, row.commit, row.position = State.MADE, commit, last + 1
    fields = ["state", "commit", "position", "area", "folder", "shown_id"]
    MirrorCommit.objects.bulk_update(rows, fields, batch_size=500)


def _before(row: MirrorCommit) -> MirrorCommit | None:
    """Return the row that describes the entry's current state in the mirror."""
    return _done_of(row).order_by("-position").first()


def _done_of(row: MirrorCommit) -> QuerySet[MirrorCommit]:
    return MirrorCommit.objects.filter(entry_id=row.entry_id, state__in=_DONE)


def _status(row: MirrorCommit, before: MirrorCommit | None) -> tuple[EntryStatus | None, bool]:
    """Return the entry's status after this row, and whether the row must wait. Without a status, the row is skipped."""
    version = _version(row.version_id) if row.version_id is not None else None
    # The script is already in the mirror, and the catalogue shows its new state publicly.
    # If this row waited, the mirror would show the script as verified until the study closes.
    moves_only = row.kind in _MOVES or (
        row.kind == Kind.DEPRECATED and before is not None and before.shown_id == row.version_id
    )
    if version is not None and not moves_only and is_hidden(version):
        return None, True
    if row.kind in (Kind.SNAPSHOT, Kind.UNMERGED) or _done_of(row).filter(pk__gt=row.pk).exists():
        # The row is late and newer rows are already committed, so use the current state.
        return status_of(Entry.objects.get(pk=row.entry_id or 0)), False
    if version is not None:
        entry = version.entry
        if (
            before is None
            and row.kind == Kind.VERIFIED
            and (entry.suspended_at or entry.merged_into_id)
        ):
            # The entry was suspended or merged while it was hidden, and no later row will reflect that.
            return status_of(entry), False
        return _after_version(row, version, before), False
    if before is None or before.shown_id is None:
        return None, False  # The entry was never in the mirror.
    version = _version(before.shown_id)
    if not moves_only and is_hidden(version):
        return None, True
    return EntryStatus(_area_after(row, Area(before.area)), version), False


def _after_version(
    row: MirrorCommit, version: Version, before: MirrorCommit | None
) -> EntryStatus | None:
    if row.kind == Kind.VERIFIED:
        is_suspended = before is not None and before.area == Area.SUSPENDED
        return EntryStatus(Area.SUSPENDED if is_suspended else Area.VERIFIED, version)
    if before is not None and before.shown_id == version.pk:
        return EntryStatus(Area.DEPRECATED, version)
    return None  # The version was never published.


def _area_after(row: MirrorCommit, area: Area) -> Area:
    if row.kind == Kind.SUSPENDED:
        return Area.SUSPENDED if area is Area.VERIFIED else area
    if row.kind == Kind.REINSTATED:
        return Area.VERIFIED if area is Area.SUSPENDED else area
    return Area.DEPRECATED if row.kind == Kind.MERGED else area


def _returns(before: MirrorCommit | None, version: Version) -> bool:
    """Return whether the mirror currently shows a newer version."""
    shown = (before.shown_id if before else None) or 0
    return Version.objects.filter(pk=shown, number__gt=version.number).exists()


def _version(key: int) -> Version:
    return Version.objects.select_related("entry", "owner", "verified_by").get(pk=key)


def _end(row: MirrorCommit, state: MirrorCommit.State) -> None:
    MirrorCommit.objects.filter(pk=row.pk).update(state=state)


@transaction.atomic
def _note_pushed(mirror: Mirror, tip: str) -> int:
    """Mark the commits up to `tip` as pushed and return their number."""
    made = MirrorCommit.objects.filter(state=State.MADE)
    last = made.filter(commit=tip).aggregate(last=Max("position"))["last"] or 0
    arrived = made.filter(position__lte=last)
    count = arrived.values("commit").distinct().count()
    arrived.update(state=State.PUSHED, pushed_at=timezone.now())
    mirror.head, mirror.accepted_head = tip, None
    Mirror.objects.filter(pk=mirror.pk).update(head=tip, accepted_head=None)
    return count


def _note_success(mirror: Mirror) -> None:
    metrics.count(metrics.DELIVERIES, "git", "delivered")
    Mirror.objects.filter(pk=mirror.pk).update(
        last_success_at=timezone.now(), failures=0, retry_at=None
    )


def _note_failure(mirror: Mirror, why: str) -> None:
    metrics.count(metrics.DELIVERIES, "git", "failed")
    now = timezone.now()
    pause = _PAUSES[min(mirror.failures, len(_PAUSES) - 1)]
    Mirror.objects.filter(pk=mirror.pk).update(
        failures=F("failures") + 1,
        retry_at=now + pause,
        last_error_at=now,
        last_error=" ".join(why.replace("\0", "\ufffd").split())[:300],
    )


@transaction.atomic
def _stop(mirror: Mirror, found: str) -> None:
    """Stop writing until an administrator decides, and notify the administrators."""
    now = timezone.now()
    going = Mirror.objects.filter(pk=mirror.pk, diverged_at=None)
    why = _("ScriptSmith did not write the last commit on the branch.")
    if going.update(diverged_at=now, found_head=found, last_error_at=now, last_error=why):
        record(mirror, "mirror stopped", by=None, ends_with=(mirror.head, found))
