"""System checks: a wrong setting is an error with advice, before anybody meets it."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from importlib.util import find_spec

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from catalog.analysis.shellcheck import find_shellcheck

SHORTEST_KEY = 32
KNOWN_ENDPOINTS = frozenset({"demo", "claude", "ollama"})

Check = Callable[..., list[CheckMessage]]


def register_all() -> None:
    """Make `manage.py check` and every start ask what is below."""
    checks: tuple[Check, ...] = (
        check_demo_stays_here,
        check_no_demo_accounts_left,
        check_debug_stays_here,
        check_secret_key,
        check_embedder,
        check_endpoints,
        check_shellcheck,
    )
    for check in checks:
        register(check)


def check_demo_stays_here(**_options: object) -> list[CheckMessage]:
    """E001: the demo's accounts have passwords that are printed at each start."""
    if not settings.SCRIPTSMITH_DEMO or not is_reachable():
        return []
    return [
        Error(
            "The demo would be loaded, with its accounts, on a server that others can reach.",
            hint="Set SCRIPTSMITH_DEMO=False; or listen on 127.0.0.1, not in production.",
            id="scriptsmith.E001",
        )
    ]


def check_no_demo_accounts_left(**_options: object) -> list[CheckMessage]:
    """E002: the same for accounts that an earlier start has made."""
    if not settings.LAYOUT.demo_passwords.exists() or not is_reachable():
        return []
    return [
        Error(
            "This data folder has demo accounts, on a server that others can reach.",
            hint=(
                "Begin with an empty folder (SCRIPTSMITH_DATA); or deactivate the demo accounts on "
                "the users page while nobody else can reach it, then delete "
                f"{settings.LAYOUT.demo_passwords}."
            ),
            id="scriptsmith.E002",
        )
    ]


def check_debug_stays_here(**_options: object) -> list[CheckMessage]:
    """E003: tracebacks show settings and texts."""
    if not settings.DEBUG or not is_reachable():
        return []
    return [
        Error(
            "SCRIPTSMITH_DEBUG shows tracebacks on a server that others can reach.",
            hint="Set SCRIPTSMITH_DEBUG=False.",
            id="scriptsmith.E003",
        )
    ]


def check_secret_key(**_options: object) -> list[CheckMessage]:
    """E004: a short key can be guessed, and with it sessions be forged."""
    if len(settings.SECRET_KEY) >= SHORTEST_KEY:
        return []
    return [
        Error(
            f"SCRIPTSMITH_SECRET_KEY has fewer than {SHORTEST_KEY} characters.",
            hint="Leave it empty for one that is made and kept in the data folder.",
            id="scriptsmith.E004",
        )
    ]


def check_embedder(**_options: object) -> list[CheckMessage]:
    """E005: found without being loaded, which takes seconds and memory."""
    spec = settings.SCRIPTSMITH_EMBEDDER
    if spec in ("minilm", "hashing"):
        return []
    module, colon, name = spec.partition(":")
    if module and colon and name and _is_importable(module):
        return []
    return [
        Error(
            f"SCRIPTSMITH_EMBEDDER is {spec!r}, and there is no such embedder.",
            hint='Write "minilm", "hashing" or "package.module:Class".',
            id="scriptsmith.E005",
        )
    ]


def check_endpoints(**_options: object) -> list[CheckMessage]:
    """W001: a mistyped name would switch nothing on, and say nothing."""
    unknown = sorted(set(settings.SCRIPTSMITH_ENDPOINTS) - KNOWN_ENDPOINTS)
    if not unknown:
        return []
    return [
        Warning(
            f"SCRIPTSMITH_ENDPOINTS names {', '.join(unknown)}, which the product does not bring.",
            hint=(
                f"It brings {', '.join(sorted(KNOWN_ENDPOINTS))}; "
                "any other must have been made on the endpoints page."
            ),
            id="scriptsmith.W001",
        )
    ]


def check_shellcheck(**_options: object) -> list[CheckMessage]:
    """W002: without it scripts are assessed with less."""
    if find_shellcheck() is not None:
        return []
    return [
        Warning(
            "ShellCheck is not installed, so scripts get no findings from it.",
            hint="Run `make setup`, or install shellcheck.",
            id="scriptsmith.W002",
        )
    ]


def is_reachable() -> bool:
    """Whether anybody but people on this machine may come."""
    return settings.PRODUCTION or not is_loopback(settings.BIND)


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches a server that listens there."""
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
