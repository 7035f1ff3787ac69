"""Worker: a process that executes runs, and when it last gave a sign of life."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Worker(models.Model):
    """One worker process. It updates its row while it runs and deletes it on a normal exit; after a kill the row
    stays.
    """

    # The `owner` of the runs that it holds.
    name = models.CharField(max_length=100, unique=True)
    host = models.CharField(_("host"), max_length=100)
    threads = models.PositiveSmallIntegerField(_("threads"))
    started_at = models.DateTimeField(_("started"), db_default=Now())
    # By the database's clock.
    seen_at = models.DateTimeField(_("last sign of life"), db_default=Now())
    # How long its last heartbeat took: renewing the leases of all its runs.
    beat_milliseconds = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["started_at"]

    def __str__(self) -> str:
        return self.name
