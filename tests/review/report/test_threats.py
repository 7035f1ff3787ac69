"""Tests for threats to validity: unblinded reviewers, report views, the halo check and the origin of scores."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.db import transaction
from django.test import Client

from review import tasks
from review.campaigns.services import change_campaign
from review.campaigns.services.states import move_campaign
from review.counting.tallies import note_due
from review.exchange import jobs
from review.models import Campaign, Exposure, Item, Member, ReportLook, Reveal, Score
from review.queue.members import add_member
from review.report import kept_parts
from review.report.services import make_report
from review.report.threats.counts import recent_threats, report_threats
from tests.first_cases import first_cases
from tests.people import make_person
from tests.review.exchange.files import run_command
from tests.review.maker import add_configuration, make_study
from tests.review.report.rows import Label, fill, golden_labels
from tests.review.report.test_report_pages import words_of

pytestmark = pytest.mark.django_db
NOBODY = "No reviewer in this study has seen its verdicts"


def threats_page(client: Client, campaign: Campaign, query: str = "") -> str:
    cache.clear()
    return words_of(client.get(f"/campaigns/{campaign.pk}/report/threats/{query}").text)


def test_open_scores_are_reported(boss: Client, campaign: Campaign, reviewer: User) -> None:
    fill(campaign, [Label("correct", [(2, None, None)])] * 4, [reviewer])
    assert NOBODY in threats_page(boss, campaign)
    Score.objects.update(blind=False)
    page = threats_page(boss, campaign)
    assert NOBODY not in page
    assert f"{reviewer.username} has seen verdicts (gave 4 scores when more was visible" in page


def test_changed_blind_score_is_unseen(boss: Client, campaign: Campaign, reviewer: User) -> None:
    (item,) = fill(campaign, [Label("correct", [(2, None, None)])], [reviewer])
    first = item.scores.get()
    Score.objects.filter(pk=first.pk).update(current=False)
    first.pk, first.blind, first.value = None, False, 0
    first.save(force_insert=True)
    assert NOBODY in threats_page(boss, campaign)


def test_seen_parts_are_reported(boss: Client, campaign: Campaign, reviewer: User) -> None:
    (item,) = fill(campaign, [Label("correct", [(2, None, None)])], [reviewer])
    add_member(campaign, reviewer, by=None)
    verdict = "saw information that reveals the verdict on 1 item"

    def unblind() -> None:
        Member.objects.update(unblinded_at=datetime.now(UTC))

    def show(what: str, **about: object) -> Callable[[], object]:
        return lambda: Exposure.objects.create(person=reviewer, what=what, where="x", **about)

    ways: list[tuple[Callable[[], object], str]] = [
        (show("run", run=item.run), verdict),
        (show("file", campaign=campaign), "downloaded an export"),
        (lambda: Reveal.objects.create(item=item, reviewer=reviewer, what="verdict"), verdict),
        (unblind, "opened the items behind figures"),
    ]
    for happen, words in ways:
        with transaction.atomic():
            happen()
            page = threats_page(boss, campaign)
            assert words in page and NOBODY not in page
            transaction.set_rollback(True)


def test_nobody_else_and_nothing_after_the_end_is_told_of(
    boss: Client, campaign: Campaign, reviewer: User, manager: User
) -> None:
    (item,) = fill(campaign, [Label("correct", [(2, None, None)])], [reviewer])
    # A manager who does not review in this study may see everything. Data shown after the study closed is harmless.
    Exposure.objects.create(person=manager, run=item.run, what="run", where="x")
    now = datetime.now(UTC)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=now)
    later = now + timedelta(hours=1)
    Exposure.objects.create(person=reviewer, run=item.run, what="run", where="x", at=later)
    assert NOBODY in threats_page(boss, campaign)
    # The report of a campaign that does not hide verdicts never shows this threat.
    Campaign.objects.filter(pk=campaign.pk).update(hides_verdict=False)
    page = threats_page(boss, campaign)
    assert NOBODY not in page
    assert "This study does not hide verdicts" in page


@pytest.mark.slow
@pytest.mark.parametrize("state", first_cases(1, ["open", "closed"]))
def test_every_way_to_the_figures_is_a_look_in_every_state(
    boss: Client,
    campaign: Campaign,
    manager: User,
    reviewer: User,
    state: str,
    tmp_path: Path,
    settings: object,
) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    people = [reviewer, make_person("second-one", "reviewer")]
    fill(campaign, [Label("correct", [(2, None, None)] * 2)] * 3, people)
    Campaign.objects.filter(pk=campaign.pk).update(state=state)
    here, api = f"/campaigns/{campaign.pk}/report/", f"/api/v1/reports/{campaign.pk}/"
    transfer = jobs.begin_export(campaign, layout="jsonl", by=manager)
    jobs.carry_out(transfer.pk)
    made = boss.post(f"{api}snapshots/", {"name": "One"}, content_type="application/json").json()
    kept = f"{here}snapshots/{made['id']}/"
    ways = {
        "report": [here, api, f"{here}tables/figures.csv"],
        "threats": [f"{here}threats/", f"{api}threats/"],
        "pairs": [f"{here}pairs/script/"],
        "items": [f"{here}items/?figure=net&configuration=imported"],
        "snapshot": [
            *(kept, f"{kept}data/", f"{kept}tables/figures.csv"),
            f"/api/v1/report-snapshots/{made['id']}/",
        ],
        "export": [f"/transfers/{transfer.pk}/file/", f"/api/v1/transfers/{transfer.pk}/file/"],
    }
    assert [(one.what, one.state) for one in ReportLook.objects.all()] == [("snapshot", state)]
    for what, addresses in ways.items():
        for address in addresses:
            ReportLook.objects.all().delete()
            assert boss.get(address).status_code == 200, address
            (look,) = ReportLook.objects.all()
            assert (look.what, look.state, look.scored) == (what, state, 3), address
    ReportLook.objects.all().delete()
    call_command("export_campaign", campaign.name, str(tmp_path / "out.jsonl"))
    (look,) = ReportLook.objects.all()
    assert (look.what, look.by) == ("export", None)


def test_closing_and_opening_again_are_listed(boss: Client, manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    for state in ("closed", "paused", "open"):
        move_campaign(campaign, state, by=manager)
    page = threats_page(boss, campaign)
    assert f"{manager.username} closed (p values are shown)" in page
    assert f"{manager.username} reopened (p values are hidden but have been seen)" in page
    closings = report_threats(campaign)["looks"]["closings"]
    assert [(one["closed"], one["state"]) for one in closings] == [
        (True, "closed"),
        (False, "paused"),
    ]


@pytest.fixture
def with_halo(campaign: Campaign, reviewer: User, second_reviewer: User) -> Campaign:
    """Return a study with eight refined scripts, scored as correct, but as wrong by reviewers who saw them as first
    scripts."""
    Campaign.objects.filter(pk=campaign.pk).update(halo_share=100)
    campaign.refresh_from_db()
    items = fill(campaign, [Label("incorrect", [(0, 2, 2)])] * 8, [reviewer])
    for item in items:
        case = item.case
        original, case.pk, case.repeats = case.pk, None, case
        case.external_id, case.purpose = f"{case.external_id}-again", "halo"
        case.repeats_id = original
        case.save(force_insert=True)
        shown = Item.objects.create(
            campaign=campaign,
            case=case,
            configuration=item.configuration,
            run=item.run,
            state="closed",
            again="halo",
            overlap=1,
            places=0,
            done=1,
        )
        Score.objects.create(
            item=shown, reviewer=second_reviewer, stage="script", value=0, imported=True
        )
    return campaign


@pytest.mark.slow
def test_halo_check_shows_no_p_before_end(boss: Client, with_halo: Campaign, manager: User) -> None:
    def told() -> tuple[object, bool, object]:
        cache.clear()
        make_report(with_halo)
        api = boss.get(f"/api/v1/reports/{with_halo.pk}/threats/").json()["halo"]["strict"]
        page = boss.get(f"/campaigns/{with_halo.pk}/report/tables/threat-halo.csv").text
        kept = boss.post(
            f"/api/v1/reports/{with_halo.pk}/snapshots/",
            {"name": "One"},
            content_type="application/json",
        ).json()
        data = boss.get(f"/api/v1/report-snapshots/{kept['id']}/").json()["data"]
        return (
            api["p_value"],
            "Adjusted p (Holm)" in page,
            data["threats"]["halo"]["strict"]["p_value"],
        )

    Campaign.objects.filter(pk=with_halo.pk).update(state="open")
    assert told() == (None, False, None)
    Campaign.objects.filter(pk=with_halo.pk).update(state="closed")
    assert told() == (pytest.approx(2 / 2**8), True, pytest.approx(2 / 2**8))


def test_halo_check_is_in_p_family(with_halo: Campaign, manager: User, reviewer: User) -> None:
    add_member(with_halo, reviewer, by=manager)
    closed = move_campaign(move_campaign(with_halo, "open", by=manager), "closed", by=manager)
    assert [one[0] for one in closed.p_family].count("halo") == 2
    details = make_report(closed)["details"]
    halo = details["halo"]["strict"]
    # The family has two p values for the net effect and two for the halo check. The latter are equal.
    assert details["p_values"]["family"] == 4
    assert halo["p_holm"] == pytest.approx(min(1, 4 * halo["p_value"]))


def test_large_study_computes_slow_parts_once_a_change_and_never_for_a_view(
    boss: Client, with_halo: Campaign, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test takes seconds, because it requests every page and table that shows a part twice."""
    monkeypatch.setattr(kept_parts, "LARGE_STUDY", 0)
    monkeypatch.setattr(kept_parts, "_REST", 0)
    computed, real = [], kept_parts._compute
    parts = sorted(part.name for part in tasks.REPORT_PARTS)

    def compute(campaign: Campaign, part: kept_parts.Part, state: str) -> kept_parts.Kept:
        computed.append(part.name)
        return real(campaign, part, state)

    monkeypatch.setattr(kept_parts, "_compute", compute)
    of_report = f"/campaigns/{with_halo.pk}/report/"
    of_api = f"/api/v1/reports/{with_halo.pk}/"
    views = [of_report, f"{of_report}?now=1", f"{of_report}threats/", of_api, f"{of_api}threats/"]
    views += [f"{of_report}tables/{table}.csv" for table in ("figures", "threat-halo")]

    def computed_by_worker() -> list[str]:
        computed.clear()
        tasks.count_due()
        return sorted(computed)

    def p_value() -> float | None:
        return boss.get(f"{of_api}threats/").json()["halo"]["strict"]["p_value"]

    Campaign.objects.filter(pk=with_halo.pk).update(state="closed")
    assert computed_by_worker() == parts
    assert p_value() is not None
    computed.clear()
    for path in views * 2:
        cache.clear()
        assert boss.get(path).status_code == 200, path
    assert computed == []
    assert computed_by_worker() == [], "views change nothing that the parts depend on"
    Campaign.objects.filter(pk=with_halo.pk).update(state="open")
    cache.clear()
    assert p_value() is None, "a study that was opened again shows no p value of before"
    item = with_halo.items.order_by("pk")[0]

    def change_score() -> None:
        item.scores.filter(stage="script").update(value=2)
        note_due(with_halo, [item.pk])

    for change in (
        change_score,
        lambda: User.objects.filter(pk=reviewer.pk).update(username="renamed"),
    ):
        change()
        assert computed_by_worker() == parts
        opened = Campaign.objects.get(pk=with_halo.pk)
        expected, shown = json.loads(json.dumps(report_threats(opened))), recent_threats(opened)
        assert {key for key in expected if shown[key] != expected[key]} <= {"at"}


