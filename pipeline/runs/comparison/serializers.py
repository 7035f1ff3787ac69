"""Serializers for comparisons of runs."""

from __future__ import annotations

from collections.abc import Mapping

from rest_framework import serializers

from pipeline.runs.comparison.run_comparison import ComparedRun, Comparison, Used


class UsedSerializer(serializers.Serializer[object]):
    calls = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True, help_text="USD; null if unknown.")


class ComparedRunSerializer(serializers.Serializer[object]):
    """One compared run. Values that a review hides from the user are null."""

    run = serializers.IntegerField()
    configuration = serializers.CharField(allow_null=True)
    demo = serializers.BooleanField(allow_null=True)
    state = serializers.CharField()
    verdict = serializers.CharField(allow_null=True)
    draft = serializers.IntegerField(allow_null=True, help_text="Number of the compared draft.")
    draft_verdict = serializers.CharField(allow_null=True)
    sha256 = serializers.CharField(allow_null=True)
    script = serializers.CharField(allow_null=True)
    findings = serializers.DictField(child=serializers.IntegerField())
    not_judged = serializers.ListField(child=serializers.CharField())
    lines = serializers.IntegerField(allow_null=True)
    analyzed_lines = serializers.IntegerField(allow_null=True)
    feedback = serializers.ListField(child=serializers.CharField())
    milliseconds = serializers.IntegerField(allow_null=True)
    used = UsedSerializer(allow_null=True)


class DifferenceSerializer(serializers.Serializer[object]):
    what = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField())


class ComparedStageSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    round = serializers.IntegerField()
    outcomes = serializers.ListField(child=serializers.CharField(allow_null=True))
    milliseconds = serializers.ListField(child=serializers.IntegerField(allow_null=True))


class ComparisonSerializer(serializers.Serializer[object]):
    """Two to four runs of one action. Every list of values is in the order of `runs`."""

    action = serializers.IntegerField()
    is_active = serializers.BooleanField()
    is_same_script = serializers.BooleanField()
    differences = DifferenceSerializer(many=True, allow_null=True)
    runs = ComparedRunSerializer(many=True)
    stages = ComparedStageSerializer(many=True)


def describe_comparison(found: Comparison) -> dict[str, object]:
    """Return a comparison in the API's format."""
    differences = found.differences
    return {
        "action": found.action.pk,
        "is_active": found.is_active,
        "is_same_script": found.is_same_script,
        "differences": None
        if differences is None
        else [
            {"what": line.what, "values": [value for _run, value in line.values]}
            for line in differences
        ],
        "runs": [_describe_run(one) for one in found.runs],
        "stages": [
            {
                "name": line.name,
                "round": line.round,
                "outcomes": [cell.stage.outcome if cell else None for cell in line.cells],
                "milliseconds": [cell.stage.milliseconds if cell else None for cell in line.cells],
            }
            for line in found.stages
        ],
    }


def _describe_run(one: ComparedRun) -> Mapping[str, object]:
    draft, assessment = one.draft, getattr(one.draft, "assessment", None)
    return {
        "run": one.run.pk,
        "configuration": one.run.configuration.name if one.parts.models else None,
        "demo": one.run.demo if one.parts.models else None,
        "state": one.state,
        "verdict": one.run.verdict or None if one.parts.verdict else None,
        "draft": draft.number if draft else None,
        "draft_verdict": assessment.verdict if assessment else None,
        "sha256": draft.sha256 if draft else None,
        "script": draft.script if draft else None,
        "findings": one.findings,
        "not_judged": one.not_judged,
        "lines": one.coverage.lines if one.coverage else None,
        "analyzed_lines": one.coverage.analyzed if one.coverage else None,
        "feedback": [given.text for given in one.feedbacks],
        "milliseconds": one.milliseconds,
        "used": _describe_used(one.used, with_cost=one.parts.models) if one.parts.verdict else None,
    }


def _describe_used(used: Used, *, with_cost: bool) -> dict[str, object]:
    return {
        "calls": used.calls,
        "input_tokens": used.input,
        "output_tokens": used.output,
        "cost": used.cost / 1_000_000 if with_cost and used.cost is not None else None,
    }
