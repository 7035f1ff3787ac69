"""The Celery application. Messages contain only an ID, because all state is in PostgreSQL."""

from __future__ import annotations

import os

from celery import Celery
from click import Option

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scriptsmith_site.settings")
# The system checks run before each start (`embedded.prepare`). In a worker, they would load all views and templates.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("scriptsmith_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.user_options["worker"].add(
    Option(
        ["--scheduler-thread"], is_flag=True, help="Run the scheduler in a thread of this process."
    )
)
# Passed by name, because only workers load this class.
app.steps["worker"].add("scriptsmith_site.scheduler_thread:SchedulerThread")
