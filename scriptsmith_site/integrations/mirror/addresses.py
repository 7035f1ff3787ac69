"""Validation of repository addresses.

URLs must follow the network rules of webhooks, and folders must be inside SCRIPTSMITH_MIRROR_FOLDER.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from core.errors import BadInput
from scriptsmith_site.integrations.outbox.transport.addresses import (
    LONGEST_ADDRESS,
    check_host,
    check_port,
    read_url,
)

_SSH_PORTS = (22, 443)  # some networks only allow connections to port 443
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,99}")
_PATH = re.compile(r"/[A-Za-z0-9_.~/-]+")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class SshAddress(NamedTuple):
    """The parts of an SSH repository address."""

    user: str
    host: str
    port: int
    path: str


def read_repository(text: str) -> str:
    """Validate a repository address, and return it in its stored form. Raises BadInput."""
    text = text.strip()
    if text.startswith("/"):
        find_folder(text)
        return text
    if text.startswith("ssh://"):
        read_ssh(text)
        return text
    if not text.startswith(("https://", "http://")):
        raise _refuse(
            _(
                "Enter https://…, ssh://user@host/path, or the folder of a repository on this "
                "machine."
            )
        )
    if "@" in text.split("/", 3)[2]:
        raise _refuse(
            _("Remove the username and password from the address. Use the separate fields.")
        )
    if "?" in text:
        raise _refuse(_("Remove the part of the address after “?”."))
    return read_url(text)


def is_by_ssh(address: str) -> bool:
    """Return whether the address uses SSH."""
    return address.startswith("ssh://")


def is_folder(address: str) -> bool:
    """Return whether the address is a local folder, which needs no secret."""
    return address.startswith("/")


def read_ssh(address: str) -> SshAddress:
    """Parse an SSH address. Raises BadInput."""
    try:
        parts = urlsplit(address)
        port = 22 if parts.port is None else parts.port
    except ValueError:
        raise _refuse(
            _("Enter a valid address, such as ssh://git@git.example.org/x.git.")
        ) from None
    fits = _USER.fullmatch(parts.username or "") and _PATH.fullmatch(parts.path)
    if (
        len(address) > LONGEST_ADDRESS
        or not fits
        or parts.password
        or parts.query
        or parts.fragment
    ):
        raise _refuse(_("Enter a valid address, such as ssh://git@git.example.org/x.git."))
    check_port(port, usual=_SSH_PORTS)
    check_host(parts.hostname or "", is_encrypted=True)
    return SshAddress(parts.username or "", parts.hostname or "", port, parts.path)


def find_folder(address: str) -> Path:
    """Return the path of a local repository. Raises BadInput if the settings do not allow the folder."""
    allowed = settings.SCRIPTSMITH_MIRROR_FOLDER
    if not allowed:
        raise _refuse(
            _(
                "Folders on this machine are not allowed, because SCRIPTSMITH_MIRROR_FOLDER is not "
                "set."
            )
        )
    above, folder = Path(allowed).resolve(), Path(address).resolve()
    if above not in folder.parents or "\0" in address:
        raise _refuse(_("Choose a folder inside SCRIPTSMITH_MIRROR_FOLDER."))
    return folder


def read_branch(text: str, *, field: str = "branch") -> str:
    """Return the branch name. Raises BadInput for names that Git rejects or interprets differently."""
    text = text.strip()
    is_good = _BRANCH.fullmatch(text) and not re.search(r"\.\.|//|/\.|\.$|/$|\.lock(/|$)", text)
    if not is_good or text == "HEAD":
        raise BadInput(
            _("Enter a valid branch name. Use letters, digits, “-”, “_”, “.” and “/”."),
            field=field,
        )
    return text


def _refuse(message: str) -> BadInput:
    return BadInput(message, field="address")
