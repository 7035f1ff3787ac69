"""Check that all machines that share a database use the same secret key.

With different keys, signatures and secrets are invalid.
"""

from __future__ import annotations

import hmac

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from scriptsmith_site.models import Installation

_PURPOSE = b"scriptsmith.installation.secret-key"
_SHARED_DATABASE = (
    "This machine's secret key does not match this database. Set SCRIPTSMITH_SECRET_KEY to the key "
    "of the other machines, or copy their `secret-key` file to this data folder. If you changed the key on all "
    "machines on purpose, run `python manage.py accept_secret_key`."
)


def note_key(using: str = "default", **_signal: object) -> None:
    """Record the key with which a database is first migrated. This is called after each `migrate`."""
    if Installation._meta.db_table not in connections[using].introspection.table_names():
        return  # the migration state is older than this table
    Installation.objects.using(using).get_or_create(
        pk=Installation.ONLY, defaults={"secret_key_mark": _mark_of(settings.SECRET_KEY)}
    )


def require_same_key() -> None:
    """Raise ImproperlyConfigured if the database is used with a different key."""
    known = Installation.objects.values_list("secret_key_mark", flat=True).first()
    if known is not None and not hmac.compare_digest(known, _mark_of(settings.SECRET_KEY)):
        raise ImproperlyConfigured(
            _own_database() if not settings.DATABASE_URL else _SHARED_DATABASE
        )


def _own_database() -> str:
    """Return the error message for a database that ScriptSmith started itself.

    If ScriptSmith runs as root, the database's files are outside the data folder. They remain if the data folder is
    deleted with its checkout, and a new checkout at the same path uses them again.
    """
    layout = settings.LAYOUT
    folder = layout.postgres_home if layout.runs_as_root else layout.postgres_data
    return (
        f"The database in {folder} was created with another secret key, for example by an earlier checkout in the same "
        f"place. To start with an empty database, delete {folder}. To keep its data, restore the old key: copy the old "
        f"`secret-key` file to {layout.secret_key}, or set SCRIPTSMITH_SECRET_KEY. If the old key is lost, run `python "
        "manage.py accept_secret_key`; then users must sign in again and stored secrets must be entered again."
    )


def accept_key() -> bool:
    """Record this machine's key as the database's key, and return whether a different key was recorded."""
    mark = _mark_of(settings.SECRET_KEY)
    _installation, is_new = Installation.objects.get_or_create(
        pk=Installation.ONLY, defaults={"secret_key_mark": mark}
    )
    others = Installation.objects.exclude(secret_key_mark=mark)
    return not is_new and others.update(secret_key_mark=mark) > 0


def _mark_of(key: str) -> str:
    return hmac.digest(key.encode(), _PURPOSE, "sha256").hex()
