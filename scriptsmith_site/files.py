"""File storage in a folder or an S3 bucket, configured by one variable."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

_FOLDER = "django.core.files.storage.FileSystemStorage"
_BUCKET = "storages.backends.s3.S3Storage"


def local_folder(place: str) -> Path | None:
    """Return the folder that `place` names, or None if it is a bucket or empty. Raises ImproperlyConfigured."""
    if not place or "://" in place:
        return None
    folder = Path(place).expanduser()
    if not folder.is_absolute():
        raise ImproperlyConfigured(f"SCRIPTSMITH_FILES is {place!r}. Use an absolute path.")
    return folder


def kept_files_storage(place: str, *, endpoint: str) -> dict[str, Any]:
    """Return the entry for Django's STORAGES. boto3 reads a bucket's keys from the environment.

    Raises ImproperlyConfigured if a URL is not s3://bucket/prefix or if django-storages is missing.
    """
    if "://" not in place:
        # Other users of the machine can't read the files, and writing to an existing name replaces its file.
        folder: dict[str, Any] = {
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
            "allow_overwrite": True,
        }
        return {"BACKEND": _FOLDER, "OPTIONS": folder}
    parts = urlsplit(place)
    if parts.scheme != "s3" or not parts.hostname or parts.query or parts.username:
        raise ImproperlyConfigured(
            f"SCRIPTSMITH_FILES is {place!r}. Use a folder or s3://bucket/prefix."
        )
    if find_spec("storages") is None:
        raise ImproperlyConfigured(
            "SCRIPTSMITH_FILES names a bucket. Install the packages in requirements-s3.txt."
        )
    options: dict[str, Any] = {
        "bucket_name": parts.hostname,
        "location": parts.path.strip("/"),
        "file_overwrite": True,
        "default_acl": None,
        # Large files are read through an unnamed temporary file, not in memory.
        "max_memory_size": 1024 * 1024,
    }
    return {
        "BACKEND": _BUCKET,
        "OPTIONS": options | ({"endpoint_url": endpoint} if endpoint else {}),
    }
