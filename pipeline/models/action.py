"""Action: a request as written by a user, with its context."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.database.indexes import index_where_set


class Action(models.Model):
    """A request text with its context. The texts can be erased, but the row and its hashes stay."""

    class Source(models.TextChoices):
        ASKED = "asked", _("User")
        IMPORTED = "imported", _("Imported")
        DEMO = "demo", _("Demo")

    class Severity(models.IntegerChoices):
        CRITICAL = 1, _("Critical")
        HIGH = 2, _("High")
        MEDIUM = 3, _("Medium")
        LOW = 4, _("Low")

    statement = models.TextField(_("request text"))
    statement_sha256 = models.CharField(max_length=64, editable=False)
    incident = models.TextField(_("incident"), blank=True)
    environment = models.TextField(_("environment notes"), blank=True)
    reference = models.TextField(_("reference script"), blank=True)
    severity = models.PositiveSmallIntegerField(
        _("severity"), choices=Severity, default=Severity.MEDIUM
    )
    target = models.CharField(_("target"), max_length=300, blank=True)
    impact = models.CharField(_("impact if wrong"), max_length=500, blank=True)
    source = models.CharField(_("source"), max_length=10, choices=Source, default=Source.ASKED)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="actions"
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    # The AnswerStatus that the requester saw last, or empty if the action has no requester.
    seen_status = models.CharField(
        max_length=10, blank=True, default="", db_default="", editable=False
    )
    erased_at = models.DateTimeField(_("erased"), null=True, blank=True, editable=False)
    erased_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["statement_sha256"], name="action_same_statement"),
            models.Index(fields=["severity", "-id"], name="action_most_severe"),
            index_where_set("erased_by", name="action_erased_by"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(statement="") | Q(erased_at__isnull=False),
                name="action_statement_not_empty",
            ),
            models.CheckConstraint(
                condition=Q(severity__gte=1, severity__lte=4), name="action_severity_legal"
            ),
            models.CheckConstraint(
                condition=Q(source__in=["asked", "imported", "demo"]), name="action_source_legal"
            ),
        ]
        permissions = [
            ("ask", _("Can request a script")),
            ("erase_texts", _("Can erase a request's texts")),
        ]

    def __str__(self) -> str:
        return self.statement[:80] or f"Request {self.pk} (erased)"

    @property
    def context(self) -> str:
        """Return the incident and the environment as one text for the prompts."""
        return "\n\n".join(
            part for part in (self.incident.strip(), self.environment.strip()) if part
        )
