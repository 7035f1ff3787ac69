"""Create the items for the screenshots of the review page. Runs inside the running product."""

from __future__ import annotations

from django.contrib.auth.models import Group, User

from catalog.analysis import analyse
from core.web.public_keys import ITEM, public_key
from pipeline.execution.draft_checks import keep_findings
from pipeline.models import Action, Assessment, Run
from review import services
from review.models import Assignment, Campaign, Item
from tests.make import make_run
from tests.review.desk.test_desk import score_next
from tests.review.maker import add_item, make_study

_HEAD = "#!/usr/bin/env bash\nset -euo pipefail\n\n"
_DUMPS = f"""{_HEAD}# Delete dumps older than a week.
backup=/backup/orders
find $backup -name 'orders-*.sql.gz' -mtime +7 -delete
echo "Deleted old dumps in $backup"
"""
_BETTER = f"""{_HEAD}# Delete dumps older than a week, but never the newest one.
backup=/backup/orders
newest=$(find "$backup" -name 'orders-*.sql.gz' -size +0 -printf '%T@ %p\\n' | sort -n | tail -n 1)
[ -n "$newest" ] || {{ echo "No dump that is not empty in $backup" >&2; exit 1; }}
find "$backup" -name 'orders-*.sql.gz' -mtime +7 ! -path "${{newest#* }}" -delete
echo "Deleted old dumps in $backup"
"""
_FEEDBACK = (
    "- Line 6 deletes every dump older than 7 days, also when the newest one is empty.\n"
    '- "$backup" is not quoted in the find command.'
)
_HOSTILE = (
    _HEAD
    + 'echo "<img src=x onerror=alert(1)>" # \u202e gnihtemos esle \u202c\n'
    + "printf '%s\\n' \"p\u0430ypal\" # a Cyrillic letter\n"
    + 'rm -rf -- "/tmp/\u200bexports"\n'
)
_LONG = _HEAD + "".join(
    f"rotate service-{number:02d} /var/log/service-{number:02d}/*.log 14"
    f"  # {'kept for the auditors, ' * (number % 4)}\n"
    for number in range(1, 90)
)


def make(*, password: str) -> str:
    """Create four items in the review queue and one that was returned to Lena. Return the keys of the items and of her
    study."""
    lena = person("lena", "Lena", "reviewer", password)
    boss = person("boss", "Mona", "manager", password)
    items = [_dumps(), _passed(), _long(), _hostile()]
    sent = _sent_back(lena, boss)
    keys = [public_key(ITEM, pk) for pk in (*(one.pk for one in items), sent.item_id)]
    return " ".join(str(key) for key in [*keys, _study().pk])


def person(name: str, first_name: str, role: str, password: str) -> User:
    user, _made = User.objects.get_or_create(username=name, first_name=first_name)
    user.set_password(password)
    user.save()
    user.groups.set(Group.objects.filter(name=role))
    return user


def take_in(run: Run) -> Item:
    """Add the run to the review queue and return its item."""
    item = services.take_in(run.pk)
    assert item is not None
    return item


def _put(
    statement: str, script: str, *, feedback: str, refined: str, does: str = "", **details: object
) -> Item:
    verdict = "incorrect" if feedback else "correct"
    run = make_run(
        statement=statement, script=script, feedback=feedback, refined=refined, verdict=verdict
    )
    Action.objects.filter(pk=run.action_id).update(**details)
    for draft in run.drafts.all():
        keep_findings(draft, analyse(draft.script))
    Assessment.objects.filter(draft__run=run, draft__number=1).update(functionality=does)
    return take_in(run)


def _dumps() -> Item:
    item = _put(
        "Delete dumps older than 7 days in /backup/orders, but only if the newest one is not empty",
        _DUMPS,
        feedback=_FEEDBACK,
        refined=_BETTER,
        does="Deletes every file named orders-*.sql.gz below /backup/orders that was last modified "
        "more than 7 days ago, and prints that it did.",
        severity=1,
        target="db-02",
        impact="All good backups would be deleted after a week of failed ones",
        incident="The nightly dump has failed for nine days: the volume was full, and the dumps are empty.",
    )
    Assessment.objects.filter(draft__run=item.run, draft__number=1).update(
        differences=["It does not look whether the newest dump is empty before it deletes others."]
    )
    return item


def _passed() -> Item:
    return _put(
        "Show the five processes that hold the most open files",
        _HEAD + "lsof -n | awk '{print $2}' | sort | uniq -c | sort -rn | head -5\n",
        feedback="",
        refined="",
        does="Counts the open files of each process, and prints the five largest counts.",
        severity=2,
        target="edge-05",
        impact="The wrong program would be restarted",
    )


def _long() -> Item:
    return _put(
        "Rotate the logs of every service on this host, keep 14 of each, and tell which were rotated",
        _LONG,
        feedback="",
        refined="",
        severity=3,
        target="log-01",
    )


def _hostile() -> Item:
    return _put(
        'Print <script>alert(1)</script> & "quotes" \u202ereversed\u202c, '
        + "averylongwordthatneverends" * 8,
        _HOSTILE,
        feedback="- </textarea><script>alert(2)</script>\n- " + "x" * 300,
        refined="",
        severity=4,
        target="<b>host</b>",
    )


def _sent_back(lena: User, boss: User) -> Assignment:
    name = f"Backups and logs, round {Campaign.objects.count()}"
    study = make_study(by=boss, reviewers=[lena], items=0, name=name, is_open=False)
    for number in (1, 2):
        add_item(study, f"case {number}")
    Campaign.objects.filter(pk=study.pk).update(state="open")
    study.refresh_from_db()
    mine = services.claim_next(study, by=lena)
    assert mine is not None
    for value in (0, 2, 2):
        score_next(mine.item, lena, value)
    mine.refresh_from_db()
    why = "You gave the rewrite a 2, the others a 0. Does it still look at every directory?"
    services.send_back(mine, why=why, by=boss)
    return mine


def _study() -> Campaign:
    return Campaign.objects.filter(kind=Campaign.Kind.STUDY).latest("pk")
