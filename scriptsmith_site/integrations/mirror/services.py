"""Administration of the mirror. Each function records an audit log entry."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow, Stale
from core.texts import clean_text
from scriptsmith_site.integrations.mirror.addresses import (
    is_by_ssh,
    is_folder,
    read_branch,
    read_repository,
)
from scriptsmith_site.integrations.mirror.secrets import seal
from scriptsmith_site.integrations.mirror.writing import forget_made
from scriptsmith_site.integrations.outbox.transport.sealing import check_variable
from scriptsmith_site.models import Mirror, MirrorBranch, MirrorCommit
from scriptsmith_site.people.services import require_administrator

MOST_SECRET = 10_000  # characters; enough for an SSH private key
_HOST_KEY = re.compile(r"(ssh|ecdsa|sk)-[a-z0-9@.-]{3,60} [A-Za-z0-9+/=]{40,2000}")
_USER_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,99}")
_FIELDS = ("address", "branch", "user_name", "secret_variable", "host_key")


@dataclass(frozen=True, kw_only=True)
class Values:
    """The settings of the mirror. An empty `secret` keeps the current secret."""

    address: str
    branch: str = "main"
    user_name: str = ""
    secret_variable: str = ""
    secret: str = ""
    host_key: str = ""


@transaction.atomic
def set_up(values: Values, *, by: User) -> Mirror:
    """Start mirroring the catalogue, beginning with its current contents. Raises BadInput, NotAllowedNow."""
    require_administrator(by)
    judged = _judge(values, has_secret=False)
    mirror = Mirror(owner=by, secret=_sealed(judged), **_as_fields(judged))
    try:
        with transaction.atomic():
            mirror.save()
    except IntegrityError:
        raise NotAllowedNow(_("A mirror is already set up.")) from None
    MirrorCommit.objects.all().delete()
    record(mirror, "mirror set up", by=by, branch=("", judged.branch))
    return mirror


@transaction.atomic
def change(values: Values, *, by: User, seen: int) -> Mirror:
    """Change the mirror's settings. The new repository must contain the commits written so far.

    Raises BadInput, and Stale if the mirror has changed since edition `seen`.
    """
    require_administrator(by)
    mirror = _lock()
    if seen != mirror.edition:
        raise Stale(
            _("Another user has changed the mirror since you opened it."), newest=mirror.edition
        )
    judged = _judge(values, has_secret=bool(mirror.secret) and values.address == mirror.address)
    said: dict[str, tuple[object, object]] = {}
    for name, value in _as_fields(judged).items():
        if getattr(mirror, name) != value:
            said[name] = (getattr(mirror, name), value)
            setattr(mirror, name, value)
    # A secret belongs to one address and must not be sent to another address.
    if judged.secret or judged.secret_variable or "address" in said:
        if judged.secret or mirror.secret:
            said["secret"] = ("", _("changed"))
        mirror.secret = _sealed(judged)
    if not said:
        return mirror
    mirror.edition += 1
    mirror.retry_at = None  # the change may fix the problem
    mirror.diverged_at = None  # the next attempt checks the head again
    mirror.save()
    record(mirror, "mirror changed", by=by, **said)
    return mirror


@transaction.atomic
def pause(*, by: User, why: str = "") -> None:
    """Stop writing until `resume` is called. Publications wait in the queue. Raises NotAllowedNow, BadInput."""
    require_administrator(by)
    why = clean_text(why, field="why", longest=300, required=False)
    mirror = _lock()
    if mirror.paused_at is not None:
        raise NotAllowedNow(_("The mirror is already paused."))
    mirror.paused_at, mirror.paused_why = timezone.now(), why
    mirror.save(update_fields=["paused_at", "paused_why"])
    record(mirror, "mirror paused", by=by, why=("", why))


@transaction.atomic
def resume(*, by: User) -> None:
    """Resume writing, beginning with the waiting publications. Raises NotAllowedNow if the mirror is not paused."""
    require_administrator(by)
    mirror = _lock()
    if mirror.paused_at is None:
        raise NotAllowedNow(_("The mirror is not paused."))
    mirror.paused_at, mirror.paused_why, mirror.retry_at = None, "", None
    mirror.save(update_fields=["paused_at", "paused_why", "retry_at"])
    record(mirror, "mirror resumed", by=by)


@transaction.atomic
def ask_for_test(*, by: User) -> None:
    """Schedule a worker's test of the connection and the write access. The test writes nothing."""
    require_administrator(by)
    mirror = _lock()
    mirror.test_asked_at, mirror.retry_at = timezone.now(), None
    mirror.save(update_fields=["test_asked_at", "retry_at"])
    record(mirror, "mirror tested", by=by)


