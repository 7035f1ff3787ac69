"""Spending: calls and costs per day, updated when attempts end, so that pages need not count attempts."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from pipeline.models.configuration import Configuration, Endpoint
from pipeline.models.run import Batch


class Spending(models.Model):
    """The ended attempts of one day (UTC) by model, configuration, batch and stage.

    The sums always equal a recount of the Attempts, because the transaction that ends an attempt updates them.
    """

    day = models.DateField(_("day"))
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="+")
    model = models.CharField(_("model"), max_length=100)
    configuration = models.ForeignKey(Configuration, models.PROTECT, related_name="spending")
    batch = models.ForeignKey(Batch, models.PROTECT, null=True, blank=True, related_name="spending")
    stage = models.CharField(_("stage"), max_length=12)
    attempts = models.PositiveBigIntegerField(default=0)
    answered = models.PositiveBigIntegerField(default=0)
    possibly_billed = models.PositiveBigIntegerField(default=0)
    # Answered calls without a known price. `cost` excludes them, and pages indicate that.
    unpriced = models.PositiveBigIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    cache_read_tokens = models.PositiveBigIntegerField(default=0)
    cache_write_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.PositiveBigIntegerField(_("cost in micro-dollars"), default=0)
    milliseconds = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "spending"
        ordering = ["-day", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["day", "endpoint", "model", "configuration", "batch", "stage"],
                name="spending_once_a_day_and_what",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.model} {self.stage}"
