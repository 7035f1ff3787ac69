"""Create rows for the review benchmarks: reviewers, and studies of scripts with realistic lengths."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from bench.support.product import ROOT
from bench.support.rows import multiply
from catalog.models import Version
from pipeline.models import Action, Assessment, Configuration, Draft, DraftFinding, Run
from review.campaigns.services import rules as studies
from review.campaigns.services import states
from review.models import Campaign, Case, Item
from review.sampling import shuffle_of

PASSWORD = "a bench's own passphrase"
_RUBRIC = """## What is right

- **2, correct**: it does what is asked, for any input that the statement allows, and nothing else.
- **1, partially correct**: it does part of it, or all of it with a flaw that somebody would have to mend.
- **0, incorrect**: it does something else, does harm, or does not run.

Judge what the script does and not how it is written. Nothing is run: read it line by line, with its options.
"""
_COPIED: tuple[type[Model], ...] = (Action, Case, Run, Draft, Assessment, DraftFinding, Item)
# Copies have different texts, so that they do not share cached results.
_OWN = {
    "statement": "statement || ', case ' || copy",
    "statement_sha256": "encode(sha256(convert_to(statement || ', case ' || copy, 'UTF8')), 'hex')",
    "script": "script || '# case ' || copy || E'\\n'",
    "sha256": "encode(sha256(convert_to(script || '# case ' || copy || E'\\n', 'UTF8')), 'hex')",
    "external_id": "external_id || '-' || copy",
    "shuffle": "floor(random() * 2147483647)::int",
}


def make_people(count: int) -> list[User]:
    """Create reviewers who can sign in."""
    role = Group.objects.get(name="reviewer")
    people = [
        User(username=f"bench-{number}", first_name=f"Reviewer {number}") for number in range(count)
    ]
    people[0].set_password(PASSWORD)
    for person in people:
        person.password = people[0].password
    made = User.objects.bulk_create(people)
    role.user_set.add(*made)
    return made


def make_study(
    name: str, *, people: list[User], cases: int, copies: int = 1, overlap: int = 1
) -> Campaign:
    """Create an open study. Reviewers score only the script of each item, because the assessor passed it.

    The items are multiplied in the database if `copies` is more than 1.
    """
    rules = studies.Rules(overlap=overlap, rubric=_RUBRIC)
    campaign = studies.create_campaign(name, by=people[0], rules=rules, reviewers=people)
    with transaction.atomic():
        _fill(campaign, cases)
        if copies > 1:
            multiply(_COPIED, copies, own=_OWN)
    states.move_campaign(campaign, "open", by=people[0])
    _vacuum_as_autovacuum_does()
    campaign.refresh_from_db()
    return campaign


def _vacuum_as_autovacuum_does() -> None:
    """Vacuum only tables that have changed.

    After an analysis of an empty table, PostgreSQL would plan queries as if the table stayed empty.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT relname FROM pg_stat_user_tables WHERE n_mod_since_analyze > 0")
        for (table,) in cursor.fetchall():
            cursor.execute(f'VACUUM ANALYZE "{table}"')


def _scripts(count: int) -> list[tuple[str, str]]:
    """Return slightly changed statements and scripts of the starter catalogue."""
    found = sorted((ROOT / "catalog/starter").glob("*/script.sh"))
    return [
        (
            f"{found[number % len(found)].parent.name.replace('-', ' ')}, on host {number}",
            f"{found[number % len(found)].read_text()}# host {number}\n",
        )
        for number in range(count)
    ]


def _fill(campaign: Campaign, count: int) -> None:
    texts = _scripts(count)
    now = timezone.now()
    arm = Configuration.objects.get(name="demo")
    actions = Action.objects.bulk_create(
        Action(
            statement=statement,
            statement_sha256=Version.hash_of(statement),
            environment="A Debian 12 host behind a load balancer; the shop is open at night.",
            severity=2,
            target="web-3",
            impact="The shop cannot be reached",
        )
        for statement, _script in texts
    )
    cases = Case.objects.bulk_create(
        Case(campaign=campaign, external_id=f"{campaign.pk}-{number}", action=action)
        for number, action in enumerate(actions)
    )
    runs = Run.objects.bulk_create(
        Run(action=one, configuration=arm, state=Run.State.DONE, verdict="correct", finished_at=now)
        for one in actions
    )
    _write(runs, [script for _statement, script in texts])
    Item.objects.bulk_create(
        Item(
            campaign=campaign,
            case=case,
            configuration=arm,
            run=run,
            state=Item.State.OPEN,
            shuffle=shuffle_of(campaign, case.external_id),
            overlap=campaign.overlap,
            places=campaign.overlap,
        )
        for case, run in zip(cases, runs, strict=True)
    )


def _write(runs: list[Run], scripts: list[str]) -> None:
    drafts = Draft.objects.bulk_create(
        Draft(run=run, number=1, kind="generated", script=script, sha256=Version.hash_of(script))
        for run, script in zip(runs, scripts, strict=True)
    )
    Assessment.objects.bulk_create(
        Assessment(
            draft=draft,
            script_sha256=draft.sha256,
            verdict="correct",
            syntax_ok=True,
            functionality="It does on the host what the statement asks for, step by step.",
            similarity="match",
            difference="match",
        )
        for draft in drafts
    )
    DraftFinding.objects.bulk_create(
        DraftFinding(
            draft=draft,
            script_sha256=draft.sha256,
            check_name="shellcheck",
            check_version="1",
            outcome="failed",
            level="warning",
            code="SC2086",
            message="Double quote to prevent globbing and word splitting.",
            line=3,
        )
        for draft in drafts[::2]
    )
