"""Load the code that all forks of the supervisor share."""

from __future__ import annotations

import gc
import os
from importlib import import_module

import django
from django.conf import settings

# The modules that a worker would import when it starts.
_OF_WORKERS = (
    "celery.apps.worker",
    "celery.bin.worker",
    "celery.concurrency.thread",
    "celery.worker.consumer",
    "kombu.transport.redis",
    "scriptsmith_site.scheduler_thread",
)


def load(port: int) -> None:
    """Load the product without its views. `port` is the actual port, because the setting may be 0."""
    os.environ["PORT"] = str(port)
    settings.PORT = port
    django.setup()
    from celery import current_app

    import_module("scriptsmith_site.celery")
    current_app.loader.import_default_modules()
    for name in _OF_WORKERS:
        import_module(name)
    # Forks share these objects as long as no garbage collection writes to them.
    gc.collect()
    gc.freeze()
