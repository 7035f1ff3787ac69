"""The app configurations of the site and of the read-only admin."""

from __future__ import annotations

from celery.signals import (
    task_postrun,
    task_prerun,
    worker_init,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models.signals import post_migrate
from django.http import HttpRequest

import scriptsmith_site.celery  # noqa: F401 - this process's tasks and messages use that application
from core.database.clock import use_database_clock
from scriptsmith_site.logs import follow_run

# This must run before models are loaded.
use_database_clock()


class SiteConfig(AppConfig):
    name = "scriptsmith_site"
    verbose_name = "Site"

    def ready(self) -> None:
        # Models can't be imported before this point.
        from django.contrib.auth.models import User

        from catalog import hooks as catalog_hooks
        from core import audit
        from pipeline import hooks as pipeline_hooks
        from pipeline import services as pipeline
        from pipeline.runs import catalogue_use
        from review import services as review
        from scriptsmith_site import checks, worker
        from scriptsmith_site.idle_sessions import idle_sessions
        from scriptsmith_site.integrations.agents import verifying
        from scriptsmith_site.integrations.alerts.services import retention
        from scriptsmith_site.integrations.outbox.events import erasure
        from scriptsmith_site.integrations.outbox.events.capture import capture
        from scriptsmith_site.integrations.outbox.events.confidentiality import (
            runs_of_open_studies,
            studied_among,
        )
        from scriptsmith_site.operation import installation
        from scriptsmith_site.operation.counting import count_settled
        from scriptsmith_site.people import security_log
        from scriptsmith_site.people.roles import make_roles

        def note_session(request: HttpRequest, user: User, **_signal: object) -> None:
            # Imported here, because it loads sign-on protocols that only web processes need.
            from scriptsmith_site.people.sign_in import entrance

            entrance.note_session(request, user)

        def take_in(run_id: int) -> None:
            # Only runs that were not added to the review queue can belong to a study.
            if review.take_in(run_id) is None:
                review.prepare_item(run_id)
            pipeline.request_evidence(run_id)
            count_settled(run_id)
            review.fix_cases_of_run(run_id)

        def is_studied(run_id: int) -> bool:
            return runs_of_open_studies().filter(run=run_id).exists()

        def erase_texts(action_id: int) -> None:
            review.erase_changes(action_id)
            retention.erase_texts_of_action(action_id)
            erasure.erase_texts_of_action(action_id)

        checks.register_all()
        audit.transactional_listener = capture
        post_migrate.connect(make_roles, sender=self)
        post_migrate.connect(installation.note_key, sender=self)
        worker_init.connect(worker.refuse_wrong_database)
        worker_init.connect(worker.begin_traces)
        worker_init.connect(idle_sessions.begin_worker)
        user_logged_in.connect(note_session, weak=False)
        user_logged_in.connect(security_log.note_sign_in)
        user_logged_out.connect(security_log.note_sign_out)
        user_login_failed.connect(security_log.note_failure)
        task_prerun.connect(follow_run)
        task_prerun.connect(idle_sessions.begin_task)
        task_postrun.connect(idle_sessions.end_task)
        worker_ready.connect(worker.warm_up_worker)
        worker_shutting_down.connect(worker.drain_worker)
        worker_shutdown.connect(worker.withdraw_worker)
        pipeline_hooks.run_settled = take_in
        pipeline_hooks.used_unreviewed = review.raise_priority
        pipeline_hooks.mark_hidden_runs = review.mark_hidden_runs
        pipeline_hooks.mark_reviewed_runs = review.mark_reviewed_runs
        pipeline_hooks.describe_reviews = review.describe_reviews
        pipeline_hooks.note_shown = review.exposure.note_run
        pipeline_hooks.mark_hidden_actions = review.mark_hidden_actions
        pipeline_hooks.studied = is_studied
        pipeline_hooks.texts_erased = erase_texts
        catalog_hooks.count_shown = catalogue_use.count_shown
        catalog_hooks.sets_made_of = review.sets_made_of
        catalog_hooks.find_cases = catalogue_use.find_cases
        catalog_hooks.admit_program = verifying.admit
        catalog_hooks.find_studied = studied_among


class AdminConfig(SimpleAdminConfig):
    """The configuration of the read-only admin. Only URLs and system checks load the apps' admin modules."""

    default_site = "scriptsmith_site.admin_site.ReadOnlyAdminSite"
