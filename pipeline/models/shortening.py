"""Shortening: an expert's feedback, shortened by a model, which the expert can accept or ignore."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from pipeline.models.draft import Draft
from pipeline.models.run import Run


class Shortening(models.Model):
    """A text and the model's shorter version, which has no effect until the expert accepts it."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    run = models.ForeignKey(Run, models.CASCADE, related_name="shortenings")
    # Numbered within the run. The model call uses this number as its round.
    number = models.PositiveSmallIntegerField()
    draft = models.ForeignKey(Draft, models.CASCADE, related_name="+")
    text = models.TextField()
    shorter = models.TextField(blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    problem = models.TextField(blank=True)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="shortening_number_once_a_run"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "done", "failed"]), name="shortening_state_legal"
            ),
            models.CheckConstraint(
                condition=~Q(state="done") | ~Q(shorter=""), name="shortening_done_has_text"
            ),
        ]

    def __str__(self) -> str:
        return self.shorter[:80] or self.text[:80]
