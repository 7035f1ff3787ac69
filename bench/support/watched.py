"""The product's settings, with workers that note how long their heartbeats and waits for an endpoint took."""

from __future__ import annotations

from scriptsmith_site.settings import *  # noqa: F403

CELERY_INCLUDE = ["bench.support.watch"]
