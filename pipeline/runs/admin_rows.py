"""Admin pages for records that reveal a run's verdict. As on other pages, views of these records are recorded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.http import HttpRequest

from pipeline import hooks
from pipeline.models import Run

AnyModel = TypeVar("AnyModel", bound=Model)


class OfRun(admin.ModelAdmin[AnyModel]):
    """An admin page for runs or their parts. The admin hides nothing, so each shown row counts as seen."""

    to_run = "run"  # the lookup from a row to its run

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> AnyModel | None:
        found = super().get_object(request, object_id, from_field)
        if found is not None:
            self._note(request, [found])
        return found

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        page = super().get_changelist_instance(request)
        self._note(request, page.result_list)
        return page

    def _note(self, request: HttpRequest, rows: Iterable[AnyModel]) -> None:
        keys = [row.pk for row in rows]
        if hooks.note_shown is None or not keys:
            return
        shown = self.model._default_manager.filter(pk__in=keys).values(self.to_run)
        for run in Run.objects.filter(pk__in=shown).only("verdict"):
            hooks.note_shown(request.user, run)  # type: ignore[arg-type]
