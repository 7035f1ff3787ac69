"""Backups, restores and drills that were made."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class BackupEvent(models.Model):
    """A backup that was made, one that was restored, or one that was tried out."""

    class Kind(models.TextChoices):
        BACKUP = "backup", _("Backup")
        RESTORE = "restore", _("Restore")
        DRILL = "drill", _("Drill")

    kind = models.CharField(_("kind"), max_length=7, choices=Kind)
    at = models.DateTimeField(_("when"), default=timezone.now, editable=False)
    file = models.CharField(_("file"), max_length=300)
    size = models.PositiveBigIntegerField(_("bytes"))
    encrypted = models.BooleanField(_("encrypted"), default=False)
    # Of a drill: whether all that was restored was as it had been backed up.
    passed = models.BooleanField(_("passed"), default=True)

    class Meta:
        ordering = ["-at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["backup", "restore", "drill"]), name="backup_event_kind_legal"
            )
        ]
        indexes = [models.Index(fields=["kind", "-at"], name="backup_event_newest")]

    def __str__(self) -> str:
        return f"{self.kind} {self.file}"
