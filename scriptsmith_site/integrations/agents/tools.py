"""The agent server's tools: their descriptions, scopes and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import Http404
from django.urls import reverse

from catalog import analysis
from catalog.access import access_entry, access_versions
from catalog.entries.services import is_entry_withheld
from catalog.models import Entry, ToolRule
from catalog.programs import services as programs
from catalog.programs.services import ScriptStatus
from catalog.version_details import Parameter
from core.errors import BadInput
from pipeline import services as pipeline
from pipeline.access import require_asker
from scriptsmith_site.integrations.agents import arguments, limits, results
from scriptsmith_site.integrations.agents.caller import Caller, Scope

MOST_FINDINGS = 100


@dataclass(frozen=True)
class Done:
    """A tool call's result and its note for the audit log. The note names entries and counts, but quotes no text."""

    result: results.Result
    note: str
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool that agents can list and call."""

    name: str
    title: str
    description: str
    scope: str
    takes: type[arguments.Arguments]
    gives: type[results.Result]
    call: Callable[[Caller, Any], Done]
    is_read_only: bool = True

    @cached_property
    def schemas(self) -> Mapping[str, object]:
        """Return the input and output schemas."""
        return {
            "inputSchema": self.takes.model_json_schema(),
            "outputSchema": self.gives.model_json_schema(),
        }

    def describe(self) -> dict[str, object]:
        """Return the description for `tools/list`."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            **self.schemas,
            "annotations": {
                "readOnlyHint": self.is_read_only,
                "destructiveHint": False,
                "idempotentHint": self.is_read_only,
                "openWorldHint": False,
            },
        }


def find_script(caller: Caller, asked: arguments.FindScript) -> Done:
    found = programs.find_outside(asked.statement, limit=asked.limit)
    versions = {
        version.pk: version
        for version in access_versions(caller.user).filter(
            pk__in=[match.version_id for match in found.matches]
        )
    }
    matches = [
        results.ScriptMatch(
            entry=match.entry,
            version=match.version,
            title=match.title,
            statement=match.phrasing,
            state=match.answer.value,
            confidence=round(match.confidence, 4),
            why=list(match.reasons),
            differs=list(match.differs),
            risk=version.risk,
            side_effect=version.side_effect,
            verification=programs.verification_words(version),
            parameters=_parameters(version.parameters),
            suggested_parameters=dict(match.fills),
            url=_entry_url(caller, match.entry),
        )
        for match in found.matches
        if (version := versions.get(match.version_id)) is not None
    ]
    answer = results.FoundScripts(
        answer=found.answer.value, matches=matches, degraded=found.degraded
    )
    return Done(answer, f"{found.answer.value}, {len(matches)}", tuple(m.entry for m in matches))


def get_script(caller: Caller, asked: arguments.GetScript) -> Done:
    entry = _entry_of(caller, asked.entry)
    handed = programs.hand_over(entry, number=asked.version, values=asked.parameters, outside=True)
    version = handed.version
    result = results.ScriptText(
        entry=entry.slug,
        version=version.number,
        title=entry.title,
        verification=programs.verification_words(version, stands=True),
        risk=version.risk,
        side_effect=version.side_effect,
        privileges=version.privileges,
        script=handed.filled.text,
        sha256=version.hash_of(handed.filled.text),
        version_sha256=version.sha256,
        check_before=version.check_before,
        check_after=version.check_after,
        undo=version.undo,
        url=_entry_url(caller, entry.slug),
    )
    return Done(result, f"version {version.number}", (entry.slug,))


def explain_risk(caller: Caller, asked: arguments.ExplainRisk) -> Done:
    try:
        report = analysis.analyse(asked.script, ToolRule.objects.in_force())
    except analysis.UnreadableScript as error:
        raise BadInput(str(error), field="script") from error
    known = programs.look_up_text(asked.script, outside=True)
    verification = "not verified"
    if known.standing is not ScriptStatus.NOT_VERIFIED and known.version is not None:
        stands = known.standing is ScriptStatus.VERIFIED
        verification = programs.verification_words(known.version, stands=stands)
    problems = report.problems
    result = results.RiskReport(
        sha256=report.sha256,
        verification=verification,
        risk=report.risk.value,
        side_effect=report.side_effect.value,
        syntax_ok=report.syntax_ok,
        findings=[
            results.RiskFinding(
                check=found.check,
                level=found.level.value,
                code=found.code,
                message=found.message,
                line=found.line,
            )
            for found in problems[:MOST_FINDINGS]
        ],
        not_judged=analysis.not_judged_in(report.unscored)[:MOST_FINDINGS],
        lines=report.coverage.lines,
        analyzed_lines=report.coverage.analyzed,
        left_out=max(0, len(problems) - MOST_FINDINGS),
    )
    return Done(result, f"risk {report.risk.value}")


