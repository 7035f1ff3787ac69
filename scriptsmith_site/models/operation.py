"""Models of operation: backups, and data that belongs to the database instead of a machine."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class BackupEvent(models.Model):
    """A backup, a restore or a restore drill."""

    class Kind(models.TextChoices):
        BACKUP = "backup", _("Backup")
        RESTORE = "restore", _("Restore")
        DRILL = "drill", _("Restore test")

    kind = models.CharField(_("kind"), max_length=7, choices=Kind)
    at = models.DateTimeField(_("when"), default=timezone.now, editable=False)
    file = models.CharField(_("file"), max_length=300)
    size = models.PositiveBigIntegerField(_("bytes"))
    encrypted = models.BooleanField(_("encrypted"), default=False)
    # For drills: whether all restored data matched the backup.
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


class Installation(models.Model):
    """Data shared by all machines that use this database, in one row."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    # A keyed hash that detects a different key without revealing the key.
    secret_key_mark = models.CharField(_("fingerprint of the secret key"), max_length=64)
    made_at = models.DateTimeField(_("since"), default=timezone.now, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="installation_one_row")]

    def __str__(self) -> str:
        return f"installation of {self.made_at:%Y-%m-%d}"


class DemoPassword(models.Model):
    """The password of a demo account, printed at every start, on any machine."""

    user = models.OneToOneField(
        User, models.CASCADE, primary_key=True, related_name="demo_password"
    )
    password = models.CharField(_("password"), max_length=40)

    def __str__(self) -> str:
        return self.user.username
