"""Models of the outbox: events, destinations, deliveries and delivery attempts."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Event(models.Model):
    """An event, stored in the transaction that causes it.

    It contains keys and no text. Text is read when the event is sent, so that erased text is not sent.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    type = models.CharField(max_length=60)
    # The object of the event: its model label, such as "catalog.version", and its key.
    model = models.CharField(max_length=60)
    object_id = models.BigIntegerField()
    by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=timezone.now, editable=False)
    details = models.JSONField(default=dict, blank=True)
    # The following fields are filled in when the event is distributed.
    distributed_at = models.DateTimeField(null=True, blank=True)
    leaves = models.BooleanField(default=False)
    subject = models.CharField(max_length=60, blank=True)
    sequence = models.PositiveBigIntegerField(null=True, blank=True)
    action_id = models.BigIntegerField(null=True, blank=True)
    data = models.JSONField(default=dict, blank=True)
    # The number of failed distributions, the time of the next attempt and the last error.
    # After too many failures, the event is set aside.
    failures = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["subject", "sequence"], name="event_once_in_sequence"),
        ]
        indexes = [
            models.Index(
                fields=["id"], name="event_undistributed", condition=Q(distributed_at=None)
            ),
            models.Index(fields=["at"], name="event_at"),
            models.Index(fields=["action_id"], name="event_action"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.uid}"


class EventSequence(models.Model):
    """The last sequence number of an object's events, or a marker for a one-time notification.

    It outlives the events.
    """

    subject = models.CharField(max_length=60, unique=True)
    last = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.subject}: {self.last}"


class Destination(models.Model):
    """A receiver of events: a signed webhook or a chat channel."""

    class Kind(models.TextChoices):
        WEBHOOK = "webhook", _("Webhook")
        SLACK = "slack", _("Slack")
        MATTERMOST = "mattermost", _("Mattermost")
        TEAMS = "teams", _("Microsoft Teams")

    kind = models.CharField(_("kind"), max_length=10, choices=Kind, default=Kind.WEBHOOK)
    name = models.CharField(_("name"), max_length=80, unique=True)
    # A webhook's full URL, or a channel's host if its kind does not determine the host.
    address = models.CharField(_("address"), max_length=500, blank=True)
    types = ArrayField(models.CharField(max_length=60), verbose_name=_("events"))
    includes_texts = models.BooleanField(_("includes texts and names"), default=False)
    # The name of an environment variable or an encrypted secret.
    secret_variable = models.CharField(_("secret variable"), max_length=100, blank=True)
    secret = models.BinaryField(default=b"", blank=True)
    # During a rotation, both secrets sign.
    former_secret = models.BinaryField(default=b"", blank=True)
    former_until = models.DateTimeField(null=True, blank=True)
    owner = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    edition = models.PositiveIntegerField(default=1)
    paused_at = models.DateTimeField(_("paused"), null=True, blank=True)
    paused_why = models.CharField(_("reason for the pause"), max_length=300, blank=True)
    failing_since = models.DateTimeField(null=True, blank=True)
    # While the destination is failing, the number of consecutive failures, and the next attempt for all of its events.
    failures = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    # The lease of the worker that is sending to the destination.
    lease_owner = models.CharField(max_length=100, blank=True)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["webhook", "slack", "mattermost", "teams"]),
                name="destination_kind_legal",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_webhook(self) -> bool:
        return self.kind == Destination.Kind.WEBHOOK


class Delivery(models.Model):
    """An event to be delivered to one destination."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DELIVERED = "delivered", _("Delivered")
        FAILED = "failed", _("Failed")
        WITHHELD = "withheld", _("Withheld")

    destination = models.ForeignKey(Destination, models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(Event, models.CASCADE, related_name="deliveries")
    # Copied from the event, to deliver the events of an object in order.
    subject = models.CharField(max_length=60)
    sequence = models.PositiveBigIntegerField()
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)  # since the last request to deliver it
    next_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["destination", "event"], name="delivery_once_a_destination"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "delivered", "failed", "withheld"]),
                name="delivery_state_legal",
            ),
        ]
        indexes = [
            models.Index(
                fields=["destination", "subject", "sequence"],
                name="delivery_in_order",
                condition=Q(state="waiting"),
            ),
            models.Index(
                fields=["destination", "next_at", "event"],
                name="delivery_due",
                condition=Q(state="waiting"),
            ),
            models.Index(
                fields=["destination"], name="delivery_given_up", condition=Q(state="failed")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_id} to {self.destination_id}"


class DeliveryAttempt(models.Model):
    """A delivery attempt. The row is stored before sending, so that attempts by lost workers are visible."""

    delivery = models.ForeignKey(Delivery, models.CASCADE, related_name="attempts")
    at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)
    milliseconds = models.PositiveIntegerField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True)
    # The first KiB of the response, for administrators.
    answer = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.delivery_id} at {self.at:%Y-%m-%d %H:%M:%S}"
