"""The product's settings with changes that make tests fast and keep them from calling real models."""

from __future__ import annotations

import os

os.environ["SCRIPTSMITH_EMBEDDER"] = "hashing"
os.environ["SCRIPTSMITH_ENDPOINTS"] = "demo"

from scriptsmith_site.settings import *  # noqa: E402, F403

# Each worker has its own folder, because other workers' counts would show up in a test's metrics.
os.environ["PROMETHEUS_MULTIPROC_DIR"] += os.environ.get("PYTEST_XDIST_WORKER", "")

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": STORAGES["default"],  # noqa: F405
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
AXES_ENABLED = False
ALLOWED_HOSTS = ["*"]
