"""The secret of the mirror, encrypted in the database or read from an environment variable."""

from __future__ import annotations

from django.utils.translation import gettext as _

from core import sealing
from scriptsmith_site.integrations.mirror.remotes import Access, RemoteTrouble
from scriptsmith_site.integrations.outbox.transport.sealing import Unreadable, read_variable
from scriptsmith_site.models import Mirror

_PURPOSE = "scriptsmith mirror"


def seal(secret: str) -> str:
    """Encrypt a secret."""
    return sealing.seal(secret, purpose=_PURPOSE)


def access_of(mirror: Mirror) -> Access:
    """Return the address and credentials of the mirror. Raises RemoteTrouble if the secret cannot be read."""
    secret = ""
    try:
        if mirror.secret_variable:
            secret = read_variable(mirror.secret_variable)
        elif mirror.secret:
            secret = sealing.unseal(mirror.secret, purpose=_PURPOSE)
    except Unreadable as refusal:
        raise RemoteTrouble(str(refusal)) from None
    except sealing.CannotUnseal:
        raise RemoteTrouble(
            _(
                "The secret can't be decrypted, because SCRIPTSMITH_SECRET_KEY has changed. Enter it "
                "again."
            )
        ) from None
    return Access(mirror.address, mirror.user_name, secret, mirror.host_key)
