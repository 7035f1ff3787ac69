"""Settings of the small product."""

from __future__ import annotations

import os
from pathlib import Path

import dj_database_url

from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.env import env_bool, env_int

LAYOUT = Layout.from_environment(Path("/nowhere"))
BIND = os.environ.get("SCRIPTSMITH_BIND", "127.0.0.1")
PORT = env_int("PORT", 8000, "")
SCRIPTSMITH_DEMO = env_bool("SCRIPTSMITH_DEMO", True, "")
SCRIPTSMITH_DEMO_MODEL_URL = os.environ.get("SCRIPTSMITH_DEMO_MODEL_URL", "")
SCRIPTSMITH_ENDPOINTS = os.environ.get("SCRIPTSMITH_ENDPOINTS", "demo").split(",")
SCRIPTSMITH_LOCAL_MODEL = ""
SCRIPTSMITH_LOCAL_MODEL_THREADS = SCRIPTSMITH_LOCAL_MODEL_SLOTS = 1
SCRIPTSMITH_LOCAL_MODEL_CONTEXT = 1_024
SECRET_KEY = "small"
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.staticfiles",
    "tests.site.embedded.small",
]
DATABASES = {
    "default": dj_database_url.parse(os.environ["DATABASE_URL"])
    if "DATABASE_URL" in os.environ
    else LAYOUT.database_settings()
}
CELERY_BROKER_URL = LAYOUT.redis_url()
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = LAYOUT.data / "static"
ROOT_URLCONF = "tests.site.embedded.small.urls"

# Disable traces.
SCRIPTSMITH_TRACES_TO = ""
