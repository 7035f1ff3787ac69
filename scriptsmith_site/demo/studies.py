"""The demo's two studies: a finished one with its report, and an open one with items for the demo's reviewer.

They are defined in YAML and imported like studies from another installation.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import Refused
from review import services as review
from review.models import Campaign

FINISHED = "Everyday tasks, two models (demo)"
OPEN = "Everyday tasks, second round (demo)"
CONFIGURATIONS = {"small": "Small model (demo)", "large": "Large model (demo)"}
EXPERTS = ("ines.demo", "jonas.demo", "keiko.demo")
_HERE = Path(__file__).parent
# Each stage, with the key of its scores in the YAML files.
_STAGES = (("script", "scores"), ("feedback", "useful"), ("refined", "corrected"))
_BEGAN = timedelta(days=9)
_SEED = 20

Answer = Mapping[str, object]
Row = dict[str, object]


def make_studies(*, manager: User, reviewer: User) -> int:
    """Create the missing studies, and return how many were created. Raises Refused if a row is invalid."""
    made = 0
    if not Campaign.objects.filter(name=FINISHED).exists():
        _make_finished(manager)
        made += 1
    if not Campaign.objects.filter(name=OPEN).exists():
        _make_open(manager, reviewer)
        made += 1
    return made


@transaction.atomic
def _make_finished(manager: User) -> None:
    rows = _read("finished_study.yaml")
    rules = review.preset_rules(
        "standard",
        description=_(
            "A fictional study for the demo. Its scripts, feedback and scores were written for this "
            "study and say nothing about any language model or person."
        ),
        planned_items=len(rows),
        primary_figure="first_pass_accuracy",
    )
    campaign = review.create_campaign(FINISHED, by=manager, rules=rules)
    items = [_item(row, arm) for row in rows for arm in CONFIGURATIONS]
    _bring_in(campaign, [*items, *_score_rows(rows, adjudicator=manager.username)], by=manager)
    for expert in User.objects.filter(username__in=EXPERTS).order_by("username"):
        review.add_member(campaign, expert, by=manager)
    first, second = review.arms_of(campaign)
    review.change_campaign(
        campaign, by=manager, primary_criterion="strict", primary_first=first, primary_second=second
    )
    review.move_campaign(campaign, Campaign.State.OPEN, by=manager)
    review.move_campaign(campaign, Campaign.State.CLOSED, by=manager)


@transaction.atomic
def _make_open(manager: User, reviewer: User) -> None:
    rows = _read("open_study.yaml")
    rules = review.preset_rules(
        "standard",
        description=_("A dozen everyday tasks, scored blind, with fictional data for the demo."),
        overlap=1,
        planned_items=len(rows),
        primary_figure="first_pass_accuracy",
    )
    campaign = review.create_campaign(OPEN, by=manager, rules=rules, reviewers=[reviewer])
    _bring_in(campaign, [_item(row, "large") for row in rows], by=manager)
    review.move_campaign(campaign, Campaign.State.OPEN, by=manager)


def _read(name: str) -> list[Row]:
    found: list[Row] = yaml.safe_load((_HERE / name).read_text(encoding="utf-8"))
    return found


def _answer(row: Row, arm: str) -> Answer:
    answer = row[arm]
    assert isinstance(answer, dict)
    return answer


def _item(row: Row, arm: str) -> Row:
    answer = _answer(row, arm)
    copied = ("script", "feedback", "refined", "verdict", "execution")
    # By default, recommend the refined script if the first script was flagged, as the pipeline does.
    usual = "refined" if answer["verdict"] == "incorrect" else "first"
    return {
        "record": "item",
        "id": row["id"],
        "statement": row["statement"],
        "reference": row.get("reference", ""),
        "configuration": CONFIGURATIONS[arm],
        **{name: answer[name] for name in copied if name in answer},
        "recommended": answer.get("recommended", usual),
        "execution_reason": answer.get("reason", ""),
        "overlap": len(_values(answer, "scores")) or None,
        "demo": True,
    }


def _values(answer: Answer, name: str) -> dict[str, int]:
    """Parse a string such as `2 - 1` into values by expert. A hyphen means that the expert gave no score."""
    given = str(answer.get(name, "")).split()
    return (
        {
            expert: int(value)
            for expert, value in zip(EXPERTS, given, strict=bool(given))
            if value != "-"
        }
        if given
        else {}
    )


# --- Scores and adjudications ------------------------------------------------------------------------------------


def _score_rows(rows: Sequence[Row], *, adjudicator: str) -> Iterator[Row]:
    began = timezone.now() - _BEGAN
    for number, expert in enumerate(EXPERTS):
        yield from _sittings(rows, expert, began + timedelta(days=number))
    settled = began + timedelta(days=len(EXPERTS))
    for row in rows:
        for arm in CONFIGURATIONS:
            final = _answer(row, arm).get("final", {})
            assert isinstance(final, dict)
            for stage, (value, why) in final.items():
                settled += timedelta(minutes=3)
                yield {
                    **_about("adjudication", row, arm, adjudicator, settled),
                    **{"stage": stage, "value": value, "comment": why},
                }


def _sittings(rows: Sequence[Row], expert: str, begins: datetime) -> Iterator[Row]:
    """Yield one expert's scores in two sessions. A statement's two scripts are scored in different sessions."""
    chance = random.Random(f"{_SEED}:{expert}")
    first = {str(row["id"]): chance.choice(list(CONFIGURATIONS)) for row in rows}
    position = 0
    for sitting in (0, 1):
        started = now = begins + timedelta(hours=4 * sitting)
        for row in chance.sample(rows, len(rows)):
            arms = [
                arm for arm in CONFIGURATIONS if (arm == first[str(row["id"])]) == (sitting == 0)
            ]
            answer = _answer(row, arms[0])
            if expert not in _values(answer, "scores"):
                continue
            position += 1
            for stage, name in _STAGES:
                given = _values(answer, name).get(expert)
                if given is None:
                    continue
                seconds = chance.randint(25, 110) if stage == "script" else chance.randint(12, 50)
                now += timedelta(seconds=seconds + chance.randint(2, 9))
                yield {
                    **_about("score", row, arms[0], expert, now),
                    **{"stage": stage, "value": given, "position": position, "rubric": 1},
                    "visible": {"verdict": False, "feedback": stage != "script", "models": False},
                    "sitting_minutes": round((now - started).total_seconds() / 60, 1),
                    "active_seconds": seconds,
                    "reason": "queue",
                }


def _about(kind: str, row: Row, arm: str, person: str, at: datetime) -> Row:
    return {
        "record": kind,
        "item": row["id"],
        "configuration": CONFIGURATIONS[arm],
        "reviewer": person,
        "at": at.isoformat(timespec="seconds"),
    }


def _bring_in(campaign: Campaign, rows: Sequence[Row], *, by: User) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "study.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        remarks = review.import_study(file, campaign, by=by)
    if remarks:
        raise Refused(_("The demo study can't be imported: %s") % remarks[0])
