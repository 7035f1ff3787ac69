"""The demo data: the starter catalogue, six accounts, sample actions and two studies. It is loaded only once."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import yaml
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog import services as catalog
from core.errors import Refused
from pipeline import services as pipeline
from pipeline.models import Action, Run
from scriptsmith_site.demo.studies import make_studies
from scriptsmith_site.models import DemoPassword
from scriptsmith_site.people.roles import Role
from scriptsmith_site.people.services import create_account

ACCOUNTS = [
    ("rita", "Rita Lindqvist", Role.REVIEWER),
    ("carlo", "Carlo Okafor", Role.CURATOR),
    ("mona", "Mona Iyer", Role.MANAGER),
    ("ada", "Ada Brandt", Role.ADMINISTRATOR),
    # A second SRE, who requests scripts. Requesters see verdicts, which reviewers must not see.
    ("sven", "Sven Haugen", Role.REVIEWER),
    # A second curator, who verifies the first curator's entries.
    ("cora", "Cora Nyberg", Role.CURATOR),
]
ASKER, ADMINISTRATOR = "sven", "ada"
MANAGER, REVIEWER = "mona", "rita"
ACTIONS = Path(settings.BASE_DIR) / "pipeline" / "demo" / "actions"


def load() -> dict[str, str]:
    """Create the missing parts of the demo, and return its accounts' passwords by username.

    Raises Refused if the server is reachable from other machines, because the passwords are public.
    """
    require_private()
    passwords = make_accounts()
    catalog.load_starter()
    pipeline.switch_cases_on(by=_account(ADMINISTRATOR))
    make_actions(by=_account(ASKER))
    make_studies(manager=_account(MANAGER), reviewer=_account(REVIEWER))
    return passwords


def require_private() -> None:
    """Raise Refused unless the server listens on loopback only and production settings are off."""
    if settings.PRODUCTION:
        raise Refused(_("The demo can't run in production. Set SCRIPTSMITH_DEMO=False."))
    if not _is_loopback(settings.BIND):
        raise Refused(
            _(
                "The demo accounts are only allowed on a loopback address. Set "
                "SCRIPTSMITH_DEMO=False, or unset SCRIPTSMITH_BIND."
            )
        )


def make_accounts() -> dict[str, str]:
    """Create the missing accounts, and return all passwords by username. Each start prints the passwords.

    If another account already uses a name, the demo's account gets a different name.
    """
    passwords: dict[str, str] = {}
    new: list[User] = []
    for name, full_name, role in ACCOUNTS:
        username = _free_name(name)
        kept = DemoPassword.objects.filter(user__username=username).first()
        if kept is None:
            user = create_account(username, display_name=full_name, roles=[role], by=None)
            user.first_name, _space, user.last_name = full_name.partition(" ")
            user.save(update_fields=["first_name", "last_name"])
            kept = DemoPassword.objects.create(user=user, password=secrets.token_urlsafe(9))
            new.append(user)
        passwords[username] = kept.password
    with ThreadPoolExecutor() as pool:  # hashing one password takes half a second of CPU time
        hashes = pool.map(make_password, [passwords[user.username] for user in new])
        for user, hashed in zip(new, hashes, strict=True):
            user.password = hashed
            user.save(update_fields=["password"])
    return passwords


def _account(name: str) -> User:
    """Return the demo account for this name in `ACCOUNTS`. The account must exist."""
    return User.objects.get(username=_free_name(name))


def _free_name(name: str) -> str:
    """Return the first username of rita, demo-rita, demo-rita-2 ... that is unused or belongs to a demo account."""
    for number in count():
        username = (name, f"demo-{name}")[number] if number < 2 else f"demo-{name}-{number}"
        is_ours = DemoPassword.objects.filter(user__username=username).exists()
        if is_ours or not User.objects.filter(username__iexact=username).exists():
            return username
    raise AssertionError("unreachable")


def make_actions(*, by: User) -> int:
    """Start a run for each demo action that has not been loaded, and return the number of new actions."""
    known = set(
        Action.objects.filter(source=Action.Source.DEMO).values_list("statement", flat=True)
    )
    new = 0
    for details in read_actions():
        statement = str(details["statement"]).strip()
        if statement in known:
            continue
        with transaction.atomic():
            action = pipeline.ask(
                statement,
                by=by,
                incident=str(details.get("context") or ""),
                reference=str(details.get("reference") or ""),
                severity=int(str(details.get("severity") or 3)),
                target=str(details.get("target") or ""),
                impact=str(details.get("impact") or ""),
                source=Action.Source.DEMO,
            )
            pipeline.start_run(action, by=by, origin=Run.Origin.DEMO)
        new += 1
    return new


def read_actions() -> Iterator[dict[str, object]]:
    """Yield the content of each demo action file, sorted by file name."""
    for path in sorted(ACTIONS.glob("*.yaml")):
        yield yaml.safe_load(path.read_text(encoding="utf-8"))


def _is_loopback(address: str) -> bool:
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False
