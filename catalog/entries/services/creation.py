"""Create entries and versions from analyzed scripts. Only services use this module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from django.contrib.auth.models import User
from django.db.models import Max
from django.utils.text import slugify
from django.utils.translation import gettext as _
from pydantic import ValidationError

from catalog import analysis
from catalog.analysis.shell.program import read_program
from catalog.analysis.tables import word_set
from catalog.entries.services.wording_confirmation import Confirmation
from catalog.models import Entry, Phrasing, Tag, ToolRule, Version, VersionEvent
from catalog.version_details import Parameter, ParameterType, VersionDetails, describe
from core.database.advisory_lock import lock_name
from core.errors import BadInput

LONGEST_SLUG = 70
MOST_TOOLS = 40
TOOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,59}")
BUILTINS = word_set(
    "alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs"
    " disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let"
    " local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt"
    " source suspend test times trap true type typeset ulimit umask unalias unset wait"
)
# Slugs that are URLs of other pages.
RESERVED_SLUGS = frozenset({"new", "curation", "calibration", "imports", "export", "views"})

# Details that can't be detected from a script, and are stored as given.
_SAID_ONLY = (
    "runs_on",
    "operating_system",
    "shell",
    "privileges",
    "check_before",
    "check_after",
    "undo",
    "repeatable",
)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A script with all given and detected details, ready to become a Version."""

    script: str
    sha256: str
    fields: Mapping[str, object]
    tags: tuple[str, ...]


def prepare(script: str, details: VersionDetails | None = None) -> Prepared:
    """Analyze a script and add missing details. Raises BadInput.

    Call this function before the transaction begins, because ShellCheck is slow.
    """
    details = details or VersionDetails()
    parameters = check(script, details)
    tools = ToolRule.objects.in_force()
    report = analysis.analyse(script, tools)
    said = {name: getattr(details, name) for name in _SAID_ONLY}
    return Prepared(
        script=script,
        sha256=Version.hash_of(script),
        tags=details.tags or (),
        fields={
            **{name: value for name, value in said.items() if value is not None},
            "parameters": [parameter.model_dump(mode="json") for parameter in parameters],
            "risk": risk_of(report, said=details.risk),
            "side_effect": details.side_effect or report.side_effect.value,
            "tools": list(details.tools if details.tools is not None else find_tools(script)),
            "links": [link.model_dump(mode="json") for link in details.links or ()],
            "checked_with": analysis.checkers(tools),
            "findings": [
                asdict(found)
                for found in report.findings
                if found.outcome != analysis.Outcome.PASSED
            ],
        },
    )


def risk_of(report: analysis.Report, *, said: str | None) -> str:
    """Return the given risk, raised to the level of the worst finding. If `said` is None, return the detected risk."""
    if said is None:
        return report.risk.value
    return raised_risk(
        said,
        (
            analysis.RatedFinding(found.check, found.outcome, found.level, found.code)
            for found in report.findings
        ),
    )


def raised_risk(said: str, findings: Iterable[analysis.RatedFinding]) -> str:
    """Return the given risk, raised to the level of the worst finding."""
    return analysis.higher(analysis.Risk(said), analysis.least_risk(findings)).value


def check(script: str, details: VersionDetails) -> list[Parameter]:
    """Return the script's described and detected parameters. Raise BadInput for all input that `prepare` rejects.

    This function starts no other program, so it takes only milliseconds.
    """
    if not script.strip():
        raise BadInput(_("This field can't be empty."), field="script")
    try:
        return _complete(details.parameters, script)
    except analysis.UnreadableScript as error:
        raise BadInput(str(error), field="script") from error


def _complete(said: Sequence[Parameter] | None, script: str) -> list[Parameter]:
    """Return the described parameters followed by the script's undescribed parameters."""
    complete = list(said or ())
    parameters = analysis.find_parameters(script)
    found = {parameter.name: parameter for parameter in parameters}
    for parameter in complete:
        if parameter.name not in found:
            raise BadInput(
                _("The script does not use the parameter %(name)s.") % {"name": parameter.name},
                field="parameters",
            )
        del found[parameter.name]
    return complete + [parameter_of(parameter) for parameter in found.values()]


