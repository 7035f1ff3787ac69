"""Foreign keys of many rows: what the sets say is what PostgreSQL's triggers would have said."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction

from core.database.bulk_copy import Table, next_keys
from pipeline.models import Action
from review.campaigns.services.rules import create_campaign
from review.exchange.importing.references import referring_at_once
from review.models import Campaign, Case

_COLUMNS = ("id", "action_id", "external_id", "content_sha256", "repeats_id")
_NOWHERE = 2_000_000_000


@pytest.fixture
def campaign(manager: User) -> Campaign:
    return create_campaign("Referring", by=manager)


@pytest.fixture(params=["superuser", "role without the right"])
def role(request: pytest.FixtureRequest) -> Iterator[None]:
    """Who writes: the sets are asked for the first, the triggers for the second."""
    if request.param == "superuser":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE only_writes")
        cursor.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO only_writes")
        cursor.execute("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO only_writes")
        cursor.execute("SET LOCAL ROLE only_writes")
    yield


def _write(campaign: Campaign, *, action: int, repeats: int | None = None, rows: int = 3) -> None:
    """Some cases of one action; the last one repeats what is said."""
    keys = next_keys(Case, rows)
    table = Table(Case, _COLUMNS, campaign_id=campaign.pk)
    with referring_at_once() as filled:
        filled.append(
            table.copy(
                [
                    (key, action, f"case-{key}", "", repeats if key == keys[-1] else None)
                    for key in keys
                ]
            )
        )
    # As the end of the transaction would.
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@pytest.mark.django_db
@pytest.mark.usefixtures("role")
class TestReferringAtOnce:
    def test_what_names_what_is_there_is_kept(self, campaign: Campaign) -> None:
        action = Action.objects.create(statement="List files")
        _write(campaign, action=action.pk)
        _write(campaign, action=action.pk, repeats=campaign.cases.earliest("pk").pk)
        assert campaign.cases.count() == 6

    @pytest.mark.parametrize("missing", ["action", "repeats", "campaign"])
    def test_what_names_what_is_not_there_is_refused(
        self, campaign: Campaign, missing: str
    ) -> None:
        action = Action.objects.create(statement="List files")
        with pytest.raises(IntegrityError), transaction.atomic():
            _write(
                Campaign(pk=_NOWHERE) if missing == "campaign" else campaign,
                action=_NOWHERE if missing == "action" else action.pk,
                repeats=_NOWHERE if missing == "repeats" else None,
            )
        assert not Case.objects.exists()

    def test_triggers_are_at_work_again_afterwards(self, campaign: Campaign) -> None:
        action = Action.objects.create(statement="List files")
        _write(campaign, action=action.pk)
        Case.objects.create(campaign=campaign, action_id=_NOWHERE, external_id="dangling")
        with pytest.raises(IntegrityError), transaction.atomic():
            connection.check_constraints()
        Case.objects.filter(external_id="dangling").delete()

    def test_triggers_are_at_work_again_after_a_failure(self, campaign: Campaign) -> None:
        with pytest.raises(RuntimeError), transaction.atomic(), referring_at_once():
            raise RuntimeError("something else went wrong")
        Case.objects.create(campaign=campaign, action_id=_NOWHERE, external_id="dangling")
        with pytest.raises(IntegrityError), transaction.atomic():
            connection.check_constraints()
        Case.objects.filter(external_id="dangling").delete()


@pytest.mark.django_db(transaction=True)
def test_what_is_named_stays_until_the_transaction_ends(campaign: Campaign) -> None:
    action = Action.objects.create(statement="List files")
    settings = connection.get_connection_params()
    with psycopg.connect(
        dbname=settings["dbname"],
        host=settings.get("host"),
        port=settings.get("port"),
        user=settings.get("user"),
        password=settings.get("password"),
    ) as other:
        with transaction.atomic():
            _write(campaign, action=action.pk)
            other.execute("SET lock_timeout = '100ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute("DELETE FROM pipeline_action WHERE id = %s", [action.pk])
            other.rollback()
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            other.execute("DELETE FROM pipeline_action WHERE id = %s", [action.pk])
            other.commit()
