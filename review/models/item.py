"""The Case and Item models: the statements of a campaign and the runs to review."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.database.indexes import index_where_set
from pipeline.models import Action, Configuration, Run
from review.models.campaign import Campaign


class Case(models.Model):
    """An Action in a Campaign, with its external ID. A Case has one Item per Configuration."""

    class Purpose(models.TextChoices):
        REAL = "real", _("Real")
        GOLD = "gold", _("Gold")
        TRAINING = "training", _("Training")
        REPEAT = "repeat", _("Repeat")
        HALO = "halo", _("Halo check")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="cases", db_index=False)
    external_id = models.CharField(_("id"), max_length=200)
    action = models.ForeignKey(Action, models.PROTECT, related_name="cases")
    purpose = models.CharField(_("purpose"), max_length=8, choices=Purpose, default=Purpose.REAL)
    # The case that this repeat or halo check shows again.
    repeats = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="repeated_by", db_index=False
    )
    # For gold and training items: the correct score of each stage and the reason, as {"script": 2, ..., "why": "..."}.
    known = models.JSONField(_("known scores"), default=dict, blank=True)
    content_sha256 = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        indexes = [
            index_where_set("repeats", name="case_repeats"),
            # A partial index, because most cases are real.
            models.Index(
                fields=["purpose", "campaign"], name="case_not_real", condition=~Q(purpose="real")
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "external_id"], name="case_id_once_a_campaign"
            ),
            models.CheckConstraint(
                condition=Q(purpose__in=["real", "gold", "training", "repeat", "halo"]),
                name="case_purpose_legal",
            ),
        ]

    def __str__(self) -> str:
        return self.external_id


class ItemQuerySet(models.QuerySet["Item"]):
    def waiting(self) -> ItemQuerySet:
        """Return the open items that have a free place."""
        return self.filter(state=Item.State.OPEN, places__gt=0)


class Item(models.Model):
    """A Run of a Case to review.

    `places` is the number of reviewers still needed. A claim takes a place and a release returns it. A database
    constraint prevents negative values, so concurrent claims can't exceed the overlap.
    """

    class State(models.TextChoices):
        PREPARING = "preparing", _("Being prepared")
        HELD = "held", _("On hold")
        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    class Again(models.TextChoices):
        REPEAT = "repeat", _("Repeat")
        HALO = "halo", _("Halo check")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="items", db_index=False)
    case = models.ForeignKey(Case, models.CASCADE, related_name="items", db_index=False)
    configuration = models.ForeignKey(Configuration, models.PROTECT, related_name="items")
    run = models.ForeignKey(Run, models.PROTECT, null=True, blank=True, related_name="items")
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.PREPARING)
    overlap = models.PositiveSmallIntegerField(default=1)
    # Number of reviewers in `overlap` who were added to break a tie.
    called_in = models.PositiveSmallIntegerField(default=0, db_default=0)
    places = models.PositiveSmallIntegerField(default=1)
    # Items with higher values come first: 4 minus severity, plus 100 if the script was used without review.
    priority = models.IntegerField(default=0)
    shuffle = models.PositiveIntegerField(default=0)
    sham = models.BooleanField(default=False)
    # Marks a second item of the same run that measures reviewers, not scripts. A repeat shows the item to the same
    # reviewer again. A halo check shows the refined script to another reviewer as if it were a first Draft.
    again = models.CharField(max_length=6, choices=Again, blank=True, default="", db_default="")
    pilot = models.BooleanField(default=False)
    # Number of reviewers who finished the item. When this number reaches `overlap`, the figures include the item.
    done = models.PositiveSmallIntegerField(default=0)
    # True if a stage is unresolved and has not been adjudicated.
    disputed = models.BooleanField(default=False)
    # The item's current contribution to the campaign's figures (see `review.counting.tallies`).
    pattern = models.TextField(blank=True)
    execution = models.FloatField(_("execution result"), null=True, blank=True)
    execution_reason = models.CharField(
        _("why test results and experts differ"), max_length=30, blank=True
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["case", "configuration"], name="item_once_a_case_and_configuration"
            ),
            models.UniqueConstraint(
                fields=["campaign", "run", "again"], name="item_run_once_a_campaign"
            ),
            models.CheckConstraint(
                condition=Q(again__in=["", "repeat", "halo"]), name="item_again_legal"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["preparing", "held", "open", "closed", "withdrawn"]),
                name="item_state_legal",
            ),
            models.CheckConstraint(condition=Q(places__gte=0), name="item_never_over_assigned"),
            models.CheckConstraint(
                condition=Q(execution=None) | Q(execution__gte=0, execution__lte=1),
                name="item_execution_share",
            ),
            models.CheckConstraint(
                condition=Q(
                    execution_reason__in=[
                        "",
                        "different_interpretation",
                        "too_strict",
                        "wrong_expected_output",
                        "other",
                    ]
                ),
                name="item_execution_reason_legal",
            ),
        ]
        indexes = [
            models.Index(
                fields=["campaign", "-priority", "run"],
                name="item_claim_priority",
                condition=Q(state="open", places__gt=0),
            ),
            models.Index(
                fields=["campaign", "shuffle"],
                name="item_claim_random",
                condition=Q(state="open", places__gt=0),
            ),
            models.Index(
                fields=["campaign", "id"], name="item_disputed", condition=Q(disputed=True)
            ),
            models.Index(fields=["campaign", "state"], name="item_of_campaign_in_state"),
        ]

    def __str__(self) -> str:
        return f"Item {self.pk}"
