"""The style guide at /_gallery/ for administrators, which shows every component in every state."""

from __future__ import annotations

import json

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from scriptsmith_site.people.roles import ADMINISTER


class SampleForm(forms.Form):
    """A form with one field of each kind. Some fields have errors."""

    statement = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Describe one task in words.",
    )
    model = forms.ChoiceField(choices=[("a", "self-reflection"), ("b", "peer review")])
    rounds = forms.IntegerField(min_value=0, max_value=4)
    note = forms.CharField(required=False)
    blind = forms.BooleanField(
        required=False, label="Hide the verdict until the script is scored", help_text="Recorded."
    )
    roles = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, choices=[("r", "reviewer"), ("c", "curator")]
    )


class SampleFilters(forms.Form):
    """The filters of a sample list."""

    q = forms.CharField(required=False, label="Search text")
    state = forms.ChoiceField(choices=[("", "any"), ("done", "done")], required=False)
    risk = forms.ChoiceField(choices=[("", "any"), ("high", "high")], required=False)


@require_GET
@permission_required(ADMINISTER, raise_exception=True)
def gallery(request: HttpRequest) -> HttpResponse:
    """Show the components with the samples stored next to their templates."""
    samples = settings.BASE_DIR / "templates" / "components" / "gallery.json"
    context = json.loads(samples.read_text(encoding="utf-8"))
    context["form"] = SampleForm({"rounds": "9", "model": "a", "blind": "on"})
    context["filter_form"] = SampleFilters()
    context["moment"] = timezone.now()
    return render(request, "components/gallery.html", context)
