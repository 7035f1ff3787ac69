"""What operation keeps: backups that were made, and what belongs to the database and not to a machine."""

from __future__ import annotations

from django.contrib.auth.models import User
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


class Installation(models.Model):
    """What all machines that work on this database have in common; one row."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    # A keyed hash: two keys are told apart by it, and none is found from it.
    secret_key_mark = models.CharField(_("mark of the secret key"), max_length=64)
    made_at = models.DateTimeField(_("since"), default=timezone.now, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="installation_one_row")]

    def __str__(self) -> str:
        return f"installation of {self.made_at:%Y-%m-%d}"


class DemoPassword(models.Model):
    """The password of an account of the demo, which each start prints; on whichever machine."""

    user = models.OneToOneField(
        User, models.CASCADE, primary_key=True, related_name="demo_password"
    )
    password = models.CharField(_("password"), max_length=40)

    def __str__(self) -> str:
        return self.user.username
