"""Worker: a process that executes runs, with its last heartbeat."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Worker(models.Model):
    """A worker process. It updates its row while it runs and deletes it on a normal exit, but not when it is killed."""

    # The `owner` of its claimed runs.
    name = models.CharField(max_length=100, unique=True)
    host = models.CharField(_("host"), max_length=100)
    threads = models.PositiveSmallIntegerField(_("threads"))
    started_at = models.DateTimeField(_("started"), db_default=Now())
    # Times are from the database's clock.
    seen_at = models.DateTimeField(_("last heartbeat"), db_default=Now())
    # The duration of its last heartbeat, which renews the leases of all its runs.
    beat_milliseconds = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["started_at"]

    def __str__(self) -> str:
        return self.name
