"""Export a verified script, with its provenance, for Ansible, Rundeck or AWX."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from django.urls import reverse

from catalog.models import Entry, Version
from catalog.programs.runners import (
    Provenance,
    RunnableScript,
    ansible_role,
    awx_survey,
    rundeck_job,
    values_of,
)
from catalog.programs.runners.ansible import PREFIX, role_name
from catalog.programs.services.verified_scripts import verification_words, verified_version


class Runner(StrEnum):
    """A system for which scripts can be exported."""

    ANSIBLE = "ansible"
    RUNDECK = "rundeck"
    AWX = "awx"


class ExportedFile(NamedTuple):
    """A file to download."""

    name: str
    content_type: str
    data: bytes


def export_for(entry: Entry, runner: Runner, *, link: Callable[[str], str]) -> ExportedFile:
    """Export the entry's verified script for this runner.

    `link` converts a path to a full URL. Raises NotAllowedNow if the entry has no script that programs may use.
    """
    script = _runnable(verified_version(entry), link)
    if runner is Runner.ANSIBLE:
        return ExportedFile(f"{role_name(script)}.zip", "application/zip", _zipped(script))
    if runner is Runner.RUNDECK:
        return ExportedFile(
            f"{entry.slug}.rundeck.yaml", "application/yaml; charset=utf-8", rundeck_job(script)
        )
    return ExportedFile(
        f"{entry.slug}.survey.json", "application/json", awx_survey(script, prefix=PREFIX)
    )


def _runnable(version: Version, link: Callable[[str], str]) -> RunnableScript:
    address = reverse("api:api-verify-list")
    provenance = Provenance(
        entry=version.entry.slug,
        title=version.entry.title,
        version=version.number,
        sha256=version.sha256,
        verification=verification_words(version),
        url=link(reverse("entry-detail", args=[version.entry.slug])),
        verify=link(f"{address}?sha256={version.sha256}"),
    )
    return RunnableScript(
        provenance=provenance,
        script=version.script,
        values=values_of(version.script, version.parameters),
        shell=version.shell,
        needs_root=version.privileges != Version.Privileges.USER,
        is_read_only=version.side_effect == Version.SideEffect.READ_ONLY,
    )


def _zipped(script: RunnableScript) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ansible_role(script):
            # The fixed date makes exports of the same version identical.
            about = zipfile.ZipInfo(f"{role_name(script)}/{name}", (1980, 1, 1, 0, 0, 0))
            about.external_attr = 0o644 << 16
            archive.writestr(about, data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