def test_prevented_threats_have_share(boss: Client, campaign: Campaign, reviewer: User) -> None:
    items = fill(campaign, [Label("correct", [(2, None, None)])] * 4, [reviewer])
    for here, said, unsaid in (
        (0, "Unknown. The scores were imported", "Prevented. The order"),
        (1, "Unknown for imported scores", "Unknown. The"),
        (4, "Prevented. The order", "Unknown"),
    ):
        Score.objects.filter(item__in=items[:here]).update(imported=False)
        page = threats_page(boss, campaign)
        assert said in page and unsaid not in page, here
        assert ("1 of 4 scores (25.0%) were given in ScriptSmith. 3 were imported" in page) is (
            here == 1
        )
    Score.objects.all().delete()
    page = threats_page(boss, campaign)
    assert "Prevented. The order is random" in page and "Unknown" not in page


def test_primary_outcome_says_how_many_scores_and_views_came_before_it(
    boss: Client, campaign: Campaign, manager: User, reviewer: User, tmp_path: Path
) -> None:
    change_campaign(campaign, by=manager, primary_figure="net", primary_criterion="strict")
    at_start = "was fixed at the start"
    assert at_start in threats_page(boss, campaign)
    fill(campaign, golden_labels(), [reviewer])
    boss.get(f"/campaigns/{campaign.pk}/report/")
    change_campaign(campaign, by=manager, description="It is about something else.")
    assert at_start in threats_page(boss, campaign)
    said = f"after {Score.objects.count()} scores and {campaign.looks.count()} report views"
    assert campaign.looks.count() > 1
    change_campaign(campaign, by=manager, primary_figure="first_pass_accuracy")
    file = tmp_path / "out.jsonl"
    assert run_command("export_campaign", campaign.name, file) == 0
    assert run_command("import_items", "Again", file) == 0
    for one in (campaign, Campaign.objects.get(name="Again")):
        page = threats_page(boss, one)
        assert said in page and at_start not in page, one
        assert said in words_of(boss.get(f"/campaigns/{one.pk}/report/").text) or one != campaign


