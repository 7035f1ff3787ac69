"""The cases of a Run: those that its author wrote, and each revision of them."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from catalog.models import CaseSet
from pipeline.models.run import Run


class WrittenCases(models.Model):
    """A case set that was written in a Run; number 0 from the statement alone, later ones after a failed check.

    The case set may be shared: equal cases are one row, whoever writes them. This row says who wrote them here.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="written_cases", db_index=False)
    number = models.PositiveSmallIntegerField()
    case_set = models.ForeignKey(CaseSet, models.PROTECT, related_name="+")
    model = models.CharField(max_length=100)
    prompt_version = models.CharField(max_length=12)
    # Of each check that did not hold: keep, mend or open, and why.
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
