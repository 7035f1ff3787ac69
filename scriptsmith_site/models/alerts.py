"""Models of alerts from other systems: sources, received requests and the resulting incidents."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models import Use
from core.leased_jobs import UNFINISHED, LeasedJob
from pipeline.models import Action, Configuration


class AlertSource(models.Model):
    """A system that sends alerts, with the rules to authenticate and filter them."""

    class Kind(models.TextChoices):
        ALERTMANAGER = "alertmanager", _("Alertmanager")
        GRAFANA = "grafana", _("Grafana")
        PAGERDUTY = "pagerduty", _("PagerDuty")
        INSTANA = "instana", _("Instana")
        GENERIC = "generic", _("Generic JSON")

    class Proof(models.TextChoices):
        TOKEN = "token", _("Bearer token")
        SIGNATURE = "signature", _("Signed requests")

    class Severity(models.IntegerChoices):
        CRITICAL = 1, _("Critical")
        HIGH = 2, _("High")
        MEDIUM = 3, _("Medium")
        LOW = 4, _("Low")

    kind = models.CharField(_("kind"), max_length=12, choices=Kind)
    name = models.CharField(_("name"), max_length=80, unique=True)
    proof = models.CharField(_("authentication"), max_length=9, choices=Proof, default=Proof.TOKEN)
    # For Grafana, the header with the signature, and the header with the timestamp if it is also signed.
    signature_header = models.CharField(max_length=80, blank=True)
    timestamp_header = models.CharField(max_length=80, blank=True)
    # For generic JSON, the JSON pointer of each part of an alert.
    mapping = models.JSONField(_("mapping"), default=dict, blank=True)
    # Alerts are accepted if all matchers match and they are at least this severe.
    matchers = models.TextField(_("label matchers"), blank=True)
    least_severity = models.PositiveSmallIntegerField(
        _("lowest severity"), choices=Severity, default=Severity.LOW
    )
    requests_per_minute = models.PositiveIntegerField(_("requests per minute"), default=1_200)
    most_open = models.PositiveIntegerField(_("maximum open incidents"), default=200)
    paused_at = models.DateTimeField(_("paused"), null=True, blank=True)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    edition = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    kind__in=["alertmanager", "grafana", "pagerduty", "instana", "generic"]
                ),
                name="alert_source_kind_legal",
            ),
            models.CheckConstraint(
                condition=Q(proof__in=["token", "signature"]), name="alert_source_proof_legal"
            ),
            models.CheckConstraint(
                condition=Q(least_severity__gte=1, least_severity__lte=4),
                name="alert_source_severity_legal",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def says_done(self) -> bool:
        """Return whether the source reports resolved alerts. Otherwise, users resolve its incidents."""
        return self.kind != self.Kind.GENERIC or "done" in self.mapping


class AlertKey(models.Model):
    """A secret of a source: the hash of a token, or an encrypted key that verifies signatures.

    A source can have multiple secrets at once, so that one can be replaced without losing alerts.
    """

    source = models.ForeignKey(AlertSource, models.CASCADE, related_name="keys")
    sha256 = models.CharField(max_length=64, blank=True)
    sealed = models.TextField(blank=True)
    prefix = models.CharField(_("starts with"), max_length=8)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(sha256="") ^ Q(sealed=""), name="alert_key_hash_or_sealed"
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…"


class AlertTally(models.Model):
    """The number of a source's requests or alerts with a certain result, such as *new* or *refused*."""

    source = models.ForeignKey(AlertSource, models.CASCADE, related_name="tallies")
    what = models.CharField(max_length=120)
    count = models.PositiveBigIntegerField(default=0)
    last_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["what"]
        constraints = [
            models.UniqueConstraint(fields=["source", "what"], name="alert_tally_once"),
        ]

    def __str__(self) -> str:
        return f"{self.what}: {self.count}"


class AlertDelivery(LeasedJob):
    """A request from a source, stored as received until a worker processes it."""

    TASK: ClassVar[str] = "scriptsmith_site.take_in_alerts"

    source = models.ForeignKey(AlertSource, models.CASCADE, related_name="deliveries")
    raw = models.TextField()
    # The sender's event ID, or the hash of the body within `window`. Each combination is processed only once.
    key = models.CharField(max_length=64)
    window = models.BigIntegerField(default=0)
    times = models.PositiveIntegerField(default=1)
    error = models.CharField(max_length=300, blank=True)

    class Meta(LeasedJob.Meta):
        constraints = [
            models.UniqueConstraint(fields=["source", "key", "window"], name="alert_delivery_once"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed", "cancelled"]),
                name="alert_delivery_state_legal",
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(state__in=[one.value for one in UNFINISHED]),
                name="alert_delivery_unfinished",
            ),
            models.Index(fields=["source", "-created_at"], name="alert_delivery_newest"),
            models.Index(fields=["created_at"], name="alert_delivery_at"),
        ]

    def __str__(self) -> str:
        return f"delivery {self.pk} of {self.source_id}"


