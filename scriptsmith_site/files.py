"""Where kept files lie: a folder, or a bucket that speaks S3; from one text of the environment."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

_FOLDER = "django.core.files.storage.FileSystemStorage"
_BUCKET = "storages.backends.s3.S3Storage"


def local_folder(place: str) -> Path | None:
    """The folder that is named, or None where a bucket or nothing is. Raises ImproperlyConfigured."""
    if not place or "://" in place:
        return None
    folder = Path(place).expanduser()
    if not folder.is_absolute():
        raise ImproperlyConfigured(f"SCRIPTSMITH_FILES is {place!r}; write the whole path.")
    return folder


def kept_files_storage(place: str, *, endpoint: str) -> dict[str, Any]:
    """The entry of Django's STORAGES. Keys of a bucket come from the environment, as boto3 reads them.

    Raises ImproperlyConfigured for another address than s3://bucket/prefix, and where django-storages is missing.
    """
    if "://" not in place:
        # Nobody else on the machine reads them, and a name that is written again replaces what was there.
        folder: dict[str, Any] = {
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
            "allow_overwrite": True,
        }
        return {"BACKEND": _FOLDER, "OPTIONS": folder}
    parts = urlsplit(place)
    if parts.scheme != "s3" or not parts.hostname or parts.query or parts.username:
        raise ImproperlyConfigured(
            f"SCRIPTSMITH_FILES is {place!r}; write a folder or s3://bucket/prefix."
        )
    if find_spec("storages") is None:
        raise ImproperlyConfigured(
            "SCRIPTSMITH_FILES names a bucket: install what requirements-s3.txt lists."
        )
    options: dict[str, Any] = {
        "bucket_name": parts.hostname,
        "location": parts.path.strip("/"),
        "file_overwrite": True,
        "default_acl": None,
        # What is read lies in a temporary file without a name, not in memory.
        "max_memory_size": 1024 * 1024,
    }
    return {
        "BACKEND": _BUCKET,
        "OPTIONS": options | ({"endpoint_url": endpoint} if endpoint else {}),
    }
