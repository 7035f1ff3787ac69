"""The phrasings of an Entry."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import MD5
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models.entry import Entry


class Phrasing(models.Model):
    """A phrasing of an Entry's task. The title is also a phrasing."""

    class Source(models.TextChoices):
        TITLE = "title", _("Title")
        CURATOR = "curator", _("Curator")
        STATEMENT = "statement", _("Reviewed request")
        IMPORTED = "imported", _("Imported")

    entry = models.ForeignKey(Entry, models.CASCADE, related_name="phrasings")
    text = models.TextField(_("text"))
    source = models.CharField(_("source"), max_length=10, choices=Source, default=Source.CURATOR)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    # Null if the phrasing came from a model, a file or the product.
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    # An unconfirmed phrasing can only suggest a starting point.
    confirmed_at = models.DateTimeField(_("confirmed"), null=True, blank=True, editable=False)
    # Null for a confirmed phrasing that ships with the product.
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    # True if a team of one confirmed its own phrasing, which requires a setting.
    self_confirmed = models.BooleanField(
        _("confirmed by its author"), default=False, db_default=False
    )
    # The text's stemmed words for text search. The database updates the column.
    document = models.GeneratedField(
        expression=SearchVector("text", config="english"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        ordering = ["pk"]
        verbose_name = _("phrasing")
        verbose_name_plural = _("phrasings")
        indexes = [
            GinIndex(fields=["document"], name="phrasing_document"),
            models.Index(fields=["id"], condition=Q(confirmed_at=None), name="phrasing_to_confirm"),
        ]
        constraints = [
            models.UniqueConstraint("entry", MD5("text"), name="phrasing_once_an_entry"),
            models.UniqueConstraint(
                fields=["entry"], condition=Q(source="title"), name="phrasing_one_title_an_entry"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="phrasing_not_empty"),
            # The database enforces the four-eyes rule, as it does for versions.
            models.CheckConstraint(
                condition=Q(confirmed_by=None)
                | Q(confirmed_at__isnull=False)
                & (Q(added_by=None) | ~Q(confirmed_by=F("added_by")) | Q(self_confirmed=True)),
                name="phrasing_four_eyes",
            ),
            models.CheckConstraint(
                condition=Q(source__in=["title", "curator", "statement", "imported"]),
                name="phrasing_source_legal",
            ),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def waits(self) -> bool:
        """Return whether the phrasing is waiting for confirmation."""
        return self.confirmed_at is None
