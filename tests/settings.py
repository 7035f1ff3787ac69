"""The product's settings, with changes that make tests fast and prevent calls to real models."""

from __future__ import annotations

import os

os.environ["SCRIPTSMITH_EMBEDDER"] = "hashing"
os.environ["SCRIPTSMITH_ENDPOINTS"] = "demo"

from scriptsmith_site.settings import *  # noqa: E402, F403

# Each worker has its own folder, so that a test's metrics do not include the counts of other workers.
os.environ["PROMETHEUS_MULTIPROC_DIR"] += os.environ.get("PYTEST_XDIST_WORKER", "")

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": STORAGES["default"],  # noqa: F405
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
AXES_ENABLED = False
ALLOWED_HOSTS = ["*"]