def test_imported_times_are_checked(boss: Client, campaign: Campaign, reviewer: User) -> None:
    """The four items and their second arms are in file order: two within half an hour, and two on the next day."""
    add_configuration("second")
    begin = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    labels = [Label("correct", [(2, None, None)])] * 4
    for arm, name in enumerate(("imported", "second")):
        for number, item in enumerate(fill(campaign, labels, [reviewer], configuration=name)):
            at = begin + timedelta(minutes=3 * number + arm, days=arm * (number // 2))
            Score.objects.filter(item=item).update(at=at, timed=True)
    times = report_threats(campaign)["origin"]["times"]
    assert times["sittings"] == {"numerator": 2, "denominator": 4}
    assert times["order"]["denominator"] == 7
    page = threats_page(boss, campaign)
    assert "2/4 scores of another arm of a statement (50.0%) came within 30 minutes" in page
    Score.objects.update(timed=False)
    assert report_threats(campaign)["origin"]["times"] is None


@pytest.mark.slow
def test_tables_among_the_threats_can_be_taken_along(boss: Client, campaign: Campaign) -> None:
    reviewer = make_person("rob", "reviewer")
    fill(campaign, golden_labels()[:20], [reviewer])
    where = f"/campaigns/{campaign.pk}/report/"
    boss.get(where)
    page = unescape(boss.get(f"{where}threats/").text)
    assert f"{where}tables/threat-skip-bounds.md" in page and "Copy as" in page
    text = boss.get(f"{where}tables/threat-skip-bounds.csv").text
    headings = next(csv.reader(text.splitlines()))
    ends = [f"{end}{part}" for end in ("All wrong", "All right") for part in (", n", ", N", " (%)")]
    assert headings == ["Configuration", *ends]
    Campaign.objects.filter(pk=campaign.pk).update(hides_verdict=False)
    assert "(not blind)" in boss.get(f"{where}tables/threat-skip-bounds.md").text


@pytest.mark.slow
def test_not_blind_is_said_wherever_figures_are(
    boss: Client, campaign: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    people = [make_person(name, "reviewer") for name in ("rob", "ria")]
    items = fill(campaign, [Label("correct", [(2, None, None)] * 2)] * 3, people)
    Score.objects.filter(item__in=items).update(active_seconds=60)
    where = f"/campaigns/{campaign.pk}/report/"

    def said() -> list[bool]:
        cache.clear()
        call_command("study_report", campaign.name)
        plain = capsys.readouterr().out
        call_command("study_report", campaign.name, "--json")
        document = json.loads(capsys.readouterr().out)
        pages = [
            words_of(boss.get(f"{where}{path}").text.partition("</header>")[2])
            for path in ("threats/", "pairs/script/", "items/?figure=net&configuration=imported")
        ]
        heads = [page.lower() for page in pages]
        cost = boss.get(f"{where}tables/cost.md").text
        return [
            "not blind" in plain,
            document.get("not_blind", False),
            *("not blind" in head for head in heads),
            "not blind" in cost,
        ]

    assert said() == [False] * 6
    Campaign.objects.filter(pk=campaign.pk).update(hides_verdict=False)
    assert said() == [True] * 6
