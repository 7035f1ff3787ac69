"""WrittenCases: the case sets that were written in a Run, and their revisions."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from catalog.models import CaseSet
from pipeline.models.run import Run


class WrittenCases(models.Model):
    """A case set written in a Run. Number 0 is based only on the statement, and later numbers revise failed checks.

    Equal case sets share one row, so this row records which model wrote it in this run.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="written_cases", db_index=False)
    number = models.PositiveSmallIntegerField()
    case_set = models.ForeignKey(CaseSet, models.PROTECT, related_name="+")
    model = models.CharField(max_length=100)
    prompt_version = models.CharField(max_length=12)
    # For each failed check: keep, fix or open, and the reason.
    answers = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["run", "number"]
        verbose_name_plural = "written cases"
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="written_cases_number_once")
        ]

    def __str__(self) -> str:
        return f"cases {self.number} of run {self.run_id}"
