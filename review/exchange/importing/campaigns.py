"""Find or create the campaign, configurations and users that a file names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import validate_slug
from django.utils.text import slugify
from django.utils.translation import gettext as _

from core.audit import record
from core.database.advisory_lock import NEW_NAMES, lock_name
from core.errors import BadInput, NotAllowedNow
from pipeline.models import Configuration
from review.campaigns.services.rules import Rules, create_campaign
from review.exchange.rows.values import RowProblem
from review.models import Campaign


def find_campaign(name: str) -> Campaign | None:
    """Return the campaign with this name, ignoring extra whitespace, or None."""
    return Campaign.objects.filter(name=" ".join(name.split())).first()


def find_or_create_campaign(
    name: str, *, by: User | None, rules: Rules | None = None
) -> tuple[Campaign, bool]:
    """Return the campaign with this name, and whether it is new.

    Raises BadInput for an invalid name, and NotAllowedNow if the campaign accepts no imports.
    """
    found = find_campaign(name)
    if found is None:
        try:
            return create_campaign(name, by=by, rules=rules), True
        except BadInput:
            found = find_campaign(name)
            if found is None:
                raise
    check_takes_imports(found)
    return found, False


def require_manager(by: User | None) -> None:
    """Raise PermissionDenied unless the user is a manager.

    `by` is None on the command line, where every user is trusted.
    """
    if by is not None and not by.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Importing and exporting require the Manager role."))


def check_takes_imports(campaign: Campaign) -> None:
    """Raise NotAllowedNow if the campaign accepts no imports."""
    if campaign.is_live:
        raise NotAllowedNow(_("You can't import into the review queue. Import into a study."))
    if campaign.state == Campaign.State.CLOSED:
        raise NotAllowedNow(_("The study is closed. Reopen it before you import."))


class Configurations:
    """A cache of configurations by the names that files use."""

    def __init__(self, *, by: User | None) -> None:
        self._by = by
        self._known: dict[str, Configuration] = {}

    def of(self, name: str) -> Configuration:
        """Return the configuration with this name, and create it if necessary.

        Raises RowProblem for an invalid name.
        """
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._find(name) or self._make(name)
        return found

    def find(self, name: str) -> Configuration | None:
        """Return the configuration with this name, or None."""
        found = self._known.get(name) or self._find(name)
        if found:
            self._known[name] = found
        return found

    def _find(self, name: str) -> Configuration | None:
        names = {name, _slug_of(name)}
        found = Configuration.objects.filter(name__in=names).order_by("pk")
        return next((one for one in found if one.name == name), None) or found.first()

    def _make(self, name: str) -> Configuration:
        slug = _slug_of(name)
        if not slug:
            raise RowProblem(
                f"{name!r} can't be the name of a configuration", column="configuration"
            )
        # Lock, because another import may create the same names in a different order, which would cause a deadlock.
        lock_name(NEW_NAMES)
        made, is_new = Configuration.objects.get_or_create(
            name=slug,
            defaults={
                "title": name if name != slug else name.capitalize(),
                "preset": Configuration.Preset.IMPORTED,
                "rounds": 1,
                "uses_retrieval": False,
                "uses_examples": False,
                "created_by": self._by,
            },
        )
        if is_new:
            record(made, "created", by=self._by, preset=("", made.preset))
        return made

    def forget(self) -> None:
        """Clear the cache, because the transaction that created its configurations may have been rolled back."""
        self._known.clear()


def _slug_of(name: str) -> str:
    try:
        validate_slug(name)
    except ValidationError:
        return slugify(name.replace(".", "-").replace(":", "-"))[:80]
    return name


def people_of(names: Iterable[str], *, by: User | None, is_exact: bool = False) -> dict[str, User]:
    """Return the accounts with these names. For a name without an account, create an inactive account.

    An exact match takes precedence. Otherwise, names that differ only in case, spaces or Unicode form identify the same
    reviewer. If `is_exact`, as for our own exports, only exact matches are used.
    """
    wanted = dict.fromkeys(names)
    found = {user.username: user for user in User.objects.filter(username__in=wanted)}
    missing = [name for name in wanted if name not in found]
    if not missing:
        return found
    lock_name(NEW_NAMES)
    accounts = (
        User.objects.filter(username__in=missing) if is_exact else User.objects.only("username")
    )
    key_of = str if is_exact else _fold
    known = {key_of(one.username): one for one in accounts.order_by("-pk")}
    for name in missing:
        user = known.get(key_of(name))
        if user is None:
            user, is_new = User.objects.get_or_create(
                username=name, defaults={"is_active": False, "password": make_password(None)}
            )
            known[key_of(name)] = user
            if is_new:
                record(user, "account created for imported scores", by=by)
        found[name] = user
    return found


def _fold(name: str) -> str:
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def check_person(name: str) -> None:
    """Raise RowProblem unless the name is a valid username. Spaces are allowed."""
    try:
        UnicodeUsernameValidator()(name.replace(" ", "_"))
    except ValidationError:
        raise RowProblem(
            f"{name[:40]!r} can't be the name of a reviewer", column="reviewer"
        ) from None
