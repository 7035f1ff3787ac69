"""The product's settings, with workers that record the durations of heartbeats and admissions."""

from __future__ import annotations

from scriptsmith_site.settings import *  # noqa: F403

CELERY_INCLUDE = ["bench.support.watch"]