def report_outcome(caller: Caller, asked: arguments.ReportOutcome) -> Done:
    entry = _entry_of(caller, asked.entry)
    limits.spend(caller.user, limits.Kind.REPORT)
    report = programs.report_outcome(
        entry,
        number=asked.version,
        outcome=asked.outcome,
        by=caller.user,
        token=caller.name,
        incident=asked.incident,
        note=asked.note,
    )
    words = (
        "Recorded. The report alone does not change the entry. Curators see reports that a script "
        "made things worse."
    )
    return Done(
        results.Reported(report=report.pk, words=words),
        f"version {asked.version} {asked.outcome}",
        (entry.slug,),
    )


def request_script(caller: Caller, asked: arguments.RequestScript) -> Done:
    require_asker(caller.user)
    limits.spend(caller.user, limits.Kind.REQUEST)
    # Mask secrets, because the model may run on another system and no user checks the text before it is sent.
    statement, incident, environment = (
        analysis.mask_secrets(text) for text in (asked.statement, asked.incident, asked.environment)
    )
    run = pipeline.ask_and_run(
        statement.text, by=caller.user, incident=incident.text, environment=environment.text
    )
    words = (
        "Requested. The script goes to the review queue. After a reviewer has verified it, "
        "find_script finds it."
    )
    result = results.Requested(
        action=run.action_id,
        run=run.pk,
        words=words,
        masked=[*statement.secrets, *incident.secrets, *environment.secrets],
        url=caller.link(reverse("action-detail", args=[run.action_id])),
    )
    return Done(result, f"action {run.action_id}")


TOOLS = (
    Tool(
        name="find_script",
        title="Find a verified script",
        description=(
            "Search the catalogue for verified Bash scripts that do the described task. Each "
            "match lists why it fits and what differs. A match with the state `adapt` is only a "
            "starting point."
        ),
        scope=Scope.AGENT_READ,
        takes=arguments.FindScript,
        gives=results.FoundScripts,
        call=find_script,
    ),
    Tool(
        name="get_script",
        title="Get a verified script",
        description=(
            "Return the exact text of an entry's verified script with the given values. Fails if "
            "a parameter has no value, a value is dangerous or the script is not verified."
        ),
        scope=Scope.AGENT_READ,
        takes=arguments.GetScript,
        gives=results.ScriptText,
        call=get_script,
    ),
    Tool(
        name="explain_risk",
        title="Explain the risk of a script",
        description=(
            "Return the static analysis of a Bash script: syntax, ShellCheck, what it deletes, "
            "overwrites or sends, and whether it is verified. Nothing is run. The absence of findings "
            "does not guarantee that the script is safe."
        ),
        scope=Scope.AGENT_READ,
        takes=arguments.ExplainRisk,
        gives=results.RiskReport,
        call=explain_risk,
    ),
    Tool(
        name="report_outcome",
        title="Report an outcome",
        description=(
            "Record the outcome of a verified script that was run. The outcome does not affect rankings "
            "or suspend the entry. Curators see reports that a script made things worse."
        ),
        scope=Scope.REPORT_OUTCOME,
        takes=arguments.ReportOutcome,
        gives=results.Reported,
        call=report_outcome,
        is_read_only=False,
    ),
    Tool(
        name="request_script",
        title="Request a script",
        description=(
            "Request a script that the catalogue does not have. A model writes it and reviewers "
            "check it. This tool never returns a script."
        ),
        scope=Scope.REQUEST_SCRIPT,
        takes=arguments.RequestScript,
        gives=results.Requested,
        call=request_script,
        is_read_only=False,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}


def _parameters(rows: list[dict[str, object]]) -> list[results.ScriptParameter]:
    return [
        results.ScriptParameter(
            name=one.name,
            type=one.type.value,
            required=one.required,
            default=one.default,
            choices=list(one.choices),
            description=one.description,
        )
        for one in (Parameter.model_validate(row) for row in rows)
    ]


def _entry_of(caller: Caller, slug: str) -> Entry:
    """Return the entry with this slug. Raises Http404 if it does not exist or an open study hides all of it."""
    entry = access_entry(caller.user, slug)
    if is_entry_withheld(entry):
        raise Http404
    return entry


def _entry_url(caller: Caller, slug: str) -> str:
    return caller.link(reverse("entry-detail", args=[slug]))
