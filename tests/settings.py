"""The product's own settings, with what makes tests fast and keeps them away from any real model."""

from __future__ import annotations

import os

os.environ["SCRIPTSMITH_EMBEDDER"] = "hashing"
os.environ["SCRIPTSMITH_ENDPOINTS"] = "demo"

from scriptsmith_site.settings import *  # noqa: E402, F403

# Each worker counts for itself: what another one counts meanwhile would be found in the figures of a test.
os.environ["PROMETHEUS_MULTIPROC_DIR"] += os.environ.get("PYTEST_XDIST_WORKER", "")

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": STORAGES["default"],  # noqa: F405
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
AXES_ENABLED = False
ALLOWED_HOSTS = ["*"]
