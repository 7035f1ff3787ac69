"""API for an item's sandbox tests, available after all of its stages are scored."""

from __future__ import annotations

import json
from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import CheckResult
from catalog.services import StatementEvidence
from core.errors import BadInput
from core.web.public_keys import ITEM, read_public
from core.web.requests import read_body, signed_in
from review.access import access_item, access_item_to_review
from review.blinding.item_view import ItemView, note_evidence_shown_by, open_item
from review.desk.shown_keys import name_draft
from review.desk.views.evidence_data import show_evidence
from review.desk.views.pane_data import visible_drafts
from review.evidence import services
from review.evidence.cases_in_force import sets_seen_by
from review.models import CaseRevision, ExecutionLabel, Item


class CheckSeen(serializers.ModelSerializer[CheckResult]):
    case = serializers.IntegerField(source="case_number", help_text="Counted from 1.")
    check_number = serializers.IntegerField(
        source="number", help_text="Position in the test, counted from 1."
    )
    state = serializers.CharField()

    class Meta:
        model = CheckResult
        fields = ["case", "check_number", "sentence", "state", "got"]


class ScriptRan(serializers.Serializer[Any]):
    """The results of a script in a test suite."""

    draft = serializers.IntegerField(help_text="ID of the draft.")
    set = serializers.CharField()
    state = serializers.CharField()
    reason = serializers.CharField(help_text="Why the test did not run.")
    sentence = serializers.CharField()
    imported = serializers.BooleanField(help_text="Whether the result was imported.")
    checks = CheckSeen(many=True)


class RevisionSeen(serializers.ModelSerializer[CaseRevision]):
    """A change to a test: removed, corrected or added.

    Other reviewers' changes are included unless the campaign hides them.
    """

    set = serializers.CharField(
        source="case_set.sha256",
        default=None,
        allow_null=True,
        help_text="Hash of the test suite after the change; null if no tests are left.",
    )
    former = serializers.CharField(source="former.sha256")
    kind = serializers.CharField(help_text="`struck` (removed), `corrected` or `added`.")

    class Meta:
        model = CaseRevision
        fields = ["kind", "what", "reason", "former", "set", "at"]


class CasesSeen(serializers.Serializer[Any]):
    set = serializers.CharField(help_text="Hash of the test suite. Changes refer to it.")
    content = serializers.JSONField(help_text="The test suite, see docs/case-format.schema.json.")
    is_under_way = serializers.BooleanField(
        help_text="Whether a script still has to run in these tests."
    )


class DiffersSeen(serializers.Serializer[Any]):
    """A stage where the caller's score and the test results differ."""

    stage = serializers.CharField()
    value = serializers.IntegerField()
    outcome = serializers.CharField(help_text="`passed` or `failed`.")
    reason = serializers.CharField(help_text="Empty until the caller gives a reason.")


class EvidenceSeen(serializers.Serializer[Any]):
    """The sandbox test results of an item's scripts, as shown on the caller's review page."""

    sets = CasesSeen(many=True)
    scripts = ScriptRan(many=True)
    differs = DiffersSeen(many=True)
    changes = RevisionSeen(many=True)


class LabelIn(serializers.Serializer[Any]):
    stage = serializers.ChoiceField(choices=ExecutionLabel.Stage.choices)
    reason = serializers.ChoiceField(
        choices=ExecutionLabel.Reason.choices, help_text="Sending the same reason again removes it."
    )


class LabelSeen(serializers.ModelSerializer[ExecutionLabel]):
    stage = serializers.CharField()
    reason = serializers.CharField(help_text="Empty if the reason was removed.")

    class Meta:
        model = ExecutionLabel
        fields = ["stage", "reason", "at"]


class StrikeIn(serializers.Serializer[Any]):
    set = serializers.CharField(help_text="Hash of the test suite.")
    what = serializers.CharField(
        help_text="A test, such as `2`, or one of its checks, such as `2.3`."
    )
    reason = serializers.CharField(allow_blank=True)


class CaseIn(serializers.Serializer[Any]):
    set = serializers.CharField(help_text="Hash of the test suite.")
    number = serializers.IntegerField(
        default=None, allow_null=True, min_value=1, max_value=99,
        help_text="Number of the test to correct. If omitted, the test is added.",
    )  # fmt: skip
    case = serializers.DictField(help_text="One test, see docs/case-format.schema.json.")
    reason = serializers.CharField(allow_blank=True)


