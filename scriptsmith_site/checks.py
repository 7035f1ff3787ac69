"""System checks that report invalid settings as errors or warnings, with a hint."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connections

from catalog.analysis.shellcheck import find_shellcheck
from core.database.migration_history import require_whole_history
from scriptsmith_site.integrations.notifications.mail_settings import is_mail_configured
from scriptsmith_site.models import DemoPassword, Destination
from scriptsmith_site.operation.installation import require_same_key

SHORTEST_KEY = 32
KNOWN_ENDPOINTS = frozenset({"demo", "claude", "local", "ollama"})

Check = Callable[..., list[CheckMessage]]


def register_all() -> None:
    """Register the checks in this module for `manage.py check` and for startup."""
    checks: tuple[Check, ...] = (
        check_demo_stays_here,
        check_debug_stays_here,
        check_secret_key,
        check_embedder,
        check_endpoints,
        check_shellcheck,
        check_provider,
    )
    for check in checks:
        register(check)
    # `migrate`, startup and commands with `--database` run these checks.
    register(check_no_demo_accounts_left, Tags.database)
    register(check_same_secret_key, Tags.database)
    register(check_whole_history, Tags.database)
    register(check_own_address, Tags.database)


def check_demo_stays_here(**_options: object) -> list[CheckMessage]:
    """Return E001 if demo accounts would be created on a reachable server. Their passwords are printed at startup."""
    if not settings.SCRIPTSMITH_DEMO or not is_reachable():
        return []
    return [
        Error(
            "The demo accounts would be created on a server that other machines can reach.",
            hint=(
                "Set SCRIPTSMITH_DEMO=False. For a demo on this machine only, listen on 127.0.0.1 and "
                "leave SCRIPTSMITH_PRODUCTION unset."
            ),
            id="scriptsmith.E001",
        )
    ]


def check_no_demo_accounts_left(
    databases: Sequence[str] | None = None, **_options: object
) -> list[CheckMessage]:
    """Return E002 if a reachable server's database has demo accounts from an earlier start on any machine."""
    if not databases or not is_reachable() or not _has_demo_accounts():
        return []
    return [
        Error(
            "This database has demo accounts, and other machines can reach this server.",
            hint=(
                "Start with an empty database, or deactivate the demo accounts on the Users page "
                "while only this machine can reach the server."
            ),
            id="scriptsmith.E002",
        )
    ]


def _has_demo_accounts() -> bool:
    try:
        return DemoPassword.objects.filter(user__is_active=True).exists()
    except DatabaseError:  # the database is not migrated yet, so it has no demo accounts
        return False


def check_same_secret_key(
    databases: Sequence[str] | None = None, **_options: object
) -> list[CheckMessage]:
    """Return E006 if this machine's secret key differs from the database's recorded key.

    Machines with different keys reject each other's signatures and secrets.
    """
    if not databases:
        return []
    try:
        require_same_key()
    except ImproperlyConfigured as error:
        message, _dot, hint = str(error).partition(". ")
        return [Error(f"{message}.", hint=hint, id="scriptsmith.E006")]
    except DatabaseError:  # the database is not migrated yet, so it has no recorded key
        pass
    return []


def check_whole_history(
    databases: Sequence[str] | None = None, **_options: object
) -> list[CheckMessage]:
    """Return E008 if only some of the squashed migrations are applied, because Django would silently skip the app."""
    for alias in databases or ():
        try:
            require_whole_history(connections[alias])
        except ImproperlyConfigured as error:
            message, _dot, hint = str(error).partition(". ")
            return [Error(f"{message}.", hint=hint, id="scriptsmith.E008")]
        except DatabaseError:  # the server does not respond, and the command reports that itself
            pass
    return []


def check_own_address(
    databases: Sequence[str] | None = None, **_options: object
) -> list[CheckMessage]:
    """Return W003 if links in emails and events would contain the address on which the server listens."""
    if not databases or settings.SCRIPTSMITH_URL or not is_reachable() or not _writes_links():
        return []
    return [
        Warning(
            "Links in emails and events do not work, because this site's address is not set.",
            hint="Set SCRIPTSMITH_URL, for example to https://scripts.example.org.",
            id="scriptsmith.W003",
        )
    ]


