"""Calibration pages: figures, the threshold, cases to label, and the team's own scorings."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.access import require
from catalog.calibration import services
from catalog.calibration.forms import LabelForm, ScoringForm, ThresholdForm, WantedForm
from catalog.calibration.page_data import show_figures
from catalog.calibration.services.labels import LABEL_MATCHES
from catalog.calibration.services.thresholds import SET_THRESHOLD
from catalog.models import Job, MatchLabel, ScoringChoice, ScoringModel, Threshold
from catalog.relevance import shipped_model
from catalog.retrieval.scoring import current_scoring
from core.errors import BadInput, NotAllowedNow
from core.highlighting import cut_at
from core.web.forms import add_refusal, retype
from core.web.requests import signed_in

KEPT_IN_SIGHT = 20


@require_safe
def calibration(request: HttpRequest) -> HttpResponse:
    """Show precision by coverage, reliability, and the threshold."""
    _allowed(request, LABEL_MATCHES, SET_THRESHOLD)
    return _show(request)


@require_POST
def threshold_set(request: HttpRequest) -> HttpResponse:
    """Set the confidence at which an entry becomes a match."""
    user = _allowed(request, SET_THRESHOLD)
    form = ThresholdForm(request.POST)
    status = 422
    if form.is_valid():
        try:
            services.set_threshold(by=user, **form.cleaned_data)
        except BadInput as refusal:
            add_refusal(form, refusal)
        except NotAllowedNow as refusal:
            form.add_error(None, str(refusal))
            newest = Threshold.objects.first()
            retype(form, seen=newest.pk if newest else 0)
            status = 409
        else:
            messages.success(
                request, _("Threshold set. It applies starting with the next request.")
            )
            return redirect("calibration")
    return _show(request, form=form, status=status)


@require_POST
def scoring_fit(request: HttpRequest) -> HttpResponse:
    """Start a background job that fits a scoring to this team's labels."""
    user = _allowed(request, SET_THRESHOLD)
    try:
        services.begin_fit(by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(
            request,
            _(
                "A worker is fitting the scorer. Nothing changes until you switch to the new scorer."
            ),
        )
    return redirect("calibration")


@require_POST
def scoring_choose(request: HttpRequest) -> HttpResponse:
    """Switch to another scoring or back to the shipped scoring."""
    user = _allowed(request, SET_THRESHOLD)
    form = ScoringForm(request.POST)
    status = 422
    if form.is_valid():
        pk = form.cleaned_data["model"]
        model = get_object_or_404(ScoringModel, pk=pk) if pk else None
        try:
            choice = services.choose_scoring(model, by=user, why=form.cleaned_data["why"])
        except BadInput as refusal:
            add_refusal(form, refusal)
        except NotAllowedNow as refusal:
            form.add_error(None, str(refusal))
            status = 409
        else:
            messages.success(
                request, _("%(name)s is now the active scorer.") % {"name": choice.scoring}
            )
            return redirect("calibration")
    return _show(request, choice_form=form, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def case_label(request: HttpRequest) -> HttpResponse:
    """Show the next case to label, with its statement, its script and the differences."""
    user = _allowed(request, LABEL_MATCHES)
    status = 200
    if request.method == "POST":
        form = LabelForm(request.POST)
        if not form.is_valid():
            messages.error(request, _("Choose match, starting point or no match."))
            return _show_case(request, user, status=422)
        said = form.cleaned_data
        try:
            services.label_case(
                said["statement"],
                version_id=said["version"],
                label=said["label"],
                picked=said["picked"],
                by=user,
            )
        except BadInput as refusal:
            messages.error(request, str(refusal))
            status = 422
        except NotAllowedNow as refusal:
            messages.warning(request, str(refusal))
            status = 409
        else:
            return redirect("case-label")
    return _show_case(request, user, status=status)


@require_POST
def label_undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw one of the user's labels."""
    user = _allowed(request, LABEL_MATCHES)
    label = get_object_or_404(MatchLabel, pk=pk)
    try:
        services.undo_label(label, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Label removed. The pair will be shown again."))
    return redirect("case-label")


def _allowed(request: HttpRequest, *permissions: str) -> User:
    user = signed_in(request)
    require(user, *permissions)
    return user


def _show(
    request: HttpRequest,
    *,
    form: ThresholdForm | None = None,
    choice_form: ScoringForm | None = None,
    status: int = 200,
) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    model = current_scoring()
    wanted = WantedForm(request.GET if "precision" in request.GET else None)
    precision = wanted.cleaned_data["precision"] if wanted.is_bound and wanted.is_valid() else None
    figures = show_figures(services.read_cases(model.version), model, wanted=precision)
    thresholds = Threshold.objects.select_related("by")[:KEPT_IN_SIGHT]
    chosen = ScoringChoice.objects.select_related("by").first()
    newest = thresholds[0] if thresholds else None
    initial = {
        "match": round(figures.suggested.threshold, 4)
        if figures.suggested
        else model.match_threshold,
        "adapt": model.adapt_threshold,
        "wanted_precision": precision / 100 if precision else None,
        "seen": newest.pk if newest else 0,
    }
    context = {
        "nav_section": "catalogue",
        "model": model,
        "shipped": shipped_model().version,
        "figures": figures,
        "confirmed": services.confirmed_matches(),
        "wanted": wanted,
        "form": form or ThresholdForm(initial=initial),
        "choice_form": choice_form or ScoringForm(),
        "thresholds": thresholds,
        "scorings": ScoringModel.objects.select_related("by").defer("document")[:KEPT_IN_SIGHT],
        "chosen": chosen,
        "unscored": services.unscored(model.version).count(),
        "job": Job.objects.filter(kind=Job.Kind.FIT).select_related("by").first(),
        "may_set": user.has_perm(SET_THRESHOLD),
        "may_label": user.has_perm(LABEL_MATCHES),
    }
    return render(request, "catalog/calibration/calibration.html", context, status=status)


def _show_case(request: HttpRequest, user: User, *, status: int) -> HttpResponse:
    case = services.next_case(skip=_skipped(request))
    mine = MatchLabel.objects.counting().filter(by=user).exclude(picked=MatchLabel.Picked.ASKED)
    context = {
        "nav_section": "catalogue",
        "case": case,
        "statement": cut_at(case.statement, _spans(case)) if case else (),
        "last": mine.select_related("version__entry").order_by("-pk").first(),
        "count": mine.count(),
    }
    return render(request, "catalog/calibration/label_case.html", context, status=status)


def _spans(case: services.CaseToLabel) -> list[tuple[int, int]]:
    return [one.span for one in case.judgement.differs if one.span is not None]


def _skipped(request: HttpRequest) -> list[tuple[str, int]]:
    """Return the case that the user skipped, if any."""
    version = request.GET.get("version", "")
    statement = request.GET.get("skip", "")
    return [(statement, int(version))] if version.isdecimal() and len(version) < 19 else []