@transaction.atomic
def check_again(*, by: User) -> None:
    """Check the head of the branch again. Raises NotAllowedNow if the mirror has not stopped."""
    mirror = _lock_stopped(by)
    mirror.diverged_at, mirror.retry_at = None, None
    mirror.save(update_fields=["diverged_at", "retry_at"])
    record(mirror, "mirror checked again", by=by)


@transaction.atomic
def go_on(*, by: User, found: str) -> None:
    """Continue on top of the branch's current head with a commit that restores the catalogue's files.

    `found` is the head that the user saw. Raises NotAllowedNow if the mirror has not stopped or the head has changed.
    """
    mirror = _lock_stopped(by)
    if found != mirror.found_head:
        raise NotAllowedNow(_("The branch has changed again. Reload the page and decide again."))
    forget_made()
    MirrorCommit.objects.create(kind=MirrorCommit.Kind.ACCEPTED, by=by)
    mirror.accepted_head, mirror.diverged_at, mirror.retry_at = mirror.found_head, None, None
    mirror.save(update_fields=["accepted_head", "diverged_at", "retry_at"])
    record(mirror, "mirror continued", by=by, ends_with=(mirror.head, found))


@transaction.atomic
def remove(*, by: User) -> None:
    """Delete the mirror's settings. The remote repository stays unchanged."""
    require_administrator(by)
    mirror = _lock()
    record(mirror, "mirror removed", by=by, address=(mirror.address, ""))
    MirrorCommit.objects.all().delete()
    MirrorBranch.objects.all().delete()
    mirror.delete()


def _lock() -> Mirror:
    mirror = Mirror.objects.select_for_update().first()
    if mirror is None:
        raise NotAllowedNow(_("No mirror is set up."))
    return mirror


def _lock_stopped(by: User) -> Mirror:
    require_administrator(by)
    mirror = _lock()
    if mirror.diverged_at is None:
        raise NotAllowedNow(_("The mirror has not stopped."))
    return mirror


def _judge(values: Values, *, has_secret: bool) -> Values:
    address = read_repository(values.address)
    user_name, host_key = values.user_name.strip(), " ".join(values.host_key.split())
    if is_folder(address):
        return Values(address=address, branch=read_branch(values.branch))
    variable = check_variable(values.secret_variable)
    secret = values.secret.replace("\r\n", "\n").strip()
    if len(secret) > MOST_SECRET or not secret.isascii() or "\0" in secret:
        raise BadInput(_("Enter a password, a token or an SSH private key."), field="secret")
    if not is_by_ssh(address):
        if user_name and not _USER_NAME.fullmatch(user_name):
            raise BadInput(_("Enter a valid username."), field="user_name")
        if "\n" in secret:
            raise BadInput(_("A password or token must be a single line."), field="secret")
        host_key = ""
    else:
        if not (secret or variable or has_secret):
            raise BadInput(_("Enter the private key or the name of a variable."), field="secret")
        if not _HOST_KEY.fullmatch(host_key):
            raise BadInput(
                _("Enter the server's host key, such as ssh-ed25519 AAAA…"),
                field="host_key",
            )
        user_name = ""
    return Values(
        address=address,
        branch=read_branch(values.branch),
        user_name=user_name,
        secret_variable=variable,
        secret="" if variable else secret,
        host_key=host_key,
    )


def _sealed(judged: Values) -> str:
    return seal(judged.secret) if judged.secret else ""


def _as_fields(values: Values) -> dict[str, str]:
    return {name: getattr(values, name) for name in _FIELDS}
