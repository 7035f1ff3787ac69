"""The product's settings, with workers that record the duration of heartbeats and waits for an endpoint."""

from __future__ import annotations

from scriptsmith_site.settings import *  # noqa: F403

CELERY_INCLUDE = ["bench.support.watch"]
