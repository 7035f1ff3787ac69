"""Entry and Version: the catalogue's scripts and their states."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.analysis import (
    Coverage,
    Region,
    coverage_of,
    not_judged_in,
    reports_unread_lines,
)
from core.errors import NotAllowedNow
from core.texts import name_of


class Tag(models.Model):
    name = models.SlugField(_("name"), max_length=50, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class EntryQuerySet(models.QuerySet["Entry"]):
    def answering(self) -> EntryQuerySet:
        """Return the entries that may answer a request: verified and not suspended."""
        return self.standing().filter(versions__state=Version.State.VERIFIED, suspended_at=None)

    def standing(self) -> EntryQuerySet:
        """Return the entries that were not merged into another entry."""
        return self.filter(merged_into=None)


class Entry(models.Model):
    """A task with a title, phrasings and numbered versions of its script."""

    slug = models.SlugField(_("slug"), max_length=80, unique=True)
    title = models.CharField(_("title"), max_length=300)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    # Suspended entries are not used. Curators and bad outcomes suspend entries, and curators lift suspensions.
    suspended_at = models.DateTimeField(_("suspended"), null=True, blank=True)
    suspended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    suspended_why = models.TextField(_("reason for suspension"), blank=True)
    merged_into = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="merged"
    )
    # When the entry was last compared to find near-duplicates. Each change of the entry resets the time.
    compared_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Search document with title, phrasings, tags and the newest script. The services update it.
    document = SearchVectorField(null=True, editable=False)

    objects = EntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "entries"
        ordering = ["-pk"]
        indexes = [
            GinIndex(fields=["document"], name="entry_document"),
            models.Index(
                fields=["id"],
                condition=Q(compared_at=None, merged_into=None),
                name="entry_to_compare",
            ),
        ]
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
            ("use_unreviewed", _("Can use an unreviewed script by giving a reason")),
        ]

    def __str__(self) -> str:
        return self.title


class Version(models.Model):
    """A script of an Entry, with its details. The script never changes."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        IN_REVIEW = "in_review", _("In review")
        VERIFIED = "verified", _("Verified")
        DEPRECATED = "deprecated", _("Deprecated")

    class SideEffect(models.TextChoices):
        READ_ONLY = "read_only", _("Read-only")
        MUTATING = "mutating", _("Modifies state")
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
    # A snapshot of the script's origin: run, models, scores, edits, approver. Foreign keys are not possible, because
    # these objects belong to apps that depend on this app.
    provenance = models.JSONField(_("provenance"), default=dict, blank=True)
    # Null if a model wrote the script or the script ships with the product.
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
    # The versions of ShellCheck and of the risk rules that produced the findings, or empty if not recorded.
    checked_with = models.CharField(
        _("checked with"), max_length=80, blank=True, default="", db_default="", editable=False
    )
    # True if a team of one verified its own script, which requires a setting. Shown next to "verified".
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
            # The database enforces the four-eyes rule, so that no code can bypass it.
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
            models.Index(
                fields=["verified_at"],
                condition=Q(state="verified"),
                name="version_verified_at",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.entry.slug} v{self.number}"

    @property
    def takes_reason(self) -> bool:
        """Return whether verifying the version requires a reason."""
        return self.risk == Version.Risk.HIGH

    @property
    def not_judged(self) -> list[str]:
        """Return descriptions of what the newest checks could not judge, such as unknown commands."""
        return not_judged_in(self._newest_check[1])

    @property
    def coverage(self) -> Coverage | None:
        """Return how many lines the newest checks could analyze, or None if the checks did not record it."""
        checkers, findings = self._newest_check
        if not reports_unread_lines(checkers):
            return None
        regions = (
            Region(found.get("code", ""), found.get("line"), found.get("end_line"))
            for found in findings
        )
        return coverage_of(self.script, regions)

    @property
    def _newest_check(self) -> tuple[str, list[dict[str, Any]]]:
        """Return the checkers and findings of the recheck, or the version's own if it has no recheck."""
        recheck = getattr(self, "recheck", None)
        if recheck is not None:
            return recheck.checked_with, recheck.findings
        return self.checked_with, self.findings

    @staticmethod
    def hash_of(script: str) -> str:
        """Return the hex SHA-256 of the exact bytes. Findings and decisions use it to identify a script."""
        return hashlib.sha256(script.encode()).hexdigest()

    @transaction.atomic
    def move_to(self, state: State, *, by: User | None, note: str = "", **changes: object) -> None:
        """Change the state and record the event. Raises NotAllowedNow, which names a conflicting change."""
        old = Version.State(self.state)
        if state not in Version.MOVES[old]:
            refusal = _("This version is %(old)s, so it can't become %(new)s.") % {
                "old": old.label.lower(),
                "new": state.label.lower(),
            }
            raise NotAllowedNow(f"{refusal} {self._last_change()}".rstrip())
        # Compare and set in one query, so that the second of two concurrent changes updates no row.
        if not Version.objects.filter(pk=self.pk, state=old).update(state=state, **changes):
            raise NotAllowedNow(
                self._last_change()
                or _("Another user has just changed this version. Reload the page.")
            )
        VersionEvent.objects.create(version=self, old=old, new=state, by=by, note=note)
        self.state = state
        for name, value in changes.items():
            setattr(self, name, value)

    @transaction.atomic
    def take_back(self, event: VersionEvent, *, by: User, note: str) -> None:
        """Undo the state change `event` and keep the version's verification.

        Raises NotAllowedNow if `event` is not the version's latest event.
        """
        last = self.events.order_by("-pk").first()
        if (
            last is None
            or last.pk != event.pk
            or not Version.objects.filter(pk=self.pk, state=event.new).update(state=event.old)
        ):
            raise NotAllowedNow(
                self._last_change()
                or _("Another user has just changed this version. Reload the page.")
            )
        VersionEvent.objects.create(version=self, old=event.new, new=event.old, by=by, note=note)
        self.state = event.old

    def _last_change(self) -> str:
        last = self.events.select_related("by").order_by("-pk").first()
        if last is None or not last.old:
            return ""
        words = _("%(who)s changed the state to %(state)s at %(when)s.") % {
            "who": name_of(last.by),
            "state": last.get_new_display().lower(),
            "when": f"{timezone.localtime(last.at):%H:%M}",
        }
        return str(words)


class VersionEvent(models.Model):
    """A change of a Version's state. Events are append-only."""

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
