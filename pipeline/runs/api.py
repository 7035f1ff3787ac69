"""The API for runs and their drafts. It uses the same services as the pages."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.web.public_keys import DRAFT, public_key, read_public
from core.web.requests import read_body, read_key, signed_in
from pipeline.access import (
    access_action,
    access_draft,
    access_run,
    access_runs,
    require_asker,
    visible_parts,
)
from pipeline.configurations.services import find_configuration
from pipeline.execution.draft_checks import recheck_draft
from pipeline.ledger.failures import failure_of
from pipeline.models import Draft, Run
from pipeline.runs import services
from pipeline.runs.draft_serializers import DraftSerializer, DraftUseSerializer, UseUnreviewedInput
from pipeline.runs.filters import RunFilter
from pipeline.runs.list_rows import RunRow, run_row
from pipeline.runs.page_data.waiting import describe_wait
from pipeline.runs.run_document import masked_in, origin_of, report_run
from pipeline.runs.serializers import (
    FailureSerializer,
    RetrievedMatchSerializer,
    RunReportSerializer,
    RunSerializer,
    StartInput,
)
from pipeline.types import SecretsChoice

ASK = "ask"


class RunViewSet(viewsets.GenericViewSet[Run]):
    """The runs of actions through the pipeline, newest first."""

    filterset_class = RunFilter
    queryset = Run.objects.none()
    required_scope = ASK

    def get_queryset(self) -> QuerySet[Run]:
        return access_runs(signed_in(self.request))

    @extend_schema(responses=RunSerializer(many=True))
    def list(self, request: Request) -> Response:
        """List runs with their states."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        rows = [run_row(run, signed_in(request)) for run in page or []]
        return self.get_paginated_response(RunSerializer(rows, many=True).data)

    @extend_schema(responses=RunReportSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return a complete run: stages, drafts, verdict, tokens, cost and catalogue matches."""
        user = signed_in(request)
        row = run_row(access_run(user, read_key(pk)), user)
        waits = describe_wait(row.run, user) if row.parts.verdict else None
        return Response(describe_run(row) | {"waiting": str(waits or "")})

    @extend_schema(request=StartInput, responses={201: RunSerializer})
    def create(self, request: Request) -> Response:
        """Rerun an action."""
        user = signed_in(request)
        require_asker(user, or_manager=True)
        body = read_body(StartInput, request)
        asked = access_action(user, body["action"], to_run=True)
        name = body.get("configuration", "")
        run = services.start_run(
            asked,
            by=user,
            configuration=find_configuration(name) if name else None,
            uses_retrieval=body.get("retrieval"),
            secrets=SecretsChoice(body.get("secrets", SecretsChoice.MASK)),
        )
        return self._answer(run, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel a run that is in progress."""
        run = access_run(signed_in(request), read_key(pk), to_cancel=True)
        services.cancel_run(run, by=signed_in(request))
        return self._answer(run)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: str) -> Response:
        """Resume a failed run from the stage that failed."""
        run = self._run_to_change(pk)
        services.retry_run(run, by=signed_in(request))
        return self._answer(run)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"], url_path="confirm-match")
    def confirm_match(self, request: Request, pk: str) -> Response:
        """Confirm that the catalogue's answer is right."""
        run = self._run_to_change(pk)
        services.confirm_match(run, by=signed_in(request))
        return self._answer(run)

    @extend_schema(request=None, responses={201: RunSerializer})
    @action(detail=True, methods=["post"], url_path="reject-match")
    def reject_match(self, request: Request, pk: str) -> Response:
        """Reject the catalogue's answer and return the run that writes a script instead."""
        written = services.reject_match(self._run_to_change(pk), by=signed_in(request))
        return self._answer(written, status=status.HTTP_201_CREATED)

    def _run_to_change(self, pk: str) -> Run:
        return access_run(signed_in(self.request), read_key(pk), to_change=True)

    def _answer(self, run: Run, *, status: int = 200) -> Response:
        user = signed_in(self.request)
        row = run_row(access_run(user, run.pk), user)
        return Response(RunSerializer(row).data, status=status)