def _writes_links() -> bool:
    try:
        return is_mail_configured() or Destination.objects.exists()
    except DatabaseError:  # the database is not migrated yet, so no links are sent
        return False


def check_debug_stays_here(**_options: object) -> list[CheckMessage]:
    """Return E003 if tracebacks, which show settings and request data, are enabled on a reachable server."""
    if not settings.DEBUG or not is_reachable():
        return []
    return [
        Error(
            "SCRIPTSMITH_DEBUG shows tracebacks on a server that other machines can reach.",
            hint="Set SCRIPTSMITH_DEBUG=False.",
            id="scriptsmith.E003",
        )
    ]


def check_secret_key(**_options: object) -> list[CheckMessage]:
    """Return E004 if the secret key is short. An attacker could guess it and forge sessions."""
    if len(settings.SECRET_KEY) >= SHORTEST_KEY:
        return []
    return [
        Error(
            f"SCRIPTSMITH_SECRET_KEY has fewer than {SHORTEST_KEY} characters.",
            hint="Leave it empty to use a generated key, which is stored in the data folder.",
            id="scriptsmith.E004",
        )
    ]


def check_embedder(**_options: object) -> list[CheckMessage]:
    """Return E005 if the embedder does not exist. The embedder is not loaded, because that takes seconds and memory."""
    spec = settings.SCRIPTSMITH_EMBEDDER
    if spec in ("minilm", "hashing"):
        return []
    module, colon, name = spec.partition(":")
    if module and colon and name and _is_importable(module):
        return []
    return [
        Error(
            f"SCRIPTSMITH_EMBEDDER is {spec!r}, which is not a known embedder.",
            hint='Use "minilm", "hashing" or "package.module:Class".',
            id="scriptsmith.E005",
        )
    ]


def check_endpoints(**_options: object) -> list[CheckMessage]:
    """Return W001 if an endpoint's name is misspelled, because it would be ignored silently."""
    unknown = sorted(set(settings.SCRIPTSMITH_ENDPOINTS) - KNOWN_ENDPOINTS)
    if not unknown:
        return []
    return [
        Warning(
            f"SCRIPTSMITH_ENDPOINTS names unknown endpoints: {', '.join(unknown)}.",
            hint=(
                f"Built in are {', '.join(sorted(KNOWN_ENDPOINTS))}. Create any other endpoint on the "
                "Endpoints page."
            ),
            id="scriptsmith.W001",
        )
    ]


def check_shellcheck(**_options: object) -> list[CheckMessage]:
    """Return W002 if ShellCheck is not installed, because scripts are then assessed with fewer checks."""
    if find_shellcheck() is not None:
        return []
    return [
        Warning(
            "ShellCheck is not installed, so scripts get no findings from it.",
            hint="Run `make setup`, or install shellcheck.",
            id="scriptsmith.W002",
        )
    ]


def check_provider(**_options: object) -> list[CheckMessage]:
    """Return E007 if the provider configuration would block all sign-ins or send secrets in plain text."""
    issuer = settings.SCRIPTSMITH_OIDC_ISSUER
    if not issuer:
        return []
    missing = [
        f"SCRIPTSMITH_OIDC_{name}"
        for name in ("CLIENT_ID", "CLIENT_SECRET", "ENTRY_GROUPS")
        if not getattr(settings, f"SCRIPTSMITH_OIDC_{name}")
    ]
    if missing:
        return [
            Error(
                f"SCRIPTSMITH_OIDC_ISSUER is set, but {', '.join(missing)} is empty.",
                hint=(
                    "Set all of them. Set SCRIPTSMITH_OIDC_ENTRY_GROUPS to * to admit all users of the "
                    "provider."
                ),
                id="scriptsmith.E007",
            )
        ]
    parts = urlsplit(issuer)
    if parts.scheme == "https" or is_loopback(parts.hostname or ""):
        return []
    return [
        Error(
            "SCRIPTSMITH_OIDC_ISSUER does not start with https://.",
            hint=(
                "Use an https:// issuer, so that responses from the provider can't be altered in "
                "transit."
            ),
            id="scriptsmith.E007",
        )
    ]


def is_reachable() -> bool:
    """Return whether the server is reachable from other machines."""
    return settings.PRODUCTION or not is_loopback(settings.BIND)


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach a server that listens on this address."""
    if address == "localhost" or address.startswith("unix:"):
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