class Incident(models.Model):
    """A group of alerts from a source that fire together, until they are resolved."""

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        RESOLVED = "resolved", _("Resolved")

    Severity = AlertSource.Severity

    source = models.ForeignKey(AlertSource, models.PROTECT, related_name="incidents")
    group = models.CharField(max_length=64)  # hash of the sender's group key
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.OPEN)
    title = models.CharField(_("title"), max_length=300)
    # The request text, taken from the alert and editable by users.
    statement = models.TextField(_("statement"), blank=True)
    severity = models.PositiveSmallIntegerField(
        _("severity"), choices=AlertSource.Severity, default=AlertSource.Severity.MEDIUM
    )
    labels = models.JSONField(default=dict, blank=True)
    annotations = models.JSONField(default=dict, blank=True)
    link = models.CharField(max_length=2_000, blank=True)
    runbook = models.CharField(max_length=2_000, blank=True)
    opened_at = models.DateTimeField(_("opened"), default=timezone.now)
    last_at = models.DateTimeField(_("last alert"), default=timezone.now)
    resolved_at = models.DateTimeField(_("resolved"), null=True, blank=True)
    firing = models.PositiveIntegerField(default=0)
    repeats = models.PositiveIntegerField(default=0)
    # The number of alerts that the sender omitted from the newest request.
    truncated = models.PositiveIntegerField(default=0)
    # The number of alerts beyond the limit of stored rows.
    unkept = models.PositiveIntegerField(default=0)
    taken_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    taken_at = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "group"],
                condition=Q(state="open"),
                name="incident_open_once",
            ),
            models.CheckConstraint(
                condition=Q(state="open", resolved_at=None)
                | Q(state="resolved", resolved_at__isnull=False),
                name="incident_state_legal",
            ),
            models.CheckConstraint(
                condition=Q(severity__gte=1, severity__lte=4), name="incident_severity_legal"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "-id"], name="incident_by_state"),
            models.Index(fields=["source", "group", "-id"], name="incident_of_group"),
        ]

    def __str__(self) -> str:
        return f"Incident {self.pk}"

    @property
    def is_open(self) -> bool:
        """Return whether the incident is open."""
        return self.state == self.State.OPEN


class Alert(models.Model):
    """An alert from a source, from its start to its end."""

    class State(models.TextChoices):
        FIRING = "firing", _("Firing")
        RESOLVED = "resolved", _("Resolved")

    source = models.ForeignKey(AlertSource, models.CASCADE, related_name="alerts")
    # None if a report that resolves the alert arrived first. Later reports that the alert fires are then out of date.
    incident = models.ForeignKey(
        Incident, models.CASCADE, null=True, blank=True, related_name="alerts"
    )
    key = models.CharField(max_length=64)
    state = models.CharField(max_length=8, choices=State, default=State.FIRING)
    title = models.CharField(max_length=300)
    severity = models.PositiveSmallIntegerField(choices=AlertSource.Severity)
    labels = models.JSONField(default=dict, blank=True)
    annotations = models.JSONField(default=dict, blank=True)
    link = models.CharField(max_length=2_000, blank=True)
    starts_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    # The sender's time of the last change, if available. Older messages are ignored.
    said_at = models.DateTimeField(null=True, blank=True)
    # The arrival time of the first request with this alert, even if a worker processed it later.
    first_at = models.DateTimeField(default=timezone.now)
    last_at = models.DateTimeField(default=timezone.now)
    times = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["source", "key"], name="alert_once"),
            models.CheckConstraint(
                condition=Q(state__in=["firing", "resolved"]), name="alert_state_legal"
            ),
        ]
        indexes = [models.Index(fields=["last_at"], name="alert_last_at")]

    def __str__(self) -> str:
        return f"Alert {self.pk}"


class IncidentEvent(models.Model):
    """An entry of an incident's timeline."""

    class Kind(models.TextChoices):
        FIRED = "fired", _("fired")
        FIRED_AGAIN = "fired-again", _("fired again")
        RESOLVED = "resolved", _("resolved")
        CLOSED = "closed", _("closed by a user")
        TAKEN = "taken", _("assigned")
        HANDED_OVER = "handed-over", _("reassigned")
        RELEASED = "released", _("unassigned")
        REWORDED = "reworded", _("request text changed")
        NOTED = "noted", _("note")
        COPIED = "copied", _("script copied")
        ASKED = "asked", _("script requested")
        RULE_ASKED = "rule-asked", _("script requested by a rule")
        RULE_HELD = "rule-held", _("a rule did not request a script")
        OUTCOME = "outcome", _("outcome")

    incident = models.ForeignKey(Incident, models.CASCADE, related_name="events")
    kind = models.CharField(max_length=12, choices=Kind)
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    # The new assignee. A foreign key, because a name in the text would remain after the user is anonymized.
    to = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    text = models.TextField(blank=True)
    use = models.ForeignKey(Use, models.PROTECT, null=True, blank=True, related_name="+")
    action = models.ForeignKey(Action, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.incident_id}"


class AlertRule(models.Model):
    """A rule that requests a script automatically when an incident opens, with a daily limit."""

    name = models.CharField(_("name"), max_length=80, unique=True)
    source = models.ForeignKey(
        AlertSource, models.CASCADE, null=True, blank=True, related_name="rules"
    )
    matchers = models.TextField(_("label matchers"), blank=True)
    least_severity = models.PositiveSmallIntegerField(
        _("lowest severity"), choices=AlertSource.Severity, default=AlertSource.Severity.HIGH
    )
    configuration = models.ForeignKey(Configuration, models.PROTECT, related_name="+")
    account = models.ForeignKey(User, models.PROTECT, related_name="+")
    runs_per_day = models.PositiveIntegerField(_("runs per day"), default=5)
    runs_per_source = models.PositiveIntegerField(_("runs per day and source"), default=5)
    is_on = models.BooleanField(_("on"), default=False)
    edition = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class AlertRuleRun(models.Model):
    """A script request made by a rule. It counts toward the rule's daily limit."""

    rule = models.ForeignKey(AlertRule, models.CASCADE, related_name="runs")
    incident = models.ForeignKey(Incident, models.CASCADE, related_name="+")
    action = models.ForeignKey(Action, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["rule", "incident"], name="alert_rule_run_once"),
        ]
        indexes = [models.Index(fields=["rule", "-at"], name="alert_rule_run_newest")]

    def __str__(self) -> str:
        return f"{self.rule_id} asked for {self.incident_id}"
