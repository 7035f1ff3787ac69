"""The admin page for tags. Every change applies to all versions with the tag."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from catalog.access import CURATE
from catalog.curation.admin.actions import Action
from catalog.curation.admin.base import CuratedAdmin
from catalog.curation.admin.forms import TagForm
from catalog.curation.services import tags
from catalog.models import Tag
from core.web.requests import signed_in


class MergeTagForm(forms.Form):
    """The tag to merge into."""

    into = forms.ModelChoiceField(Tag.objects.all(), label=_("Merge into"))


@admin.register(Tag)
class TagAdmin(CuratedAdmin[Tag]):
    form = TagForm
    list_display = ("name", "used")
    search_fields = ("name",)
    actions = (Action[Tag]("merge", _("Merge"), tags.merge_tag, MergeTagForm, foresees=False),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tag]:
        return super().get_queryset(request).annotate(count=Count("versions"))

    @admin.display(description=_("versions"), ordering="count")
    def used(self, tag: Tag) -> int:
        """Return the number of versions with this tag."""
        return int(tag.count)  # type: ignore[attr-defined]

    def has_delete_permission(self, request: HttpRequest, obj: Tag | None = None) -> bool:
        return request.user.has_perm(CURATE)

    def save_model(self, request: HttpRequest, obj: Tag, form: forms.Form, change: bool) -> None:
        name, by = form.cleaned_data["name"], signed_in(request)
        if change:
            tags.rename_tag(Tag.objects.get(pk=obj.pk), name=name, by=by)
        else:
            obj.__dict__.update(tags.create_tag(name, by=by).__dict__)

    def delete_model(self, request: HttpRequest, obj: Tag) -> None:
        tags.delete_tag(obj, by=signed_in(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Tag]) -> None:
        for tag in queryset:
            tags.delete_tag(tag, by=signed_in(request))
