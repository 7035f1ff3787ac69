"""Rows that are stored by statements kept for each process are what `save` would have stored."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from core.database.prepared_writes import insert, store, update
from review.models import Assignment, Item, Score

pytestmark = pytest.mark.django_db


def make_score(item: Item, reviewer: User) -> Score:
    draft = item.run.drafts.get() if item.run else None
    return Score(
        item=item, reviewer=reviewer, stage="script", value=1, draft=draft, comment="100 %"
    )


def test_a_row_is_stored_as_save_stores_it(held: Assignment) -> None:
    score = make_score(held.item, held.reviewer)
    score.visible = {"verdict": False, "odd": ["%s", '"']}
    store(insert(score))
    stored = Score.objects.get()
    for field in Score._meta.concrete_fields:
        assert getattr(stored, field.attname) == getattr(score, field.attname), field.name
    score.value = 2
    score.save()  # it is known to be stored: this adds none
    assert Score.objects.get().value == 2


def test_several_rows_are_stored_by_one_statement_or_none_of_them(
    held: Assignment, django_assert_num_queries: object
) -> None:
    held.pauses, held.active_seconds = 3, {"script-model": 1.5}
    held.why = "is not named"
    score = make_score(held.item, held.reviewer)
    with django_assert_num_queries(1):  # type: ignore[operator]
        store(insert(score), update(held, ("pauses", "active_seconds")))
    stored = Assignment.objects.get(pk=held.pk)
    assert (stored.pauses, stored.active_seconds, stored.why) == (3, {"script-model": 1.5}, "")
    held.pauses = 4
    with pytest.raises(IntegrityError), transaction.atomic():
        store(insert(make_score(held.item, held.reviewer)), update(held, ("pauses",)))
    assert Assignment.objects.get(pk=held.pk).pauses == 3 and Score.objects.get() == score
