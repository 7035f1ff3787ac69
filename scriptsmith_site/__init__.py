"""The composition root: it knows every app, and no app knows it."""

from __future__ import annotations

from scriptsmith_site.celery import app as celery_app

__all__ = ["celery_app"]
