"""Worker: a process that executes runs, with the time of its last heartbeat."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Worker(models.Model):
    """A worker process. It updates its row while it is running and deletes the row on a normal exit."""

    # The `owner` of the runs that the worker has claimed.
    name = models.CharField(max_length=100, unique=True)
    host = models.CharField(_("host"), max_length=100)
    threads = models.PositiveSmallIntegerField(_("threads"))
    started_at = models.DateTimeField(_("started"), db_default=Now())
    # All times are from the database's clock.
    seen_at = models.DateTimeField(_("last heartbeat"), db_default=Now())
    # The duration of the last heartbeat, which renews the leases of all the worker's runs.
    beat_milliseconds = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["started_at"]

    def __str__(self) -> str:
        return self.name
