"""Sandbox tests and their results. Tests are immutable, and hashes identify tests and scripts."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models.entry import Entry, Version
from core.leased_jobs import LeasedJob

MISSED_REPORTS = timedelta(minutes=2)
# Only shipped results have this key in their environment, so that they are never mixed with local results.
ORIGIN = "origin"
_NAMED_TOOLS = ("bash", "coreutils")


class CheckState(models.TextChoices):
    """The result of a check. Only *passed* and *failed* are verdicts and are included in statistics."""

    PASSED = "passed", _("Passed")
    FAILED = "failed", _("Failed")
    UNSTABLE = "unstable", _("Unstable")
    UNSUPPORTED = "unsupported", _("Unsupported")
    TIMED_OUT = "timed out", _("Timed out")
    NOT_RUN = "not run", _("Not run")


class CaseSet(models.Model):
    """An author's test suite for a statement. Test suites never change, and identical suites share one row."""

    class AuthorKind(models.TextChoices):
        MODEL = "model", _("a model")
        PERSON = "person", _("a user")
        IMPORT = "import", _("an import")

    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    statement = models.TextField(_("statement"))
    statement_sha256 = models.CharField(max_length=64, editable=False, db_index=True)
    content = models.JSONField(_("tests"))  # as in docs/case-format.schema.json
    author_kind = models.CharField(max_length=6, choices=AuthorKind)
    author_name = models.CharField(_("author"), max_length=500)
    # Version of the prompt, if a model wrote the suite.
    prompt_version = models.CharField(max_length=12, blank=True, db_default="")
    # The suite of which this suite is a revision. New runs of drafts use the revision.
    replaces = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="replaced_by"
    )
    # Set if the author removed all checks in a revision. The suite is then excluded from runs and statistics.
    withdrawn_at = models.DateTimeField(null=True, blank=True, editable=False)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # True for a copy edited during a review. It is used only in that review, because it was not written for the
    # statement.
    is_revision = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(author_kind__in=["model", "person", "import"]),
                name="case_set_author_legal",
            )
        ]

    def __str__(self) -> str:
        return self.sha256[:12]

    @property
    def length(self) -> int:
        """Return the number of tests."""
        return len(self.content["cases"])


class Execution(models.Model):
    """The results of a script in the scenarios of a case set, on one kind of machine.

    Repeated runs with the same verdicts on the same kind of machine update `times` and `last_at`. A run with different
    verdicts creates a new row. If a check was not run, the result is incomplete: its state is *not run*, and `reason`
    says why.
    """

    script_sha256 = models.CharField(max_length=64, editable=False)
    case_set = models.ForeignKey(CaseSet, models.PROTECT, related_name="executions")
    fingerprint = models.JSONField(_("environment"), default=dict)
    fingerprint_sha256 = models.CharField(max_length=64, blank=True)
    state = models.CharField(_("state"), max_length=11, choices=CheckState)
    reason = models.TextField(_("reason for not running"), blank=True)
    passed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    others = models.PositiveIntegerField(default=0)
    worlds = models.PositiveIntegerField(default=0)  # scenarios with at least one verdict
    small_errors = models.PositiveIntegerField(null=True, blank=True)  # null: not measured
    noticed = models.PositiveIntegerField(null=True, blank=True)
    # When the quality of the tests was measured, or when the measurement was skipped because it is too slow.
    quality_at = models.DateTimeField(null=True, blank=True)
    # Observations in each scenario, and the quality of the tests. Plain text only (see catalog.execution.quality).
    document = models.JSONField(default=dict)
    seconds = models.FloatField(default=0)
    first_at = models.DateTimeField(default=timezone.now)
    last_at = models.DateTimeField(default=timezone.now)
    times = models.PositiveIntegerField(default=1)
    # Imported results are shown only if no local results exist, and never for an entry.
    imported = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["-last_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in CheckState]),
                name="execution_state_legal",
            ),
            models.CheckConstraint(
                condition=~Q(state="not run") | ~Q(reason=""), name="execution_not_run_says_why"
            ),
        ]
        indexes = [
            models.Index(
                fields=["script_sha256", "case_set", "-last_at"], name="execution_of_script"
            )
        ]

    def __str__(self) -> str:
        return f"{self.script_sha256[:12]} in {self.case_set_id}: {self.state}"

    @property
    def judged(self) -> int:
        """Return the number of checks that have a verdict."""
        return self.passed + self.failed

    @property
    def is_shipped(self) -> bool:
        """Return whether the result ships with the product and was measured on another machine."""
        return ORIGIN in self.fingerprint

    @property
    def environment(self) -> str:
        """Return the versions of the most important tools, such as `bash 5.2, coreutils 9.1`."""
        parts = self.fingerprint
        return ", ".join(f"{name} {_short(parts[name])}" for name in _NAMED_TOOLS if name in parts)

    @property
    def lacks_quality(self) -> bool:
        """Return whether the quality of the tests must still be measured. Always False for imported results."""
        # Workers of the previous release stored the quality with the result, without a time.
        is_known = self.quality_at is not None or self.small_errors is not None
        is_complete = self.state != CheckState.NOT_RUN
        return bool(self.judged) and is_complete and not is_known and not self.imported


