"""Pages where curators describe their team's own tools."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.forms import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.access import curator_of
from catalog.curation import services
from catalog.models import ToolRule
from core.errors import BadInput
from core.web.forms import add_refusal

# Preselect no effect, because a wrong default could mark a dangerous command as harmless.
_EFFECTS = [("", gettext_lazy("Choose an effect")), *ToolRule.Effect.choices]


class ToolRuleForm(forms.Form):
    """A rule for one command."""

    name = forms.CharField(
        label=gettext_lazy("Command"),
        max_length=80,
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
        help_text=gettext_lazy(
            "For example, deployctl or deployctl rollback. The longest matching rule applies."
        ),
    )
    effect = forms.ChoiceField(label=gettext_lazy("Effect"), choices=_EFFECTS)
    note = forms.CharField(label=gettext_lazy("Note"), max_length=500, required=False)


@require_safe
def tool_list(request: HttpRequest) -> HttpResponse:
    """List all rules."""
    curator_of(request)
    context = {"nav_section": "catalogue", "rows": ToolRule.objects.select_related("by")}
    return render(request, "catalog/curation/tool_rules.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def tool_edit(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """Edit a rule, or add a rule if no key is given. The URL parameter `name` sets the command of a new rule."""
    curator = curator_of(request)
    rule = get_object_or_404(ToolRule, pk=pk) if pk else None
    initial = model_to_dict(rule) if rule else {"name": request.GET.get("name", "")[:80]}
    form = ToolRuleForm(request.POST if request.method == "POST" else None, initial=initial)
    if form.is_valid():
        try:
            services.save_tool_rule(rule, **form.cleaned_data, by=curator)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            messages.success(request, _("Rule saved. Scripts are checked again in the background."))
            return redirect("tool-list")
    context = {"nav_section": "catalogue", "form": form, "rule": rule}
    status = 422 if form.is_bound else 200
    return render(request, "catalog/curation/tool_rule.html", context, status=status)


@require_POST
def tool_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a rule."""
    user = curator_of(request)
    services.remove_tool_rule(get_object_or_404(ToolRule, pk=pk), by=user)
    messages.success(request, _("Rule removed. Scripts are checked again in the background."))
    return redirect("tool-list")
