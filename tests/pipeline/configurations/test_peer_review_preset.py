"""Tests that the peer-review preset lets the larger model write, and that its migration keeps edited rows."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import pytest
from django.db import connection, transaction

from pipeline.models import Configuration, Run
from tests.pipeline.rows import queue_run

migration = import_module("pipeline.migrations.0019_larger_model_writes_in_peer_review")
pytestmark = pytest.mark.django_db
SONNET, OPUS = "claude-sonnet-5-5", "claude-opus-5-5"
BEFORE, AFTER = [SONNET, OPUS, SONNET], [OPUS, SONNET, OPUS]
Change = Callable[[Configuration], object]


def preset() -> Configuration:
    return Configuration.objects.get(name="claude-peer-review")


def models_of(configuration: Configuration) -> list[str]:
    roles = dict(configuration.roles.values_list("role", "model"))
    return [roles[role] for role in ("generator", "assessor", "refiner")]


def as_shipped_before() -> Configuration:
    configuration = preset()
    configuration.title = "Sonnet writes, Opus assesses"
    configuration.save()
    for role, model in zip(("generator", "assessor", "refiner"), BEFORE, strict=True):
        configuration.roles.filter(role=role).update(model=model)
    return configuration


def test_new_database_has_the_larger_model_write() -> None:
    assert (preset().title, models_of(preset())) == ("Opus writes, Sonnet assesses", AFTER)


def _update(**values: object) -> Change:
    return lambda one: Configuration.objects.filter(pk=one.pk).update(**values)


def _role(**values: object) -> Change:
    return lambda one: one.roles.filter(role="assessor").update(**values)


def _start_run(configuration: Configuration) -> None:
    queue_run(configuration=Configuration.objects.get(name="demo"))
    Run.objects.update(configuration=configuration)


def test_only_an_unedited_preset_without_runs_is_reversed(subtests: pytest.Subtests) -> None:
    cases: dict[str, tuple[Change, list[str]]] = {
        "as shipped": (lambda one: None, AFTER),
        "made the default": (_update(is_default=False), AFTER),
        "title": (_update(title="Our reviewers"), BEFORE),
        "note": (_update(note="for March"), BEFORE),
        "rounds": (_update(rounds=2), BEFORE),
        "examples off": (_update(uses_examples=False), BEFORE),
        "retrieval off": (_update(uses_retrieval=False), BEFORE),
        "cases": (_update(cases="run"), BEFORE),
        "prompt": (_update(prompts={"generate": "0" * 12}), BEFORE),
        "model": (_role(model="claude-haiku-5-5"), [SONNET, "claude-haiku-5-5", SONNET]),
        "tokens": (_role(max_tokens=8_000), BEFORE),
        "effort": (_role(effort="high"), BEFORE),
        "temperature": (_role(temperature=0.5), BEFORE),
        "a run was started under it": (_start_run, BEFORE),
    }
    for name, (change, expected) in cases.items():
        with subtests.test(name), transaction.atomic():
            configuration = as_shipped_before()
            change(configuration)
            with connection.cursor() as cursor:
                cursor.execute(migration.REVERSE_MODELS)
            found = preset()
            assert models_of(found) == expected
            assert (found.title == "Opus writes, Sonnet assesses") is (expected == AFTER)
            transaction.set_rollback(True)
