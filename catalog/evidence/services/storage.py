"""Store test results, with one row per script, test suite, kind of machine and set of verdicts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet
from django.db.models.functions import Now

from catalog.evidence.services.shipped import store_shipped
from catalog.execution import cases
from catalog.execution.cases import State
from catalog.execution.cases.display import show
from catalog.execution.quality import Quality, add_quality, as_document, quality_document
from catalog.models import CaseSet, CheckResult, CheckState, Execution

JUDGED = (State.PASSED, State.FAILED)


def hash_statement(statement: str) -> str:
    """Hash a request text, ignoring differences in whitespace and case."""
    return hashlib.sha256(" ".join(statement.casefold().split()).encode()).hexdigest()


def keep_case_set(
    case_set: cases.CaseSet,
    *,
    by: User | None,
    prompt_version: str = "",
    replaces: CaseSet | None = None,
    is_revision: bool = False,
) -> CaseSet:
    """Return the row of this test suite, creating it if necessary. Equal tests share one row.

    `prompt_version` is the version of the prompt if a model wrote the tests. `replaces` is the suite that the author
    revised. `is_revision` marks suites created in a review. If a user later writes the same tests outside a review, the
    suite becomes a regular suite.
    """
    # Store only the fields that the author set. The search for unstable checks changes the working folder only if the
    # author did not set it.
    content = case_set.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
    kept, created = CaseSet.objects.get_or_create(
        sha256=case_set.sha256,
        defaults={
            "statement": case_set.statement,
            "statement_sha256": hash_statement(case_set.statement),
            "content": content,
            "author_kind": case_set.author.kind,
            "author_name": show(case_set.author.name),
            "by": by,
            "prompt_version": prompt_version,
            "replaces": replaces,
            "is_revision": is_revision,
        },
    )
    if created:
        store_shipped(kept)
    if kept.is_revision and not (created or is_revision):
        kept.is_revision = False
        kept.save(update_fields=["is_revision"])
    if kept.withdrawn_at is not None and by is not None and not is_revision:
        # The user has added these tests again, so the suite is no longer withdrawn.
        kept.withdrawn_at = None
        kept.save(update_fields=["withdrawn_at"])
    return kept


def withdraw_case_set(case_set: CaseSet) -> None:
    """Withdraw the suite. Drafts no longer run with this suite, and its results are excluded."""
    CaseSet.objects.filter(pk=case_set.pk, withdrawn_at=None).update(withdrawn_at=Now())


@transaction.atomic
def store_execution(case_set: CaseSet, execution: cases.Execution) -> Execution:
    """Store this result and return its row. If it repeats the last result, only increase the counter in the existing
    row.
    """
    fingerprint = execution.fingerprint
    fingerprint_sha256 = fingerprint.sha256 if fingerprint is not None else ""
    CaseSet.objects.select_for_update(of=("self",)).get(pk=case_set.pk)
    state = state_of(execution)
    is_like = Q(state=CheckState.NOT_RUN)
    last = (
        _executions(execution.script_sha256, case_set, fingerprint_sha256)
        .filter(is_like if state is State.NOT_RUN else ~is_like)
        .first()
    )
    if last is not None and not differs(last, execution):
        Execution.objects.filter(pk=last.pk).update(last_at=Now(), times=F("times") + 1)
        last.refresh_from_db(fields=["last_at", "times"])
        return last
    stored = Execution.objects.create(
        script_sha256=execution.script_sha256,
        case_set=case_set,
        fingerprint=dict(fingerprint.parts) if fingerprint is not None else {},
        fingerprint_sha256=fingerprint_sha256,
        state=state,
        reason=_reason(execution),
        passed=execution.count(State.PASSED),
        failed=execution.count(State.FAILED),
        others=sum(len(case.checks) for case in execution.cases) - execution.count(*JUDGED),
        worlds=sum(any(check.state in JUDGED for check in case.checks) for case in execution.cases),
        document=_document(execution),
        seconds=execution.seconds,
        # Use the database clock, so that results and reviewers' changes are in the correct order whichever machine ran
        # the tests.
        first_at=Now(),
        last_at=Now(),
    )
    stored.refresh_from_db(fields=["first_at", "last_at"])
    CheckResult.objects.bulk_create(
        CheckResult(
            execution=stored,
            case_number=case_number,
            number=number,
            case_title=show(case.title),
            sentence=check.sentence,
            state=check.state.value,
            got=check.got,
        )
        for case_number, case in enumerate(execution.cases, 1)
        for number, check in enumerate(case.checks, 1)
    )
    return stored


def keep_quality(stored: Execution, quality: Quality | None) -> None:
    """Add the quality of the tests to a result that has none yet. Pass None if measuring would take too long."""
    document = stored.document
    if quality is not None:
        document = {
            **document,
            "sentence": add_quality(document["sentence"], quality),
            "quality": quality_document(quality),
        }
    Execution.objects.filter(pk=stored.pk, quality_at=None).update(
        quality_at=Now(),
        small_errors=quality.mutants if quality is not None else None,
        noticed=quality.noticed if quality is not None else None,
        document=document,
    )


def last_execution(
    script_sha256: str, case_set: CaseSet, fingerprint_sha256: str | None = None
) -> Execution | None:
    """Return the last local result of a script. If a fingerprint is given, only results from that kind of machine are
    considered.

    An incomplete result (*not run*) is returned only if no complete result exists.
    """
    found = _executions(script_sha256, case_set, fingerprint_sha256)
    return found.order_by(_is_not_run().asc(), "-last_at", "-pk").first()


def _executions(
    script_sha256: str, case_set: CaseSet, fingerprint_sha256: str | None
) -> QuerySet[Execution]:
    found = Execution.objects.filter(script_sha256=script_sha256, case_set=case_set, imported=False)
    if fingerprint_sha256 is not None:
        found = found.filter(fingerprint_sha256=fingerprint_sha256)
    return found


def newest_results(found: QuerySet[Execution], *of: str) -> QuerySet[Execution]:
    """Return the newest result per group, preferring complete results and those of this installation."""
    return found.order_by(*of, _is_not_run().asc(), "imported", "-last_at", "-pk").distinct(*of)


def _is_not_run() -> ExpressionWrapper[Q]:
    return ExpressionWrapper(Q(state=CheckState.NOT_RUN), output_field=BooleanField())


def state_of(execution: cases.Execution) -> State:
    """Return the overall state: failed if any check failed, or else passed if any check has a verdict.

    If any check was not run, the whole result is *not run*, because that check might have failed. A *not run* result
    does not replace a complete result, and the tests run again.
    """
    if execution.count(State.NOT_RUN):
        return State.NOT_RUN
    if execution.count(State.FAILED):
        return State.FAILED
    if execution.count(State.PASSED):
        return State.PASSED
    return cases.results.worst(check.state for case in execution.cases for check in case.checks)


def _reason(execution: cases.Execution) -> str:
    if state_of(execution) is not State.NOT_RUN:
        return ""
    return next(
        check.got
        for case in execution.cases
        for check in case.checks
        if check.state is State.NOT_RUN
    )


def _document(execution: cases.Execution) -> dict[str, object]:
    """Return the data that is not stored in rows: the observations per scenario and the summary sentence."""
    document = as_document(execution)
    worlds = [
        {"title": case["title"], "state": case["state"], "seen": case["seen"]}
        for case in document["cases"]
    ]
    return {
        "sentence": document["sentence"],
        "worlds": worlds,
        "quality": None,
    }


def differs(last: Execution, execution: cases.Execution) -> bool:
    """Return whether any verdict differs from the last result. Checks that were unstable in the last result are
    ignored.
    """
    then = list(last.checks.order_by("case_number", "number").values_list("state", flat=True))
    now = [check.state for case in execution.cases for check in case.checks]
    return len(then) != len(now) or any(_is_other(*pair) for pair in zip(then, now, strict=True))


def _is_other(then: str, now: State) -> bool:
    return then != now.value and then != State.UNSTABLE.value


def without_unstable(stored: Execution, execution: cases.Execution) -> cases.Execution:
    """Return the execution with the checks that are unstable in `stored` marked as unstable, so that they have no
    verdict.
    """
    unstable = {
        (one.case_number, one.number): one.got
        for one in stored.checks.filter(state=CheckState.UNSTABLE)
    }

    def mark(case_number: int, case: cases.CaseResult) -> cases.CaseResult:
        checks = tuple(
            replace(check, state=State.UNSTABLE, got=unstable[case_number, number])
            if (case_number, number) in unstable
            else check
            for number, check in enumerate(case.checks, 1)
        )
        return replace(case, checks=checks)

    marked = tuple(mark(number, case) for number, case in enumerate(execution.cases, 1))
    return replace(execution, cases=marked)


def changed_checks(before: Execution, after: Execution) -> Sequence[tuple[CheckResult, str]]:
    """Return the checks of `after` whose state differs in `before`, each with its earlier state."""
    then = {(one.case_number, one.number): one.state for one in before.checks.all()}
    return [
        (one, then.get((one.case_number, one.number), ""))
        for one in after.checks.all()
        if then.get((one.case_number, one.number)) != one.state
    ]


def changed_environment(before: Execution, after: Execution) -> Sequence[tuple[str, str, str]]:
    """Return (tool, version before, version after) for each tool whose version differs between the machines."""
    then, now = before.fingerprint, after.fingerprint
    return [
        (name, then.get(name, ""), now.get(name, ""))
        for name in dict.fromkeys((*then, *now))
        if then.get(name) != now.get(name)
    ]


def forget_author(user: User) -> None:
    """Replace the author name in a user's suites and their content with the name of the anonymized account.

    The hashes do not change, because they exclude the author.
    """
    for case_set in CaseSet.objects.filter(by=user, author_kind="person").iterator(chunk_size=100):
        case_set.author_name = show(user.username)
        case_set.content["author"]["name"] = user.username
        case_set.save(update_fields=["author_name", "content"])
