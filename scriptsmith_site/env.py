"""Typed settings from the environment. Invalid values are rejected at startup.

Each `env_` function adds its name, default and help text to `KNOWN`, from which docs/settings.md is generated.
"""

from __future__ import annotations

import ipaddress
import os
from typing import NamedTuple
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured


class Variable(NamedTuple):
    name: str
    default: str
    help: str


KNOWN: dict[str, Variable] = {}
_ROLES = ("reviewer", "curator", "manager", "administrator")


def _read(name: str, default: str, help: str) -> str:
    KNOWN[name] = Variable(name, default, help)
    return os.environ.get(name, "").strip() or default


def env_text(name: str, default: str, help: str) -> str:
    """Return the variable's text, or the default if it is unset or empty."""
    return _read(name, default, help)


def env_bool(name: str, default: bool, help: str) -> bool:
    """Return the variable as a boolean. Raises ImproperlyConfigured unless it is `True` or `False`."""
    value = _read(name, str(default), help)
    if value not in ("True", "False"):
        raise ImproperlyConfigured(f"{name} is {value!r}. Use True or False.")
    return value == "True"


def env_int(name: str, default: int, help: str, *, least: int = 0, most: int = 2**31 - 1) -> int:
    """Return the variable as an integer. Raises ImproperlyConfigured unless it is between `least` and `most`."""
    value = _read(name, str(default), help)
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}. Use a whole number.") from None
    if not least <= number <= most:
        raise ImproperlyConfigured(f"{name} is {number}. Use a number from {least} to {most}.")
    return number


def env_float(name: str, default: float, help: str, *, least: float, most: float) -> float:
    """Return the variable as a number. Raises ImproperlyConfigured unless it is between `least` and `most`."""
    value = _read(name, str(default), help)
    try:
        number = float(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}. Use a number.") from None
    if not least <= number <= most:
        raise ImproperlyConfigured(f"{name} is {number}. Use a number from {least} to {most}.")
    return number


def env_choice(name: str, default: str, help: str, *, choices: tuple[str, ...]) -> str:
    """Return the variable. Raises ImproperlyConfigured unless it is one of the choices."""
    value = _read(name, default, help)
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}. Use one of {', '.join(choices)}.")
    return value


def env_url(name: str, help: str, *, schemes: tuple[str, ...]) -> str:
    """Return a URL with a host and one of these schemes, or an empty string. Other values raise
    ImproperlyConfigured.
    """
    value = _read(name, "", help)
    if not value:
        return ""
    try:
        parts = urlsplit(value)
        is_good = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        begins = " or ".join(f"{scheme}://" for scheme in schemes)
        # The value is not quoted, because it may contain a password.
        raise ImproperlyConfigured(f"{name} is not an address that starts with {begins}.")
    return value


def env_address(name: str, help: str) -> tuple[str, int] | None:
    """Return an address and port such as 0.0.0.0:9464 or [::]:9464, or None. Other values raise
    ImproperlyConfigured.
    """
    value = _read(name, "", help)
    if not value:
        return None
    host, _colon, port = value.rpartition(":")
    try:
        address = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
        number = int(port)
    except ValueError:
        number = 0
    if not 0 < number < 65_536:
        raise ImproperlyConfigured(
            f"{name} is {value!r}. Use an address and a port, such as 0.0.0.0:9464."
        )
    return str(address), number


def env_list(name: str, default: str, help: str, *, separator: str = ",") -> list[str]:
    """Split the variable at `separator`, and return the nonempty parts."""
    return [part.strip() for part in _read(name, default, help).split(separator) if part.strip()]


def env_networks(name: str, default: str, help: str) -> list[str]:
    """Return a list of addresses and networks such as 10.0.0.0/8. Raises ImproperlyConfigured for any other value."""
    networks = env_list(name, default, help)
    for network in networks:
        try:
            ipaddress.ip_network(network, strict=False)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} has {network!r}. Use addresses or networks such as 10.0.0.0/8."
            ) from None
    return networks


def require_known_roles(name: str, roles: list[str], also: tuple[str, ...] = ()) -> None:
    """Raise ImproperlyConfigured if a value is neither a role nor in `also`."""
    for role in roles:
        if role not in (*_ROLES, *also):
            known = ", ".join((*_ROLES, *also))
            raise ImproperlyConfigured(f"{name} has {role!r}. The roles are {known}.")


def read_role_groups(name: str, pairs: list[str]) -> dict[str, list[str]]:
    """Return each role's groups, from pairs such as `reviewer=sre`. Raises ImproperlyConfigured."""
    groups: dict[str, list[str]] = {}
    for pair in pairs:
        role, equals, group = (part.strip() for part in pair.partition("="))
        if not equals or not group:
            raise ImproperlyConfigured(f"{name} has {pair!r}. Use pairs such as reviewer=sre.")
        require_known_roles(name, [role])
        groups.setdefault(role, []).append(group)
    return groups
