"""Which repositories the catalogue may be written to: the rule of webhooks, and folders that a setting names."""

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

_SSH_PORTS = (22, 443)  # the second where a proxy lets nothing else through
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,99}")
_PATH = re.compile(r"/[A-Za-z0-9_.~/-]+")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class SshAddress(NamedTuple):
    """A repository that is reached by SSH."""

    user: str
    host: str
    port: int
    path: str


def read_repository(text: str) -> str:
    """The address as it is stored. Raises BadInput."""
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
                "Write https://…, ssh://user@host/path, or the folder of a repository on this machine."
            )
        )
    if "@" in text.split("/", 3)[2]:
        raise _refuse(_("No name or password in the address: they have fields of their own."))
    if "?" in text:
        raise _refuse(_("The address has no part after “?”."))
    return read_url(text)


def is_by_ssh(address: str) -> bool:
    """Whether it is reached by SSH."""
    return address.startswith("ssh://")


def is_folder(address: str) -> bool:
    """Whether it lies on this machine, and takes no secret."""
    return address.startswith("/")


def read_ssh(address: str) -> SshAddress:
    """What an address of SSH says. Raises BadInput."""
    try:
        parts = urlsplit(address)
        port = 22 if parts.port is None else parts.port
    except ValueError:
        raise _refuse(
            _("This is no address; one looks like ssh://git@git.example.org/x.git.")
        ) from None
    fits = _USER.fullmatch(parts.username or "") and _PATH.fullmatch(parts.path)
    if (
        len(address) > LONGEST_ADDRESS
        or not fits
        or parts.password
        or parts.query
        or parts.fragment
    ):
        raise _refuse(_("This is no address; one looks like ssh://git@git.example.org/x.git."))
    check_port(port, usual=_SSH_PORTS)
    check_host(parts.hostname or "", is_encrypted=True)
    return SshAddress(parts.username or "", parts.hostname or "", port, parts.path)


def find_folder(address: str) -> Path:
    """The folder of a repository on this machine. Raises BadInput where no setting allows it."""
    allowed = settings.SCRIPTSMITH_MIRROR_FOLDER
    if not allowed:
        raise _refuse(
            _("Folders of this machine are not written to: SCRIPTSMITH_MIRROR_FOLDER names none.")
        )
    above, folder = Path(allowed).resolve(), Path(address).resolve()
    if above not in folder.parents or "\0" in address:
        raise _refuse(
            _("Only folders in the one that SCRIPTSMITH_MIRROR_FOLDER names are written to.")
        )
    return folder


def read_branch(text: str, *, field: str = "branch") -> str:
    """The name of a branch. Raises BadInput for what Git would refuse, or read as something else."""
    text = text.strip()
    is_good = _BRANCH.fullmatch(text) and not re.search(r"\.\.|//|/\.|\.$|/$|\.lock(/|$)", text)
    if not is_good or text == "HEAD":
        raise BadInput(
            _("This is no name of a branch; letters, digits, “-”, “_”, “.” and “/” are possible."),
            field=field,
        )
    return text


def _refuse(message: str) -> BadInput:
    return BadInput(message, field="address")
