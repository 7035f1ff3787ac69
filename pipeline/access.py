"""Permissions. Views get objects only through this module, which also determines the visible parts of a Run.

Every signed-in user may see actions and runs. Requesting a script requires the permission `pipeline.ask`. Requesters
may rerun, cancel and retry their own actions, and managers may do so for all actions. Administrators may cancel all
runs.
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
ERASE = "pipeline.erase_texts"
MANAGE_ENDPOINTS = "pipeline.manage_endpoints"
USE_UNREVIEWED = "catalog.use_unreviewed"
# The review app, which depends on this app, defines the permission.
MANAGE = "review.manage_campaigns"


@dataclass(frozen=True)
class VisibleParts:
    """The parts of a Run that a page or serializer may show, in addition to the statement, context and state.

    `verdict` covers everything that reveals the assessor's opinion: assessments, feedback, the drafts and stages that
    result from them, the ledger, the cost and the duration. `models` covers the models of the roles and whether the
    script was imported.
    """

    verdict: bool = True
    models: bool = True


def visible_parts(user: User, run: Run) -> VisibleParts:
    """Return the parts of this Run that this user may see. Every page and serializer must call this function.

    The function also records that the user has seen the verdict, because the caller is about to show it.

    A run from `access_runs` is already marked by its query. Other runs need one more query.
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
    """Return the runs whose verdict the user may see."""
    return _without(user, runs, "hides_verdict")


def shown_models(user: User, runs: QuerySet[Run]) -> QuerySet[Run]:
    """Return the runs whose configuration the user may see."""
    return _without(user, runs, "hides_models")


def shown_state(run: Run, parts: VisibleParts) -> str:
    """Return the run's state as this user may see it.

    If the verdict is hidden, work requested after the run's end is hidden too. A refinement in progress would reveal
    that the run had no earlier refinement. If the end is hidden too, the run is shown as running until all work is
    done.
    """
    if not parts.verdict and getattr(run, "hides_end", False):
        return Run.State.RUNNING
    if not parts.verdict and run.finished_at is not None and run.recommended_id is not None:
        return Run.State.DONE
    return run.state


def with_shown_state(user: User, runs: QuerySet[Run]) -> QuerySet[Run]:
    """Annotate the runs with `shown_state`, for filters."""
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
    whens = [ended]
    if "hides_end" in marked.query.annotations:
        whens.insert(
            0, When(hides_verdict=True, hides_end=True, then=Value(Run.State.RUNNING.value))
        )
    return marked.annotate(shown_state=Case(*whens, default=F("state")))


def _without(user: User, runs: QuerySet[Run], mark: str) -> QuerySet[Run]:
    if hooks.mark_hidden_runs is None:
        return runs
    return hooks.mark_hidden_runs(user, runs).filter(**{mark: False})


def require_asker(user: User, *, or_manager: bool = False) -> None:
    """Raise PermissionDenied unless the user may request scripts. Managers may rerun other users' requests."""
    if not (user.has_perm(ASK) or (or_manager and user.has_perm(MANAGE))):
        raise PermissionDenied(_("Requesting a script requires the Reviewer role."))


def access_actions(user: User) -> QuerySet[Action]:
    """Return the actions that the user may see."""
    actions = Action.objects.select_related("asked_by")
    return hooks.mark_hidden_actions(user, actions) if hooks.mark_hidden_actions else actions


def access_action(
    user: User, pk: int, *, to_run: bool = False, to_edit: bool = False, to_erase: bool = False
) -> Action:
    """Return an action. Raises PermissionDenied if the user may not run, edit or erase it as requested."""
    action = get_object_or_404(access_actions(user), pk=pk)
    if to_run and not may_run(user, action):
        raise PermissionDenied(_("Only the requester or a manager can start runs of this request."))
    if to_edit and not may_edit(user, action):
        raise PermissionDenied(
            _("Only the requester can edit a request, and only until its first run starts.")
        )
    if to_erase and not user.has_perm(ERASE):
        raise PermissionDenied(_("Only administrators can erase texts."))
    return action


def may_run(user: User, action: Action) -> bool:
    """Return whether the user may send this action through the pipeline again."""
    # The demo's actions have no owner, so every requester may try them.
    theirs = action.asked_by_id == user.pk or action.source == Action.Source.DEMO
    return user.has_perm(MANAGE) or (user.has_perm(ASK) and theirs)


