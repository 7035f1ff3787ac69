"""Validate an endpoint's address and the name of its key variable. A key itself is rejected and never stored."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from django.utils.translation import gettext as _

from core.errors import BadInput
from core.network.addresses import (
    Zone,
    is_metadata_name,
    read_address,
    zone_of,
)
from pipeline.clients.endpoint_keys import KEY_PREFIX, is_key_variable

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# The last label begins with a letter because some resolvers read a numeric label as an address.
_HOST_NAME = re.compile(r"(?=.{1,253}$)([a-z0-9_][a-z0-9_-]*\.)*[a-z][a-z0-9_-]*")
_PRIVATE_NAMES = (".local", ".internal", ".lan", ".home.arpa", ".localhost")
_KEY_BEGINNINGS = ("sk-", "sk_", "xai-", "gsk_", "hf_", "pplx-", "AIza", "AKIA", "ghp_", "Bearer ")


def read_base_url(text: str) -> str:
    """Return the address to store, without a trailing slash. Raises BadInput for an invalid address."""
    parts = _split(text.strip())
    if parts.scheme not in ("http", "https"):
        raise _refuse(_("Enter an address that starts with http:// or https://."))
    if parts.username is not None or parts.password is not None:
        raise _refuse(
            _(
                "Remove the username and password from the address. Keys are read from environment "
                "variables."
            )
        )
    if parts.query or parts.fragment or text.strip().endswith(("?", "#")):
        raise _refuse(_("Remove the “?” or “#” and everything after it."))
    path = parts.path.rstrip("/")
    if re.search(r"/v1(/messages)?$", path):
        raise _refuse(_("Remove /v1. The client adds /v1/messages to the address."))
    if re.search(r"[^A-Za-z0-9._~/-]", path):
        raise _refuse(_("The path of the address contains invalid characters."))
    base_url = parts._replace(netloc=_netloc(parts), path=path).geturl()
    _refuse_where_no_model_is_asked(parts.hostname or "")
    if parts.scheme == "http" and not is_private(base_url):
        raise _refuse(
            _(
                "Use https://. Plain http:// is allowed only on this machine and in private networks, "
                "because others could read the key and scripts."
            )
        )
    return base_url


def is_private(base_url: str) -> bool:
    """Return whether the address seems to be on this machine or in a private network."""
    host = urlsplit(base_url).hostname or ""
    address = read_address(host)
    if address is not None:
        return zone_of(address) in (Zone.LOOPBACK, Zone.PRIVATE)
    return "." not in host or host.endswith(_PRIVATE_NAMES)


def read_key_variable(text: str) -> str:
    """Return the variable's name, or "" if the server needs no key. Raises BadInput, which never quotes the input."""
    name = text.strip()
    if not name:
        return ""
    if looks_like_key(name):
        raise BadInput(
            _(
                "This looks like a key, so it was not saved. Set the key as an environment "
                "variable of the web server and the worker, and enter the variable's name here, "
                "such as ANTHROPIC_API_KEY."
            ),
            field="key_variable",
        )
    if not _VARIABLE.fullmatch(name) or len(name) > 100:
        raise BadInput(
            _(
                "Enter the name of an environment variable. Use letters, digits and underscores, and don't start with "
                "a digit."
            ),
            field="key_variable",
        )
    if not is_key_variable(name):
        raise BadInput(
            _(
                "The variable's name must start with %(prefix)s, such as %(prefix)sOLLAMA, or be a well-known name, "
                "such as ANTHROPIC_API_KEY. Other variables are never sent."
            )
            % {"prefix": KEY_PREFIX},
            field="key_variable",
        )
    return name


def looks_like_key(text: str) -> bool:
    """Return whether the text looks like a key: it has a known prefix, or is too long and mixed for a name."""
    text = text.strip()
    if text.startswith(_KEY_BEGINNINGS):
        return True
    if len(text) < 20 or " " in text:
        return False
    has_digit = any(letter.isdigit() for letter in text)
    is_mixed = text != text.upper() and text != text.lower()
    has_no_joints = "_" not in text
    return not _VARIABLE.fullmatch(text) or (has_digit and (is_mixed or has_no_joints))


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _refuse(_("This is not a valid address. Example: http://127.0.0.1:11434.")) from None
    host = parts.hostname or ""
    good = read_address(host) is not None or _HOST_NAME.fullmatch(host)
    if not text.isascii() or re.search(r"[\s\\]", text) or "%" in host or not good or port == 0:
        raise _refuse(_("This is not a valid address. Example: http://127.0.0.1:11434."))
    return parts


def _netloc(parts: SplitResult) -> str:
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{parts.port}" if parts.port is not None else shown


def _refuse_where_no_model_is_asked(host: str) -> None:
    address = read_address(host)
    if is_metadata_name(host) or (address is not None and zone_of(address) is Zone.FORBIDDEN):
        raise _refuse(
            _(
                "This address is not allowed. It is a link-local or reserved address, or a cloud "
                "metadata service, which returns this machine's credentials."
            )
        )


def _refuse(message: str) -> BadInput:
    return BadInput(message, field="base_url")
