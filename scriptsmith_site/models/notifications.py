"""Models of notifications and of users' notification settings."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from scriptsmith_site.models.outbox import Event


class Notification(models.Model):
    """A notification for one user about an object. The text is created when the notification is shown."""

    person = models.ForeignKey(User, models.CASCADE, related_name="notifications")
    kind = models.CharField(max_length=20)
    event = models.ForeignKey(Event, models.SET_NULL, null=True, blank=True, related_name="+")
    # The object of the notification: its model label and its key.
    model = models.CharField(max_length=60)
    object_id = models.BigIntegerField()
    at = models.DateTimeField(default=timezone.now, editable=False)
    in_bell = models.BooleanField(default=True)
    read_at = models.DateTimeField(null=True, blank=True)
    # The time to email the notification. Null if it is not emailed or was already sent.
    mail_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["person", "event", "kind"], name="notification_once_an_event"
            ),
        ]
        indexes = [
            models.Index(fields=["person", "-id"], name="notification_of_person"),
            models.Index(
                fields=["person"],
                name="notification_unread",
                condition=Q(read_at=None, in_bell=True),
            ),
            models.Index(
                fields=["mail_at"],
                name="notification_to_mail",
                condition=Q(mail_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.person_id}"


class NotificationChoices(models.Model):
    """A user's notification settings. Without a row, all notifications appear in the app only."""

    class Way(models.TextChoices):
        BELL = "bell", _("In the app")
        BOTH = "both", _("In the app and by email")
        MAIL = "mail", _("By email")
        MUTE = "mute", _("Off")

    class Digest(models.TextChoices):
        AT_ONCE = "at-once", _("Immediately")
        HOURLY = "hourly", _("Once an hour")
        DAILY = "daily", _("Once a day")

    person = models.OneToOneField(User, models.CASCADE, related_name="notification_choices")
    # The delivery method of each kind for which the user changed the default.
    ways = models.JSONField(default=dict, blank=True)
    # Separate from the account's address, because entering an address does not prove that the user owns it.
    mail_address = models.EmailField(_("email address"), blank=True)
    # The number of confirmation and test emails that the user triggered since `letters_since`.
    letters = models.PositiveSmallIntegerField(default=0)
    letters_since = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    digest = models.CharField(_("emails"), max_length=8, choices=Digest, default=Digest.AT_ONCE)
    # Hours of the day in the user's time zone, from 0 to 23.
    daily_hour = models.PositiveSmallIntegerField(_("hour of the day"), default=8)
    quiet_from = models.PositiveSmallIntegerField(_("quiet from"), null=True, blank=True)
    quiet_until = models.PositiveSmallIntegerField(_("quiet until"), null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(digest__in=["at-once", "hourly", "daily"]),
                name="notification_digest_legal",
            ),
            models.CheckConstraint(
                condition=Q(daily_hour__lte=23)
                & (Q(quiet_from=None) | Q(quiet_from__lte=23))
                & (Q(quiet_until=None) | Q(quiet_until__lte=23)),
                name="notification_hours_of_a_day",
            ),
        ]

    def __str__(self) -> str:
        return f"Choices of {self.person_id}"