def may_edit(user: User, action: Action) -> bool:
    """Return whether the user may edit or delete this request. Only the requester may do so, before a run starts."""
    is_theirs = action.asked_by_id == user.pk and action.source == Action.Source.ASKED
    return (
        is_theirs
        and user.has_perm(ASK)
        and action.erased_at is None
        and not action.runs.exclude(started_at=None).exists()
    )


def access_runs(user: User) -> QuerySet[Run]:
    """Return the runs that the user may see."""
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


def access_run(user: User, pk: int, *, to_change: bool = False, to_cancel: bool = False) -> Run:
    """Return a run. Raises PermissionDenied if the user may not change or cancel it as requested."""
    run = get_object_or_404(access_runs(user), pk=pk)
    if to_cancel and not may_cancel(user, run):
        raise PermissionDenied(
            _("Only the requester, a manager or an administrator can cancel this run.")
        )
    if to_change and not may_change(user, run):
        raise PermissionDenied(_("Only the requester or a manager can change this run."))
    return run


def may_cancel(user: User, run: Run) -> bool:
    """Return whether the user may cancel this run. Administrators may do so to free an endpoint."""
    return user.has_perm(MANAGE_ENDPOINTS) or may_change(user, run)


def may_change(user: User, run: Run) -> bool:
    """Return whether the user may retry this run or respond to its catalogue match."""
    asked = user.has_perm(ASK) and run.asked_by_id == user.pk
    return asked or may_run(user, run.action)


def access_draft(user: User, pk: int, *, to_use: bool = False, to_check: bool = False) -> Draft:
    """Return a draft of a visible run. Raises PermissionDenied if the user may not use or check it as requested.

    Raises Http404 for a hidden draft, because the number of drafts reveals the verdict.
    """
    draft = get_object_or_404(Draft.objects.select_related("run"), pk=pk)
    draft.run = access_run(user, draft.run_id)
    if not visible_parts(user, draft.run).verdict:
        raise Http404
    if to_check and not may_check(user):
        raise PermissionDenied(_("Repeating the checks requires the Reviewer or Manager role."))
    if to_use and not user.has_perm(USE_UNREVIEWED):
        raise PermissionDenied(_("Using a script without review requires the Reviewer role."))
    return draft


def may_check(user: User) -> bool:
    """Return whether the user may repeat the static checks."""
    return user.has_perm(ASK) or user.has_perm(MANAGE)


def access_endpoints(user: User) -> QuerySet[Endpoint]:
    """Return every endpoint with its prices, for endpoint managers."""
    require_endpoint_manager(user)
    return Endpoint.objects.prefetch_related("prices")


def access_endpoint(user: User, name: str) -> Endpoint:
    """Return the endpoint with this name, for endpoint managers."""
    return get_object_or_404(access_endpoints(user), name=name)


def access_configurations(user: User, *, to_manage: bool = False) -> QuerySet[Configuration]:
    """Return the configurations with their roles, for users who choose or manage them."""
    if to_manage or not (user.has_perm(ASK) or user.has_perm(MANAGE)):
        require_endpoint_manager(user)
    return Configuration.objects.prefetch_related("roles__endpoint")


def access_spending(user: User) -> QuerySet[Spending]:
    """Return spending, for users who manage campaigns or endpoints."""
    if not (user.has_perm(MANAGE) or user.has_perm(MANAGE_ENDPOINTS)):
        raise PermissionDenied(_("Viewing costs requires the Manager or Administrator role."))
    return Spending.objects.all()


def access_configuration(user: User, name: str) -> Configuration:
    """Return the configuration with this name, for configuration managers."""
    found = access_configurations(user, to_manage=True).select_related("created_by")
    return get_object_or_404(found, name=name)


def access_prompts(user: User, name: str = "", *, to_write: bool = False) -> None:
    """Check access to prompts: requesters and managers may read them, and endpoint managers may also write them.

    Raises PermissionDenied for other users, and Http404 for an unknown prompt name.
    """
    if to_write or not (user.has_perm(ASK) or user.has_perm(MANAGE)):
        require_endpoint_manager(user)
    if name and name not in prompts.names():
        raise Http404


def require_endpoint_manager(user: User) -> None:
    """Raise PermissionDenied unless the user manages endpoints."""
    if not user.has_perm(MANAGE_ENDPOINTS):
        raise PermissionDenied(
            _("Managing endpoints and configurations requires the Administrator role.")
        )