class EvidenceActions(viewsets.GenericViewSet[Item]):
    """Actions on an item's sandbox tests: read results, explain differences, and change the tests."""

    @extend_schema(
        responses={
            200: EvidenceSeen,
            204: OpenApiResponse(description="The results are still hidden, or no tests have run."),
        }
    )
    @action(detail=True)
    def evidence(self, request: Request, pk: str) -> Response:
        """Return the sandbox test results of the item's scripts.

        The results are available after every stage has a score.
        """
        user = signed_in(request)
        shown = show_cases(open_item(access_item(user, read_public(ITEM, pk)), user))
        if shown is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(shown)

    @extend_schema(request=LabelIn, responses={201: LabelSeen})
    @action(detail=True, methods=["post"], url_path="evidence/label")
    def label_evidence(self, request: Request, pk: str) -> Response:
        """Explain why the caller's score and the results differ at a stage.

        Sending the same reason again removes the reason.
        """
        item, given = _item_of(request, pk), read_body(LabelIn, request)
        said = services.label(item, by=signed_in(request), **given)
        return Response(LabelSeen(said).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=StrikeIn, responses={201: RevisionSeen})
    @action(detail=True, methods=["post"], url_path="evidence/strike")
    def strike_case(self, request: Request, pk: str) -> Response:
        """Exclude a test or a check from this campaign's results. Past results are not deleted."""
        item, given = _item_of(request, pk), read_body(StrikeIn, request)
        try:
            made = services.strike(
                item,
                sha256=given["set"],
                what=given["what"],
                reason=given["reason"],
                by=signed_in(request),
            )
        except BadInput as refused:
            # The review page has two fields for reasons, so the service has a different name for this field.
            field = "reason" if refused.field == "strike_reason" else refused.field
            raise BadInput(str(refused), field=field) from refused
        return Response(RevisionSeen(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=CaseIn, responses={201: RevisionSeen})
    @action(detail=True, methods=["post"], url_path="evidence/cases")
    def write_case(self, request: Request, pk: str) -> Response:
        """Correct or add a test, and run the scripts against it."""
        item, given = _item_of(request, pk), read_body(CaseIn, request)
        made = services.write_case(
            item,
            sha256=given["set"],
            number=given["number"],
            text=json.dumps(given["case"]),
            reason=given["reason"],
            by=signed_in(request),
        )
        return Response(RevisionSeen(made).data, status=status.HTTP_201_CREATED)


def show_cases(desk: ItemView) -> dict[str, Any] | None:
    """Return the data of the test panel and record that the user saw it, or return None if the panel is hidden."""
    drafts = visible_drafts(desk)
    evidence = show_evidence(desk, drafts)
    if evidence is None:
        return None
    note_evidence_shown_by(desk)
    names = {one.label: name_draft(desk.item.pk, one.draft.pk) for one in drafts}
    under_way = {one.name for one in evidence.sets if one.is_under_way}
    seen: dict[str, Any] = EvidenceSeen(
        {
            "sets": [
                {
                    "set": one.case_set.sha256,
                    "content": one.case_set.content,
                    "is_under_way": one.case_set.sha256[:16] in under_way,
                }
                for one in sets_seen_by(desk)
                if one.case_set is not None
            ],
            "scripts": [
                _show_result(names[draft.label], result)
                for draft in evidence.drafts
                for result in draft.results
            ],
            "differs": evidence.labels,
            "changes": [change for one in evidence.sets for change in one.changes],
        }
    ).data
    return seen


def _show_result(draft: int, result: StatementEvidence) -> dict[str, object]:
    ran = result.execution
    return {
        "draft": draft,
        "set": result.case_set.sha256,
        "state": ran.state,
        "reason": ran.reason,
        "sentence": result.sentence,
        "imported": ran.imported,
        "checks": ran.checks.all(),
    }


def _item_of(request: Request, pk: str) -> Item:
    """Return the item if the caller may act on it.

    Call this function before parsing the body, because 403 takes precedence over 400.
    """
    return access_item_to_review(signed_in(request), read_public(ITEM, pk))
