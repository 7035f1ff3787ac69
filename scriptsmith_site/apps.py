"""The site's two app configurations: our own, and the admin's with a read-only site."""

from __future__ import annotations

import logging
import socket
import sys

from celery.signals import (
    task_postrun,
    task_prerun,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import DatabaseError, close_old_connections
from django.db.models.signals import post_migrate

from scriptsmith_site.embedded import alive
from scriptsmith_site.logs import follow_run

logger = logging.getLogger(__name__)

# Seconds until a worker's thread that computes lets go of Python's lock. Python's own 5 ms, times the threads that
# are about to write a reply down, is what a heartbeat waits for each of its steps.
_SWITCH_INTERVAL = 0.001


def warm_up(**_signal: object) -> None:
    """A worker loads the SDK before the first run needs it: that takes seconds, and somebody would wait."""
    from pipeline.clients.model_client import model_client
    from pipeline.scheduling.dispatch import forget_dispatches
    from pipeline.scheduling.heartbeat import heartbeat

    sys.setswitchinterval(_SWITCH_INTERVAL)
    forget_dispatches()
    model_client()
    sign = alive.file_of(settings.LAYOUT.data, socket.gethostname())
    heartbeat.announce_worker(threads=settings.SCRIPTSMITH_WORKER_THREADS, sign=sign)
    if settings.LAYOUT.data.is_dir():
        settings.LAYOUT.worker_ready.touch()


def drain(**_signal: object) -> None:
    """A worker told to end waits for its calls in flight, which are paid for, and makes no further one."""
    from pipeline.clients.model_client import model_client
    from pipeline.execution.abandonment import abandon_calls_after
    from pipeline.ledger.model_calls import draining

    draining.set()
    abandon_calls_after(model_client(), seconds=settings.SCRIPTSMITH_DRAIN_SECONDS)


def take_leave(**_signal: object) -> None:
    """A worker that ends in order is not missed."""
    from pipeline.scheduling.heartbeat import heartbeat

    try:
        heartbeat.withdraw_worker()
    except DatabaseError:
        logger.warning("the worker could not say that it ends", exc_info=True)


class SiteConfig(AppConfig):
    name = "scriptsmith_site"
    verbose_name = "Site"

    def ready(self) -> None:
        # Models can be imported only from here on.
        from catalog import hooks as catalog_hooks
        from pipeline import hooks
        from pipeline.runs import catalogue_use
        from review import services as review
        from scriptsmith_site import checks
        from scriptsmith_site.people import security_log
        from scriptsmith_site.people.roles import make_roles

        def take_in(run_id: int) -> None:
            # What goes into the live queue is of no study.
            if review.take_in(run_id) is None:
                review.prepare_item(run_id)

        checks.register_all()
        post_migrate.connect(make_roles, sender=self)
        user_logged_in.connect(security_log.note_sign_in)
        user_logged_out.connect(security_log.note_sign_out)
        user_login_failed.connect(security_log.note_failure)
        task_prerun.connect(follow_run)
        task_prerun.connect(close_old_connections)
        task_postrun.connect(close_old_connections)
        worker_ready.connect(warm_up)
        worker_shutting_down.connect(drain)
        worker_shutdown.connect(take_leave)
        hooks.run_settled = take_in
        hooks.used_unreviewed = review.raise_priority
        hooks.mark_hidden_runs = review.mark_hidden_runs
        hooks.note_shown = review.exposure.note_run
        hooks.mark_hidden_actions = review.mark_hidden_actions
        catalog_hooks.count_shown = catalogue_use.count_shown
        catalog_hooks.find_cases = catalogue_use.find_cases


class AdminConfig(DjangoAdminConfig):
    default_site = "scriptsmith_site.admin_site.ReadOnlyAdminSite"
