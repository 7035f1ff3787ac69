"""Entry, Version and Phrasing: what is kept, in which wording, and in which state."""

from __future__ import annotations

import hashlib
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import MD5
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.types import NotAllowedNow


class Tag(models.Model):
    name = models.SlugField(_("name"), max_length=50, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class EntryQuerySet(models.QuerySet["Entry"]):
    def answering(self) -> EntryQuerySet:
        """Entries that may answer a statement: verified and not suspended."""
        return self.filter(versions__state=Version.State.VERIFIED, suspended_at=None)


class Entry(models.Model):
    """One thing that can be done, under a title and any number of phrasings, in numbered versions."""

    slug = models.SlugField(_("slug"), max_length=80, unique=True)
    title = models.CharField(_("title"), max_length=300)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    # A use that made things worse takes the entry out of every answer until a curator has looked.
    suspended_at = models.DateTimeField(_("suspended"), null=True, blank=True)
    suspended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    suspended_why = models.TextField(_("why suspended"), blank=True)
    merged_into = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="merged"
    )
    # Title, phrasings, tags and the newest script, for the search by text; kept by the services.
    document = SearchVectorField(null=True, editable=False)

    objects = EntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "entries"
        ordering = ["-pk"]
        indexes = [GinIndex(fields=["document"], name="entry_document")]
        constraints = [
            models.CheckConstraint(
                condition=Q(merged_into=None) | ~Q(merged_into=F("pk")),
                name="entry_not_merged_into_itself",
            ),
            models.CheckConstraint(
                condition=Q(suspended_at=None) | ~Q(suspended_why=""),
                name="entry_suspended_says_why",
            ),
        ]
        permissions = [
            ("curate", _("Can verify, edit, merge and deprecate entries")),
            ("use_unreviewed", _("Can use an unreviewed script with a reason")),
        ]

    def __str__(self) -> str:
        return self.title