class CheckResult(models.Model):
    """The result of a test's check: its sentence, its state, and the actual value if it failed."""

    execution = models.ForeignKey(Execution, models.CASCADE, related_name="checks")
    case_number = models.PositiveSmallIntegerField()
    number = models.PositiveSmallIntegerField()
    case_title = models.CharField(max_length=4000)
    sentence = models.TextField()
    state = models.CharField(max_length=11, choices=CheckState)
    got = models.TextField(blank=True)

    class Meta:
        ordering = ["execution", "case_number", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["execution", "case_number", "number"], name="check_result_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in CheckState]),
                name="check_result_state_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.execution_id} {self.case_number}.{self.number}: {self.state}"


class EntryCases(models.Model):
    """A case set of an entry, with the latest result for the entry's live script."""

    entry = models.ForeignKey(Entry, models.CASCADE, related_name="case_sets")
    case_set = models.ForeignKey(CaseSet, models.PROTECT, related_name="entries")
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    added_at = models.DateTimeField(default=timezone.now)
    removed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    removed_at = models.DateTimeField(null=True, blank=True)
    latest = models.ForeignKey(Execution, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "entry test suites"
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "case_set"],
                condition=Q(removed_at=None),
                name="entry_cases_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.entry_id}: {self.case_set_id}"


class EvidenceChange(models.Model):
    """A change in the behavior of an entry's live script. The change is listed until a curator marks it as seen."""

    entry = models.ForeignKey(Entry, models.CASCADE, related_name="evidence_changes")
    version = models.ForeignKey(Version, models.CASCADE, related_name="+")
    before = models.ForeignKey(Execution, models.CASCADE, related_name="+")
    after = models.ForeignKey(Execution, models.CASCADE, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(null=True, blank=True)
    seen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["-id"], condition=Q(seen_at=None), name="evidence_change_not_seen")
        ]

    def __str__(self) -> str:
        return f"{self.entry_id}: {self.before_id} to {self.after_id}"


class CaseRun(LeasedJob):
    """A job that runs a script's tests in the sandbox. The script's text is deleted when the run ends."""

    TASK = "catalog.run_cases"
    QUEUE = "execution"

    class Purpose(models.TextChoices):
        ASKED = "asked", _("Requested")
        CASES = "cases", _("New tests")
        DRAFT = "draft", _("A draft")
        EDITED = "edited", _("A new version")
        VERIFIED = "verified", _("Verified")
        MERGED = "merged", _("Merged")
        NIGHTLY = "nightly", _("Nightly")
        # Used only by older rows, because the nightly run now includes these checks.
        ENVIRONMENT = "environment", _("A changed environment")
        # Measures the quality of a result's tests. No user is waiting for this run.
        QUALITY = "quality", _("Test quality")

    script = models.TextField(blank=True)
    script_sha256 = models.CharField(max_length=64, editable=False)
    case_set = models.ForeignKey(CaseSet, models.PROTECT, related_name="runs")
    purpose = models.CharField(max_length=11, choices=Purpose)
    execution = models.ForeignKey(
        Execution, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    trouble = models.TextField(_("problem"), blank=True)

    class Meta(LeasedJob.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed", "cancelled"]),
                name="case_run_state_legal",
            ),
            models.UniqueConstraint(
                fields=["script_sha256", "case_set"],
                condition=Q(state__in=["waiting", "running"]) & ~Q(purpose="quality"),
                name="case_run_once_at_a_time",
            ),
            models.UniqueConstraint(
                fields=["script_sha256", "case_set"],
                condition=Q(state__in=["waiting", "running"], purpose="quality"),
                name="case_run_quality_once_at_a_time",
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(state__in=["waiting", "running"]),
                name="case_run_unfinished",
            ),
            # The worker queries for other runs before each quality run.
            models.Index(
                fields=["id"],
                condition=Q(state__in=["waiting", "running"]) & ~Q(purpose="quality"),
                name="case_run_result_unfinished",
            ),
        ]

    def __str__(self) -> str:
        return f"cases {self.case_set_id} on {self.script_sha256[:12]}"


class SandboxReport(models.Model):
    """A worker's report about its sandbox. Each change adds a row."""

    name = models.CharField(max_length=40, blank=True)  # empty: no sandbox
    fingerprint = models.JSONField(default=dict)
    fingerprint_sha256 = models.CharField(max_length=64, blank=True)
    reason = models.TextField(blank=True)
    remedy = models.TextField(blank=True)
    first_at = models.DateTimeField(default=timezone.now)
    last_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-last_at", "-pk"]

    def __str__(self) -> str:
        return self.name or f"none: {self.reason}"

    @property
    def is_recent(self) -> bool:
        """Return whether the worker is probably still running. Workers report every 30 s."""
        return timezone.now() - self.last_at < MISSED_REPORTS


def _short(version: str) -> str:
    """Return the major and minor version, for example 5.2 for 5.2.15(1)-release."""
    return ".".join(version.split("(")[0].split(".")[:2])
