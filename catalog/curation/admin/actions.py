"""Admin actions on multiple rows. The preview and the action call the same service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalog.access import CURATE, require
from core.errors import Refused

AnyModel = TypeVar("AnyModel", bound=Model)
MOST = 200  # rows per action


class Foreseen(NamedTuple):
    """A row, and the reason why the action would fail on it, or an empty string."""

    row: Model
    refusal: str


class Action(Generic[AnyModel]):
    """An action in the admin's menu. It shows a preview, then calls the service for each row."""

    def __init__(
        self,
        name: str,
        label: str | Promise,
        service: Callable[..., object],
        form: type[Form],
        *,
        foresees: bool = True,
    ) -> None:
        self.__name__ = name
        self.short_description = label
        self.allowed_permissions = ["change"]
        self._service = service
        self._form = form
        # A preview is impossible if the result depends on input that the user has not entered yet.
        self._foresees = foresees

    def __call__(
        self, admin: ModelAdmin[AnyModel], request: HttpRequest, queryset: QuerySet[AnyModel]
    ) -> HttpResponse | None:
        user = request.user
        assert isinstance(user, User)
        require(user, CURATE)
        rows = list(queryset[: MOST + 1])
        if len(rows) > MOST:
            admin.message_user(
                request, _("Select at most %(most)s rows.") % {"most": MOST}, messages.ERROR
            )
            return None
        begun = "apply" in request.POST
        form = self._form(request.POST if begun else None)
        if begun and form.is_valid():
            self._report(admin, request, [self._do(row, user, form.cleaned_data) for row in rows])
            return None
        given: dict[str, object] = dict.fromkeys(form.fields, "–")
        context = {
            **admin.admin_site.each_context(request),
            "title": self.short_description,
            "opts": admin.model._meta,
            "action": self.__name__,
            "checkbox": ACTION_CHECKBOX_NAME,
            "form": form,
            "foreseen": [self._foresee(row, user, given) for row in rows],
        }
        status = 422 if begun else 200
        return TemplateResponse(
            request, "admin/catalog/confirm_action.html", context, status=status
        )

    def _foresee(self, row: Model, user: User, given: dict[str, object]) -> Foreseen:
        """Run the action and roll it back, because only a real run predicts the result exactly."""
        if not self._foresees:
            return Foreseen(row, "")
        with transaction.atomic():
            foreseen = self._do(row, user, given)
            transaction.set_rollback(True)
        return foreseen

    def _do(self, row: Model, user: User, given: dict[str, object]) -> Foreseen:
        try:
            with transaction.atomic():
                self._service(row, by=user, **given)
        except (Refused, PermissionDenied) as refusal:
            return Foreseen(row, str(refusal))
        return Foreseen(row, "")

    def _report(
        self, admin: ModelAdmin[AnyModel], request: HttpRequest, done: list[Foreseen]
    ) -> None:
        refused = [one for one in done if one.refusal]
        count = len(done) - len(refused)
        if count:
            said = ngettext(
                "“%(what)s” applied to %(count)s row.",
                "“%(what)s” applied to %(count)s rows.",
                count,
            )
            admin.message_user(request, said % {"what": self.short_description, "count": count})
        for one in refused:
            admin.message_user(request, f"{one.row}: {one.refusal}", messages.ERROR)
