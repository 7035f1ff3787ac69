"""Versions of prompts: stored on first use, written by users, pinned for runs.

A version that a run uses stays readable and usable after an upgrade changes the built-in prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput
from core.texts import check_text
from pipeline.access import require_endpoint_manager
from pipeline.configurations.prompt_checks import find_faults
from pipeline.flow import prompts
from pipeline.flow.prompts import Template, Templates
from pipeline.flow.stages import ASKED_STAGES
from pipeline.models import Configuration, ModelCall, PromptVersion
from pipeline.types import Problem

MAX_TEXT = 20_000
MAX_NOTE = 300


@dataclass(frozen=True)
class VersionUse:
    """A prompt version and its uses."""

    version: PromptVersion  # unsaved if it is the built-in version and no run has used it yet
    is_current: bool  # whether this is the built-in version
    configurations: list[Configuration]  # active configurations that will use this version
    calls: int


# --- For runs ---------------------------------------------------------------------------------------------------


@transaction.atomic
def choose_versions(pinned: Mapping[str, str]) -> dict[str, str]:
    """Return the version of every prompt for a Run's snapshot: the pinned version or, by default, the built-in version.

    Built-in versions are stored on first use. Raises BadInput if a pinned version can't be used.
    """
    check_pins(pinned)
    current = prompts.versions()
    kept = set(
        PromptVersion.objects.filter(version__in=current.values()).values_list("name", "version")
    )
    # A run that starts concurrently may store the same texts.
    PromptVersion.objects.bulk_create(
        [_of_product(name) for name in current if (name, current[name]) not in kept],
        ignore_conflicts=True,
    )
    return current | dict(pinned)


def check_pins(pinned: Mapping[str, str]) -> None:
    """Raise BadInput if a prompt or version is unknown, or has unknown slots."""
    kept = _find(pinned)
    for name, version in pinned.items():
        if name not in prompts.names():
            raise BadInput(_("Prompt “%s” does not exist.") % name[:40], field="prompts")
        template = kept.get(name)
        if template is None:
            said = _("The prompt “%(name)s” has no version %(version)s.")
        elif template.slots != prompts.load(name).slots:
            said = _("Version %(version)s of the prompt “%(name)s” has unknown slots.")
        else:
            continue
        raise BadInput(said % {"version": version[:12], "name": name}, field=f"prompts.{name}")


def templates_of(named: object) -> Templates:
    """Return the prompt versions that a Run's snapshot names.

    Raises Problem if a version is missing from the snapshot, is not stored, or has unknown slots.
    """
    pairs = named.items() if isinstance(named, dict) else ()
    versions = {name: str(version) for name, version in pairs}
    for name, stage in ASKED_STAGES.items():
        if stage.added_later:
            versions.setdefault(name, prompts.load(name).version)
    kept = _find(versions)
    for name in prompts.names():
        if name not in kept:
            raise Problem(
                f"Version {versions.get(name, 'unknown')} of the prompt “{name}” is not stored here. "
                "Start another run."
            )
        if kept[name].slots != prompts.load(name).slots:
            raise Problem(
                f"Version {versions[name]} of the prompt “{name}” has slots that no longer exist. "
                "Start another run."
            )
    return {name: kept[name] for name in prompts.names()}


def _find(versions: Mapping[str, str]) -> dict[str, Template]:
    """Return the stored or built-in templates of these versions, in at most one query."""
    found = {
        name: prompts.load(name)
        for name, version in versions.items()
        if name in prompts.names() and prompts.load(name).version == version
    }
    others = {name: version for name, version in versions.items() if name not in found}
    if others:
        rows = PromptVersion.objects.filter(name__in=others, version__in=others.values())
        for row in rows:
            template = prompts.parse(row.text)
            if others[row.name] == row.version == template.version:
                found[row.name] = template
    return found


def _of_product(name: str) -> PromptVersion:
    return PromptVersion(name=name, version=prompts.load(name).version, text=prompts.read(name))


# --- For users --------------------------------------------------------------------------------------------------


@transaction.atomic
def write_prompt(name: str, *, text: str, by: User, note: str = "") -> PromptVersion:
    """Store a text as a new version of a prompt. Only configurations that pin the version use it.

    Raises BadInput if a slot or a word of the answer format is missing, or if the text is already stored.
    """
    require_endpoint_manager(by)
    # Browsers send CRLF, but the same text must have the same hash.
    text = check_text(text, field="text", most=MAX_TEXT).replace("\r\n", "\n").rstrip() + "\n"
    note = check_text(note, field="note", most=MAX_NOTE).strip()
    faults = find_faults(name, text)
    if faults:
        raise BadInput(" ".join(faults), field="text")
    version = prompts.parse(text).version
    if version == prompts.load(name).version:
        raise BadInput(_("This text is the same as the built-in version."), field="text")
    try:
        with transaction.atomic():
            written = PromptVersion.objects.create(
                name=name,
                version=version,
                text=text,
                source=PromptVersion.Source.WRITTEN,
                note=note,
                created_by=by,
            )
    except IntegrityError:
        raise BadInput(
            _("This text is already saved as version %s.") % version, field="text"
        ) from None
    record(written, "written", by=by, prompt=("", name), version=("", version))
    return written


def uses_of(name: str) -> list[VersionUse]:
    """Return the versions of a prompt with their uses, the built-in version first, then the newest."""
    current = prompts.load(name).version
    rows = list(PromptVersion.objects.filter(name=name).select_related("created_by"))
    if all(row.version != current for row in rows):
        rows.append(_of_product(name))
    rows.sort(key=lambda row: row.version != current)
    calls = dict(
        ModelCall.objects.filter(prompt=name)
        .values_list("prompt_version")
        .annotate(calls=Count("pk"))
    )
    asking: dict[str, list[Configuration]] = {}
    for one in _configurations_in_use():
        asking.setdefault(one.prompts.get(name, current), []).append(one)
    return [
        VersionUse(
            version=row,
            is_current=row.version == current,
            configurations=asking.get(row.version, []),
            calls=calls.get(row.version, 0),
        )
        for row in rows
    ]


def versions_by_prompt() -> dict[str, list[PromptVersion]]:
    """Return the versions of every prompt in one query, the built-in version first, then the newest."""
    found: dict[str, list[PromptVersion]] = {name: [_of_product(name)] for name in prompts.names()}
    for row in PromptVersion.objects.filter(name__in=found):
        known = found[row.name]
        if row.version == known[0].version:
            known[0] = row
        else:
            known.append(row)
    return found


def _configurations_in_use() -> list[Configuration]:
    return list(
        Configuration.objects.filter(archived_at=None).exclude(preset=Configuration.Preset.IMPORTED)
    )