class Version(models.Model):
    """One text of an Entry's script with all that is known about it; the text never changes."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        IN_REVIEW = "in_review", _("In review")
        VERIFIED = "verified", _("Verified")
        DEPRECATED = "deprecated", _("Deprecated")

    class SideEffect(models.TextChoices):
        READ_ONLY = "read_only", _("Read-only")
        MUTATING = "mutating", _("Changes things")
        UNKNOWN = "unknown", _("Unknown")

    class Risk(models.TextChoices):
        LOW = "low", _("Low")
        MEDIUM = "medium", _("Medium")
        HIGH = "high", _("High")

    class RunsOn(models.TextChoices):
        HOST = "host", _("Host")
        CONTAINER = "container", _("Container")
        NODE = "node", _("Cluster node")
        WORKSTATION = "workstation", _("Workstation")

    class Privileges(models.TextChoices):
        USER = "user", _("Ordinary user")
        SUDO = "sudo", _("sudo")
        ROOT = "root", _("root")

    MOVES: ClassVar[dict[str, set[str]]] = {
        State.DRAFT: {State.IN_REVIEW, State.VERIFIED, State.DEPRECATED},
        State.IN_REVIEW: {State.DRAFT, State.VERIFIED, State.DEPRECATED},
        State.VERIFIED: {State.DEPRECATED},
        State.DEPRECATED: {State.IN_REVIEW},
    }

    entry = models.ForeignKey(Entry, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(_("number"))
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.DRAFT)
    script = models.TextField(_("script"))
    sha256 = models.CharField(max_length=64, editable=False, db_index=True)
    parameters = models.JSONField(_("parameters"), default=list, blank=True)
    tags = models.ManyToManyField(Tag, blank=True, related_name="versions")
    risk = models.CharField(_("risk"), max_length=8, choices=Risk, default=Risk.MEDIUM)
    findings = models.JSONField(_("findings"), default=list, blank=True)
    side_effect = models.CharField(
        _("side effect"), max_length=10, choices=SideEffect, default=SideEffect.UNKNOWN
    )
    runs_on = models.CharField(_("runs on"), max_length=12, choices=RunsOn, default=RunsOn.HOST)
    operating_system = models.CharField(_("operating system"), max_length=60, default="linux")
    shell = models.CharField(_("shell"), max_length=30, default="bash")
    tools = ArrayField(
        models.CharField(max_length=60), verbose_name=_("tools"), default=list, blank=True
    )
    privileges = models.CharField(
        _("privileges"), max_length=6, choices=Privileges, default=Privileges.USER
    )
    check_before = models.TextField(_("check before"), blank=True)
    check_after = models.TextField(_("check after"), blank=True)
    undo = models.TextField(_("how to undo"), blank=True)
    repeatable = models.BooleanField(_("safe to run twice"), null=True, blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="owned_versions",
    )
    links = models.JSONField(_("links"), default=list, blank=True)
    # A snapshot of where the script comes from: run, models, scores, edits, approver. Data, not keys:
    # what it names lives in apps above this one.
    provenance = models.JSONField(_("provenance"), default=dict, blank=True)
    # Null: a model wrote it, or it came with the product.
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="authored_versions",
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    verified_at = models.DateTimeField(_("verified"), null=True, blank=True, editable=False)
    verified_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="verified_versions",
    )
    # True where a team of one let the author verify (a setting); shown wherever "verified" is shown.
    self_verified = models.BooleanField(_("verified by its author"), default=False)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "number"], name="version_number_once_an_entry"
            ),
            models.UniqueConstraint(
                fields=["entry"],
                condition=Q(state="verified"),
                name="version_one_verified_an_entry",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["draft", "in_review", "verified", "deprecated"]),
                name="version_state_legal",
            ),
            models.CheckConstraint(
                condition=Q(risk__in=["low", "medium", "high"]), name="version_risk_legal"
            ),
            models.CheckConstraint(
                condition=Q(side_effect__in=["read_only", "mutating", "unknown"]),
                name="version_side_effect_legal",
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="version_number_from_one"),
            models.CheckConstraint(condition=~Q(script=""), name="version_script_not_empty"),
            models.CheckConstraint(
                condition=~Q(state="verified") | Q(verified_at__isnull=False),
                name="version_verified_when",
            ),
            # Four eyes, in the database: no path of the product can go round it.
            models.CheckConstraint(
                condition=Q(verified_by=None)
                | Q(author=None)
                | ~Q(verified_by=F("author"))
                | Q(self_verified=True),
                name="version_four_eyes",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "-id"], name="version_state_newest"),
            models.Index(fields=["risk"], name="version_risk"),
        ]

    def __str__(self) -> str:
        return f"{self.entry.slug} v{self.number}"

    @staticmethod
    def hash_of(script: str) -> str:
        """SHA-256 of the exact bytes, in hex; what a finding or a decision is about."""
        return hashlib.sha256(script.encode()).hexdigest()

    @transaction.atomic
    def move_to(self, state: State, *, by: User | None, note: str = "", **changes: object) -> None:
        """Change the state and log it, or raise NotAllowedNow and change nothing."""
        old = Version.State(self.state)
        if state not in Version.MOVES[old]:
            raise NotAllowedNow(
                _("This version is %(old)s; it can't become %(new)s.")
                % {"old": old.label.lower(), "new": state.label.lower()}
            )
        # Compare and set: whoever comes second finds no row to update.
        if not Version.objects.filter(pk=self.pk, state=old).update(state=state, **changes):
            raise NotAllowedNow(_("Somebody else has just changed this version."))
        VersionEvent.objects.create(version=self, old=old, new=state, by=by, note=note)
        self.state = state
        for name, value in changes.items():
            setattr(self, name, value)


class VersionEvent(models.Model):
    """One change of a Version's state; append-only."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="events")
    old = models.CharField(max_length=12, blank=True)
    new = models.CharField(max_length=12, choices=Version.State)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.version_id}: {self.old or 'new'} to {self.new}"


class Phrasing(models.Model):
    """One wording of what an Entry does; the title is one of them."""

    class Source(models.TextChoices):
        TITLE = "title", _("Title")
        CURATOR = "curator", _("Curator")
        STATEMENT = "statement", _("Reviewed statement")
        IMPORTED = "imported", _("Imported")

    entry = models.ForeignKey(Entry, models.CASCADE, related_name="phrasings")
    text = models.TextField(_("text"))
    source = models.CharField(_("source"), max_length=10, choices=Source, default=Source.CURATOR)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    # Its words, stemmed, for the search by text; the database keeps it.
    document = models.GeneratedField(
        expression=SearchVector("text", config="english"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        ordering = ["pk"]
        indexes = [GinIndex(fields=["document"], name="phrasing_document")]
        constraints = [
            models.UniqueConstraint("entry", MD5("text"), name="phrasing_once_an_entry"),
            models.UniqueConstraint(
                fields=["entry"], condition=Q(source="title"), name="phrasing_one_title_an_entry"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="phrasing_not_empty"),
            models.CheckConstraint(
                condition=Q(source__in=["title", "curator", "statement", "imported"]),
                name="phrasing_source_legal",
            ),
        ]

    def __str__(self) -> str:
        return self.text