class DraftViewSet(viewsets.GenericViewSet[Draft]):
    """Drafts, which are the scripts of runs."""

    serializer_class = DraftSerializer
    queryset = Draft.objects.none()
    required_scope = ASK

    @extend_schema(responses=DraftSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return the script with its findings, its assessment and the feedback on it."""
        draft = access_draft(signed_in(request), read_public(DRAFT, pk))
        parts = visible_parts(signed_in(request), draft.run)
        return Response(DraftSerializer(draft, context={"parts": parts}).data)

    @extend_schema(request=None, responses=DraftSerializer)
    @action(detail=True, methods=["post"], url_path="check-again")
    def check_again(self, request: Request, pk: str) -> Response:
        """Repeat the static checks that have changed since the last check. Findings of older versions are kept."""
        user = signed_in(request)
        draft = access_draft(user, read_public(DRAFT, pk), to_check=True)
        recheck_draft(draft, by=user)
        parts = visible_parts(user, draft.run)
        return Response(DraftSerializer(draft, context={"parts": parts}).data)

    @extend_schema(request=UseUnreviewedInput, responses={201: DraftUseSerializer})
    @action(detail=True, methods=["post"], url_path="use-unreviewed")
    def use_unreviewed(self, request: Request, pk: str) -> Response:
        """Use an unreviewed script (break-glass). The use is recorded with its reason."""
        user = signed_in(request)
        draft = access_draft(user, read_public(DRAFT, pk), to_use=True)
        body = read_body(UseUnreviewedInput, request)
        use = services.use_unreviewed(draft, reason=body["reason"], by=user)
        return Response(DraftUseSerializer(use).data, status=status.HTTP_201_CREATED)


def describe_run(row: RunRow) -> dict[str, object]:
    """Return the report of a run with its links, without the values that a review hides from the user."""
    run, parts = row.run, row.parts
    if not parts.verdict:
        return _describe_hidden(row)
    matches = run.matches.answers().select_related("version__entry")
    report = report_run(run)
    # Read the ids after the report, because a worker may add Drafts but never deletes any.
    ids = dict(run.drafts.values_list("number", "pk"))
    failure = failure_of(run)
    drafts = report["drafts"]
    assert isinstance(drafts, list)
    report |= {
        "action": run.action_id,
        "drafts": [{"id": public_key(DRAFT, ids[draft["number"]]), **draft} for draft in drafts],
        "match_confirmed_by": run.match_confirmed_by or None,
        "secrets": run.secrets,
        "masked": masked_in(run),
        "problem": run.problem,
        "failure": FailureSerializer(failure).data if failure else None,
        "matches": RetrievedMatchSerializer(matches, many=True).data,
        "follows": run.follows_id,
        "asked_by": _name_of(run.asked_by),
        "created_at": run.created_at,
        "finished_at": run.finished_at,
    }
    if not parts.models:
        report |= dict.fromkeys(
            ("configuration", "demo", "cost", "origin", "secrets", "masked", "match_confirmed_by")
        )
        report |= {"created_at": row.created_at, "asked_by": _name_of(row.asked_by)}
    return report


def _describe_hidden(row: RunRow) -> dict[str, object]:
    """Describe a run whose verdict is hidden. Do not even read hidden parts, because the response time would reveal
    them.
    """
    run, shows_models = row.run, row.parts.models
    failure = failure_of(run) if row.state == Run.State.FAILED else None
    return {
        "run": run.pk,
        "state": row.state,
        "origin": origin_of(run) if shows_models else None,
        "configuration": run.configuration.name if shows_models else None,
        "demo": run.demo if shows_models else None,
        "stages": [],
        "drafts": [],
        **dict.fromkeys(("verdict", "recommended", "script", "calls", "tokens", "cost")),
        **dict.fromkeys(("secrets", "masked", "match_confirmed_by")),
        "action": run.action_id,
        "problem": row.problem,
        "failure": FailureSerializer(failure).data if failure else None,
        "matches": [],
        "follows": run.follows_id,
        "asked_by": _name_of(row.asked_by),
        "created_at": row.created_at,
        "finished_at": None,
    }


def _name_of(user: User | None) -> str | None:
    return user.username if user else None
