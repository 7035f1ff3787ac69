"""Entries and their versions: a function for each intention, whoever asks."""

from __future__ import annotations

from catalog.entries.services.checklist import CHECKED, Check, checklist
from catalog.entries.services.entries import (
    add_phrasing,
    create_entry,
    lift_suspension,
    merged_into,
    remove_phrasing,
    rename,
    suspend,
)
from catalog.entries.services.findings import (
    Changed,
    SinceReplaced,
    compare_findings,
    findings_since,
    newer_findings,
)
from catalog.entries.services.lifecycle import (
    deprecate,
    may_verify,
    send_back,
    submit_for_review,
    verify,
    verify_again,
)
from catalog.entries.services.parameter_values import Filled, fill_in
from catalog.entries.services.publishing import publish, withdraw
from catalog.entries.services.rollback import (
    RollbackPlan,
    emergencies_to_confirm,
    emergency_of,
    plan_rollback,
    roll_back,
    rollback_targets,
)
from catalog.entries.services.uses import (
    USE_UNREVIEWED,
    Copied,
    Rated,
    TrackRecord,
    is_trusted,
    record_outcome,
    record_use,
    track_record,
    track_records,
    used_unreviewed,
    waiting_to_verify,
    warnings_for,
)
from catalog.entries.services.version_counts import VersionCounts, counts_by_version, counts_of
from catalog.entries.services.versions import (
    ChangedDetail,
    compare_details,
    details_of,
    edit_version,
    labels_seen,
    revert_to,
    set_details,
)
from catalog.entries.services.wording_confirmation import (
    confirm_phrasing,
    may_confirm,
    waiting_to_confirm,
)

__all__ = [
    "CHECKED",
    "Changed",
    "Check",
    "ChangedDetail",
    "Copied",
    "Filled",
    "VersionCounts",
    "Rated",
    "RollbackPlan",
    "SinceReplaced",
    "TrackRecord",
    "USE_UNREVIEWED",
    "add_phrasing",
    "checklist",
    "counts_by_version",
    "compare_details",
    "compare_findings",
    "confirm_phrasing",
    "create_entry",
    "deprecate",
    "details_of",
    "edit_version",
    "emergencies_to_confirm",
    "emergency_of",
    "fill_in",
    "findings_since",
    "is_trusted",
    "labels_seen",
    "lift_suspension",
    "may_confirm",
    "may_verify",
    "merged_into",
    "newer_findings",
    "counts_of",
    "plan_rollback",
    "publish",
    "record_outcome",
    "record_use",
    "remove_phrasing",
    "rename",
    "revert_to",
    "roll_back",
    "rollback_targets",
    "send_back",
    "set_details",
    "submit_for_review",
    "suspend",
    "track_record",
    "track_records",
    "used_unreviewed",
    "verify",
    "verify_again",
    "waiting_to_confirm",
    "waiting_to_verify",
    "warnings_for",
    "withdraw",
]
