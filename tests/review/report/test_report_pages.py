"""The report's pages: every figure of the golden case, snapshots, looks, threats, the items behind a figure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from review.campaigns.services import rules
from review.counting import tallies
from review.models import Campaign, Member, ReportLook, ReportSnapshot, Score
from review.queue.members import add_member
from review.study import FIGURES
from tests.first_cases import first_cases
from tests.keys import shown
from tests.people import make_person
from tests.review.report.rows import Label, fill
from tests.review.study.test_golden_case import PARTIAL, STRICT

ClientFor = Callable[[User], Client]


# --- The golden case, made once for all tests here ----------------------------------------------------------------


@pytest.fixture
def golden(golden_key: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=golden_key)


@pytest.fixture
def manager(golden_key: int, db: None) -> User:
    return User.objects.get(username="mona")


@pytest.fixture
def reviewer(golden_key: int, db: None) -> User:
    return User.objects.get(username="rita")


@pytest.fixture
def campaign(manager: User) -> Campaign:
    """Another one, with nothing in it."""
    return rules.create_campaign("Empty", by=manager)


def words_of(html: str) -> str:
    """What a reader sees, in one line."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def rows_of(html: str) -> dict[str, str]:
    """Each figure's part of the table, by its name."""
    parts = re.findall(r'<tbody id="(\w+)">(.*?)</tbody>', html, re.DOTALL)
    return {name: words_of(part) for name, part in parts}


@pytest.mark.parametrize(("criterion", "shares"), [("strict", STRICT), ("partial", PARTIAL)])
def test_the_page_shows_every_figure_of_the_golden_case(
    golden: Campaign,
    manager: User,
    client_for: ClientFor,
    criterion: str,
    shares: dict[str, tuple[int, int]],
) -> None:
    page = client_for(manager).get(f"/campaigns/{golden.pk}/report/?criterion={criterion}")

    assert page.status_code == 200
    rows = rows_of(page.content.decode())
    # Nothing was executed in this study, and so nothing is printed of it.
    there = [figure for figure in FIGURES if figure.name != "execution_agreement"]
    assert list(rows) == [figure.name for figure in there]
    assert "Not part of this study: Execution agrees with experts" in words_of(page.text)
    for figure in there:
        assert figure.text in rows[figure.name]
    for name, (numerator, denominator) in shares.items():
        sign = "+" if name == "net" else ""
        assert (
            f"{numerator} / {denominator} {sign}{100 * numerator / denominator:.1f} %" in rows[name]
        )
    net = "p = 0.0015" if criterion == "strict" else "p = 0.02"
    assert net in rows["net"]