def parameter_of(found: analysis.Parameter) -> Parameter:
    """Convert a detected parameter to a version's parameter. Raises BadInput."""
    try:
        return Parameter(
            name=found.name,
            type=ParameterType(found.type),
            required=found.required,
            # Leave a default that no form field can show only in the script.
            default=found.default if (found.default or "").isprintable() else None,
            choices=found.choices,
            description=found.description[:500],
        )
    except ValidationError as error:
        raise BadInput(
            _("A script parameter is invalid: %(why)s") % {"why": describe(error)},
            field="script",
        ) from error


def find_tools(script: str) -> list[str]:
    """Return the programs that the script starts, except Bash builtins and the script's functions."""
    program = read_program(script.encode())
    tools = {command.name for command in program.commands} - program.functions - BUILTINS
    return sorted(tool for tool in tools if TOOL.fullmatch(tool))[:MOST_TOOLS]


def add_version(
    entry: Entry,
    prepared: Prepared,
    *,
    author: User | None,
    provenance: Mapping[str, object],
    by: User | None,
    state: Version.State = Version.State.DRAFT,
    note: str = "",
    owner: User | None = None,
) -> Version:
    """Create the next Version of a locked entry, without verifying it."""
    newest = entry.versions.aggregate(newest=Max("number"))["newest"] or 0
    version = Version.objects.create(
        entry=entry,
        number=newest + 1,
        state=state,
        script=prepared.script,
        sha256=prepared.sha256,
        author=author,
        owner=owner,
        provenance=dict(provenance),
        **prepared.fields,
    )
    version.tags.add(*ensure_tags(prepared.tags))
    VersionEvent.objects.create(version=version, new=state, by=by, note=note)
    return version


def make_entry(title: str, *, by: User | None, confirmation: Confirmation, slug: str = "") -> Entry:
    """Create an entry whose title is its first phrasing."""
    lock_name("slug")
    if slug and Entry.objects.filter(slug=slug).exists():
        raise BadInput(_("An entry with this name was created at the same time. Import again."))
    entry = Entry.objects.create(slug=slug or free_slug(title), title=title, created_by=by)
    Phrasing.objects.create(
        entry=entry, text=title, source=Phrasing.Source.TITLE, **confirmation.fields()
    )
    return entry


def add_phrasings(
    entry: Entry, texts: Iterable[str], *, source: Phrasing.Source, confirmation: Confirmation
) -> list[str]:
    """Add phrasings to a locked entry. Return the phrasings that are new to the entry."""
    known = set(entry.phrasings.values_list("text", flat=True))
    new = [text for text in dict.fromkeys(texts) if text not in known]
    Phrasing.objects.bulk_create(
        Phrasing(entry=entry, text=text, source=source, **confirmation.fields()) for text in new
    )
    return new


def ensure_tags(names: Sequence[str]) -> list[Tag]:
    """Return the tags with these names. Create missing tags."""
    # Sorting prevents deadlocks between transactions that create the same tags.
    Tag.objects.bulk_create([Tag(name=name) for name in sorted(names)], ignore_conflicts=True)
    return list(Tag.objects.filter(name__in=names))


def free_slug(title: str) -> str:
    """Return an unused slug for the title."""
    base = slugify(title)[:LONGEST_SLUG].strip("-") or "entry"
    taken = set(Entry.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    taken |= RESERVED_SLUGS
    number = 1
    slug = base
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    return slug


def title_of(statement: str, *, longest: int) -> str:
    """Return the statement as a one-line title, truncated at a word boundary."""
    line = " ".join(statement.split())
    if len(line) <= longest:
        return line
    return line[: longest - 1].rsplit(" ", 1)[0] + "…"
