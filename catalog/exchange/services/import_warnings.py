"""Warnings about rows that a curator should see before the import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.db.models.functions import Lower

from catalog.analysis import Outcome, Risk, ToolRules, analyse_static, check_syntax
from catalog.entries.services.creation import risk_of
from catalog.exchange.formats import EntryRecord, Row
from catalog.exchange.services.import_plan import ImportStep, Need
from catalog.exchange.services.import_report import ImportOutcome
from catalog.models import Entry


def read_titles(records: Sequence[EntryRecord]) -> Mapping[str, str]:
    """Return the slugs of existing entries with the same titles as these records, by lowercase title."""
    titles = {record.title.lower() for record in records}
    found = Entry.objects.filter(merged_into=None).annotate(lower=Lower("title"))
    return dict(found.filter(lower__in=titles).values_list("lower", "slug"))


def say_same_title(
    row: Row, step: ImportStep, existing: Mapping[str, str], before: dict[str, str]
) -> Iterator[str]:
    """Yield a warning if a new entry has the same title as another entry. `before` maps the titles of earlier rows to
    their positions, and is updated.
    """
    if step.outcome is not ImportOutcome.ENTRY:
        return
    title = step.record.title.lower()
    if title in existing:
        yield f"The entry {existing[title]} already has this title."
    elif title in before:
        yield f"The entry in {before[title]} has the same title."
    before.setdefault(title, row.place)


def check_scripts(needs: Sequence[Need], tools: ToolRules) -> list[str]:
    """Return warnings about syntax errors and a high risk of the main version. ShellCheck is skipped because it takes
    too long for a preview.
    """
    warnings = []
    for script, details in needs[:1]:
        for found in check_syntax(script):
            if found.outcome is Outcome.FAILED:
                place = f"line {found.line} of the script" if found.line else "the script"
                warnings.append(f"Syntax error in {place}: {found.message}")
        report = analyse_static(script, tools)
        if risk_of(report, said=details.risk) == Risk.HIGH:
            reasons = [found.message for found in report.problems]
            warnings.append(f"High risk. {reasons[0] if reasons else ''}".rstrip())
    return warnings
