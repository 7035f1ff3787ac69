"""Curation services: near-duplicates, merging, rechecks, tags and tool rules."""

from __future__ import annotations

from catalog.curation.services.backlog import CurationBacklog, read_curation_backlog
from catalog.curation.services.duplicates import (
    compare_entries,
    dismiss_pair,
    to_compare,
)
from catalog.curation.services.merging import MergePlan, merge_entries, plan_merge, undo_merge
from catalog.curation.services.rechecks import (
    mark_seen,
    recheck_versions,
    to_recheck,
)
from catalog.curation.services.tags import create_tag, delete_tag, merge_tag, rename_tag
from catalog.curation.services.tool_rules import remove_tool_rule, save_tool_rule

__all__ = [
    "CurationBacklog",
    "MergePlan",
    "compare_entries",
    "create_tag",
    "delete_tag",
    "dismiss_pair",
    "mark_seen",
    "merge_entries",
    "merge_tag",
    "plan_merge",
    "read_curation_backlog",
    "recheck_versions",
    "remove_tool_rule",
    "rename_tag",
    "save_tool_rule",
    "to_compare",
    "to_recheck",
    "undo_merge",
]
