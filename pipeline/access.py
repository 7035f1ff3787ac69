"""Permissions: the only way for views to obtain objects, and what of a Run a person may see.

Everybody who is signed in may look at actions and runs. Asking takes the permission `pipeline.ask`;
whoever asked may run again, cancel and retry what they asked for, a manager everybody's.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Case, F, QuerySet, Value, When
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from pipeline import hooks
from pipeline.flow import prompts
from pipeline.models import Action, Configuration, Draft, Endpoint, Run, Spending

ASK = "pipeline.ask"
MANAGE_ENDPOINTS = "pipeline.manage_endpoints"
USE_UNREVIEWED = "catalog.use_unreviewed"
# The role of managers is defined by the app above this one; here it is only a name.
MANAGE = "review.manage_campaigns"


@dataclass(frozen=True)
class VisibleParts:
    """What a page or serializer may show of a Run beyond the statement, the context and the state.

    `verdict` covers all that the assessor's opinion shows through: assessments, feedback, the drafts and
    stages that follow from them, the ledger, what it cost and how long it took. `models` covers who played
    which role, and whether the script was imported.
    """

    verdict: bool = True
    models: bool = True


def visible_parts(user: User, run: Run) -> VisibleParts:
    """What this person may see of this Run; every page and serializer asks here, and only here.

    Whoever asks shows it: that this person has seen the verdict is noted.

    A run from `access_runs` has been marked by the query that read it; for another one, a query is made.
    """
    if hooks.mark_hidden_runs is None:
        return VisibleParts()
    if "hides_verdict" not in run.__dict__:
        run = access_runs(user).get(pk=run.pk)
    hidden = [name for name in ("verdict", "models") if getattr(run, f"hides_{name}")]
    if hooks.note_shown is not None and "verdict" not in hidden:
        hooks.note_shown(user, run)
    return VisibleParts(**dict.fromkeys(hidden, False))


def shown_verdicts(user: User, runs: QuerySet[Run]) -> QuerySet[Run]:
    """Of these runs, those whose verdict the person may see."""
    return _without(user, runs, "hides_verdict")


def shown_models(user: User, runs: QuerySet[Run]) -> QuerySet[Run]:
    """Of these runs, those whose configuration the person may see."""
    return _without(user, runs, "hides_models")


def shown_state(run: Run, parts: VisibleParts) -> str:
    """How the run stands, for this person.

    Where the verdict is hidden, work that was asked for after its end is hidden too: a refinement that is
    being made tells that there was none.
    """
    if not parts.verdict and run.finished_at is not None and run.recommended_id is not None:
        return Run.State.DONE
    return run.state


def with_shown_state(user: User, runs: QuerySet[Run]) -> QuerySet[Run]:
    """The runs with `shown_state` as an annotation, to be narrowed by."""
    if hooks.mark_hidden_runs is None:
        return runs.annotate(shown_state=F("state"))
    ended = When(
        hides_verdict=True,
        finished_at__isnull=False,
        recommended__isnull=False,
        then=Value(Run.State.DONE.value),
    )
    marked = (
        runs if "hides_verdict" in runs.query.annotations else hooks.mark_hidden_runs(user, runs)
    )
    return marked.annotate(shown_state=Case(ended, default=F("state")))


def _without(user: User, runs: QuerySet[Run], mark: str) -> QuerySet[Run]:
    if hooks.mark_hidden_runs is None:
        return runs
    return hooks.mark_hidden_runs(user, runs).filter(**{mark: False})


def require_asker(user: User, *, or_manager: bool = False) -> None:
    """Raise PermissionDenied for who may not ask for scripts; managers run again what others asked for."""
    if not (user.has_perm(ASK) or (or_manager and user.has_perm(MANAGE))):
        raise PermissionDenied(_("Asking for a script takes the role “reviewer”."))


def access_actions(user: User) -> QuerySet[Action]:
    """The actions that the person may see."""
    actions = Action.objects.select_related("asked_by")
    return hooks.mark_hidden_actions(user, actions) if hooks.mark_hidden_actions else actions


def access_action(user: User, pk: int, *, to_run: bool = False) -> Action:
    """An action; 403 where it is to be run and is not theirs to run."""
    action = get_object_or_404(access_actions(user), pk=pk)
    if to_run and not may_run(user, action):
        raise PermissionDenied(_("Only who asked for this, or a manager, can run it again."))
    return action


def may_run(user: User, action: Action) -> bool:
    """Whether the person may send this action through the pipeline again."""
    # The demo's actions are nobody's, and there to be tried by all.
    theirs = action.asked_by_id == user.pk or action.source == Action.Source.DEMO
    return user.has_perm(MANAGE) or (user.has_perm(ASK) and theirs)


def access_runs(user: User) -> QuerySet[Run]:
    """The runs that the person may see."""
    runs = Run.objects.select_related(
        "action__asked_by",
        "asked_by",
        "configuration",
        "recommended",
        "answered_by__entry",
        "batch",
        "waits_for",
    )
    return hooks.mark_hidden_runs(user, runs) if hooks.mark_hidden_runs else runs


def access_run(user: User, pk: int, *, to_change: bool = False) -> Run:
    """A run; 403 where it is to be changed and is not theirs to change."""
    run = get_object_or_404(access_runs(user), pk=pk)
    if to_change and not may_change(user, run):
        raise PermissionDenied(_("Only who asked for this run, or a manager, can change it."))
    return run


def may_change(user: User, run: Run) -> bool:
    """Whether the person may cancel this run, retry it, or answer what the catalogue gave."""
    asked = user.has_perm(ASK) and run.asked_by_id == user.pk
    return asked or may_run(user, run.action)


def access_draft(user: User, pk: int, *, to_use: bool = False, to_check: bool = False) -> Draft:
    """A draft of a run that the person may see; 403 where it is to be used or checked and they may not.

    One that is hidden is not there: how many Drafts a run has tells its verdict.
    """
    draft = get_object_or_404(Draft.objects.select_related("run"), pk=pk)
    draft.run = access_run(user, draft.run_id)
    if not visible_parts(user, draft.run).verdict:
        raise Http404
    if to_check and not may_check(user):
        raise PermissionDenied(
            _("Checking a script again takes the role “reviewer” or “campaign manager”.")
        )
    if to_use and not user.has_perm(USE_UNREVIEWED):
        raise PermissionDenied(
            _("Using a script that nobody has reviewed takes the role “reviewer”.")
        )
    return draft


def may_check(user: User) -> bool:
    """Whether the person may have the static checks made again."""
    return user.has_perm(ASK) or user.has_perm(MANAGE)


def access_endpoints(user: User) -> QuerySet[Endpoint]:
    """Every endpoint with its prices, for who manages them."""
    require_endpoint_manager(user)
    return Endpoint.objects.prefetch_related("prices")


def access_endpoint(user: User, name: str) -> Endpoint:
    """An endpoint by its name, for who manages them."""
    return get_object_or_404(access_endpoints(user), name=name)


def access_configurations(user: User, *, to_manage: bool = False) -> QuerySet[Configuration]:
    """The configurations with who plays which role, for who chooses among them or manages them."""
    if to_manage or not (user.has_perm(ASK) or user.has_perm(MANAGE)):
        require_endpoint_manager(user)
    return Configuration.objects.prefetch_related("roles__endpoint")


def access_spending(user: User) -> QuerySet[Spending]:
    """What was asked and paid, for those who answer for campaigns or endpoints."""
    if not (user.has_perm(MANAGE) or user.has_perm(MANAGE_ENDPOINTS)):
        raise PermissionDenied(_("Costs are for campaign managers and administrators."))
    return Spending.objects.all()


def access_configuration(user: User, name: str) -> Configuration:
    """A configuration by its name, for who manages them."""
    found = access_configurations(user, to_manage=True).select_related("created_by")
    return get_object_or_404(found, name=name)


def access_prompts(user: User, name: str = "", *, to_write: bool = False) -> None:
    """Prompts are read by who asks, who runs studies and who manages them, and written by the last.

    403 for others, and 404 where there is no prompt of this name.
    """
    if to_write or not (user.has_perm(ASK) or user.has_perm(MANAGE)):
        require_endpoint_manager(user)
    if name and name not in prompts.names():
        raise Http404


def require_endpoint_manager(user: User) -> None:
    """Raise PermissionDenied for who does not manage endpoints."""
    if not user.has_perm(MANAGE_ENDPOINTS):
        raise PermissionDenied(_("Endpoints are for administrators."))