@pytest.mark.slow
def test_numbers_lead_to_the_items_behind_them(
    golden: Campaign, manager: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    page = client.get(f"/campaigns/{golden.pk}/report/").content.decode()
    link = re.search(r'href="([^"]*figure=broken[^"]*)">3 / 10<', page)
    assert link is not None
    address = unescape(link[1])
    assert client.get(address).content.decode().count('class="row-title"') == 10
    for which, count in (("numerator", 3), ("rest", 7)):
        assert (
            client.get(f"{address}&which={which}").content.decode().count('class="row-title"')
            == count
        )


def test_what_a_figure_leaves_out_is_listed_with_why(
    campaign: Campaign, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    second = make_person("robert", "reviewer")
    nothing = (None, None, None)
    labels = [
        Label("correct", [(2, None, None), (2, None, None)]),
        Label("correct", [(0, None, None), (2, None, None)]),  # unresolved
        Label("correct", [(1, None, None), nothing]),  # one of two is through: pending
    ]
    fill(campaign, labels, [reviewer, second])
    client = client_for(manager)
    page = client.get(f"/campaigns/{campaign.pk}/report/").text
    link = re.search(r'href="([^"]*figure=first_pass_accuracy[^"]*which=open[^"]*)">2<', page)
    assert link is not None
    listed = client.get(unescape(link[1])).text
    assert listed.count('class="row-title"') == 2
    words = words_of(listed.partition("<tbody")[2])
    assert "unresolved" in words and "pending" in words


@pytest.mark.slow
def test_a_long_list_of_items_is_paged(
    golden: Campaign, manager: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    seen: list[str] = []
    client.get(f"/campaigns/{golden.pk}/report/")
    address = "?figure=first_pass_accuracy&configuration=imported&which=rest"
    while address:
        page = client.get(f"/campaigns/{golden.pk}/report/items/{address}").content.decode()
        seen += re.findall(r'data-row href="/items/(\d+)/"', page)
        older = re.search(r'rel="next" href="([^"]*)"', page)
        address = unescape(older[1]) if older else ""
    assert len(seen) == len(set(seen)) == 88


@pytest.mark.parametrize(
    "query",
    first_cases(
        2,
        [
            pytest.param("?criterion=lenient", id="no such criterion"),
            pytest.param("?figure=none&configuration=imported", id="no such figure"),
            pytest.param("?figure=net&configuration=imported&which=most", id="no such part"),
            pytest.param("?figure=net&configuration=imported&before=x", id="no such place"),
        ],
    ),
)
def test_an_address_that_means_nothing_is_refused(
    golden: Campaign, manager: User, client_for: ClientFor, query: str
) -> None:
    assert (
        client_for(manager).get(f"/campaigns/{golden.pk}/report/items/{query}").status_code == 422
    )


PAGES = [
    pytest.param("report/", id="report"),
    pytest.param("report/threats/", id="threats"),
    pytest.param("report/items/?figure=net&configuration=imported", id="items"),
    pytest.param("report/snapshots/1/", id="snapshot"),
    pytest.param("report/snapshots/1/data/", id="snapshot's data"),
]


@pytest.mark.parametrize("path", PAGES)
def test_only_managers_see_reports(
    golden: Campaign, reviewer: User, curator: User, client_for: ClientFor, path: str
) -> None:
    add_member(golden, reviewer, by=None)
    for person in (reviewer, curator):
        assert client_for(person).get(f"/campaigns/{golden.pk}/{path}").status_code == 403
    assert not ReportLook.objects.exists()


def test_the_live_queue_has_no_report(db: None, manager: User, client_for: ClientFor) -> None:
    live = Campaign.objects.get(kind=Campaign.Kind.LIVE)
    assert client_for(manager).get(f"/campaigns/{live.pk}/report/").status_code == 404


def test_a_study_without_items_says_the_next_step(
    campaign: Campaign, manager: User, client_for: ClientFor
) -> None:
    page = client_for(manager).get(f"/campaigns/{campaign.pk}/report/").content.decode()
    assert "Nothing to report yet" in page


@pytest.mark.slow
def test_a_snapshot_stays_as_it_is_while_scores_go_on(
    golden: Campaign, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    answer = client.post(f"/campaigns/{golden.pk}/report/snapshots/", {"name": "For the paper"})
    snapshot = ReportSnapshot.objects.get()
    where = f"/campaigns/{golden.pk}/report/snapshots/{snapshot.pk}/"
    assert (answer.status_code, answer["Location"]) == (302, where)
    fill(golden, [Label("correct", [(0, None, None)])] * 153, [reviewer], configuration="demo")
    Score.objects.filter(stage="script", value=2).update(value=0)

    kept = client.get(where).content.decode()
    assert "65 / 153" in rows_of(kept)["first_pass_accuracy"]
    assert "Stopping when it looks good" in kept
    data = client.get(f"{where}data/").content
    assert hashlib.sha256(data).hexdigest() == snapshot.sha256


@pytest.mark.parametrize(
    "name", [pytest.param(" ", id="empty"), pytest.param("x" * 151, id="long")]
)
def test_a_snapshot_without_a_good_name_is_refused_and_nothing_typed_is_lost(
    golden: Campaign, manager: User, client_for: ClientFor, name: str
) -> None:
    answer = client_for(manager).post(f"/campaigns/{golden.pk}/report/snapshots/", {"name": name})
    assert answer.status_code == 422
    assert f'value="{name}"' in answer.content.decode()
    assert not ReportSnapshot.objects.exists()


@pytest.mark.slow
def test_looks_are_listed_and_switching_the_criterion_is_the_same_look(
    golden: Campaign, manager: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    for query in ("", "?criterion=partial", "?criterion=strict"):
        client.get(f"/campaigns/{golden.pk}/report/{query}")
    (look,) = ReportLook.objects.all()
    assert (look.by, look.scored) == (manager, 153)
    threats = words_of(client.get(f"/campaigns/{golden.pk}/report/threats/").content.decode())
    assert "Looks at the live report 1" in threats


def test_who_reviews_and_sees_the_items_behind_a_figure_is_marked_unblinded(
    golden: Campaign, manager: User, client_for: ClientFor
) -> None:
    add_member(golden, manager, by=manager)
    client = client_for(manager)
    client.get(f"/campaigns/{golden.pk}/report/")
    assert Member.objects.get().unblinded_at is None
    client.get(f"/campaigns/{golden.pk}/report/items/?figure=net&configuration=imported")
    assert Member.objects.get().unblinded_at is not None


@pytest.mark.slow
def test_a_manager_says_why_execution_and_experts_differ(
    campaign: Campaign, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    labels = [Label("correct", [(2, None, None)], execution=share) for share in (1.0, 0.0, 0.5)]
    items = fill(campaign, labels, [reviewer])
    client = client_for(manager)
    client.get(f"/campaigns/{campaign.pk}/report/")
    back = f"/campaigns/{campaign.pk}/report/items/?figure=execution_agreement&which=rest&configuration=imported"
    assert client.get(back).content.decode().count('class="row-title"') == 2
    answer = client.post(
        f"/items/{shown(items[1])}/execution-reason/", {"reason": "too_strict", "back": back}
    )
    assert (answer.status_code, answer["Location"]) == (302, back)
    page = client.get(f"/campaigns/{campaign.pk}/report/").content.decode()
    assert "1 / 3" in rows_of(page)["execution_agreement"]
    assert "1 too strict · 1 no reason given yet" in rows_of(page)["execution_agreement"]


@pytest.mark.parametrize(
    ("reason", "back"),
    [
        pytest.param("too_lax", "", id="no such reason"),
        pytest.param("too_strict", "https://elsewhere.example/", id="an address elsewhere"),
    ],
)
def test_a_bad_reason_is_refused_and_nobody_is_led_elsewhere(
    campaign: Campaign, reviewer: User, manager: User, client_for: ClientFor, reason: str, back: str
) -> None:
    (item,) = fill(campaign, [Label("correct", [(2, None, None)], execution=0.0)], [reviewer])
    answer = client_for(manager).post(
        f"/items/{shown(item)}/execution-reason/", {"reason": reason, "back": back}
    )
    if back:
        assert answer["Location"] == f"/campaigns/{campaign.pk}/report/"
    else:
        assert answer.status_code == 422
        assert campaign.items.get().execution_reason == ""
    assert client_for(reviewer).post(f"/items/{shown(item)}/execution-reason/").status_code == 403


@pytest.mark.slow
def test_the_api_gives_the_same_document(
    golden: Campaign, manager: User, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    where = f"/api/v1/reports/{golden.pk}/"
    report = client.get(where).json()
    assert set(report) == {"campaign", "items", "configurations", "agreement", "details"}
    figure = report["configurations"][0]["strict"]["assessor_recall"]
    assert (figure["numerator"], figure["denominator"]) == STRICT["assessor_recall"]
    assert ReportLook.objects.count() == 1
    assert client.get(f"{where}threats/").json()["looks"]["count"] == 1
    made = client.post(f"{where}snapshots/", {"name": "One"}, content_type="application/json")
    assert made.status_code == 201
    assert [one["name"] for one in client.get(f"{where}snapshots/").json()] == ["One"]
    kept = client.get(f"/api/v1/report-snapshots/{made.json()['id']}/").json()
    assert kept["data"]["items"] == 153
    for path in (where, f"{where}threats/", f"{where}snapshots/", "/api/v1/report-snapshots/1/"):
        assert client_for(reviewer).get(path).status_code == 403


def test_the_api_takes_reasons_for_items_of_the_campaign_alone(
    campaign: Campaign, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    (item,) = fill(campaign, [Label("correct", [(2, None, None)], execution=0.0)], [reviewer])
    client, where = client_for(manager), f"/api/v1/reports/{campaign.pk}/execution-reason/"
    for body, status in (
        ({"item": shown(item), "reason": "too_lax"}, 400),
        ({"item": shown(item) + 1, "reason": "other"}, 404),
        ({"item": shown(item), "reason": "other"}, 204),
    ):
        assert client.post(where, body, content_type="application/json").status_code in (
            status,
            422,
        )
    assert campaign.items.get().execution_reason == "other"


@pytest.mark.slow
def test_pairs_of_many_reviewers_have_a_page_of_their_own(
    campaign: Campaign, manager: User, client_for: ClientFor
) -> None:
    people = [make_person(f"reviewer-{number}") for number in range(9)]
    labels = [Label("correct", [(value, None, None)] * 9) for value in (0, 1, 2)]
    fill(campaign, labels, people)
    client = client_for(manager)
    assert (
        "36 pairs of reviewers" in client.get(f"/campaigns/{campaign.pk}/report/").content.decode()
    )
    page = client.get(f"/campaigns/{campaign.pk}/report/pairs/script/")
    assert page.content.decode().count("reviewer-0, reviewer-") == 8
    assert client.get(f"/campaigns/{campaign.pk}/report/pairs/none/").status_code == 404


@pytest.mark.slow
def test_the_page_asks_a_fixed_number_of_queries(
    campaign: Campaign, manager: User, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    asked = []
    for count in (4, 30):  # with fewer scores, a reviewer has no first quarter
        campaign.cases.all().delete()
        fill(campaign, [Label("correct", [(2, None, None)])] * count, [reviewer])
        tallies.recount(campaign)
        cache.clear()
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/campaigns/{campaign.pk}/report/items/?figure=net&configuration=imported")
            client.get(f"/campaigns/{campaign.pk}/report/threats/")
            client.get(f"/campaigns/{campaign.pk}/report/")
        asked.append(len(queries))
    assert asked[0] == asked[1]
