"""Tests for the text about a failed model call: what happened, how the product responded, and what users can do."""

from __future__ import annotations

import pytest

from pipeline.ledger.failures import describe_attempt, explain_attempts, explain_reading
from pipeline.llm.types import Trouble, UsageDoubt
from pipeline.models import Attempt, Run

FAILED, QUEUED = Run(state="failed"), Run(state="queued")
NOT_AGAIN = "The call was not retried, because a retry would not have helped."
RESTS = "The endpoint is paused. The run continues automatically and does not occupy a worker."
FREE = "The call was not billed."
NO_REPLY = "The call may have been billed despite the missing reply."
OF_NO_USE = "The unusable reply was billed if the server charges for calls."


def test_refused_requests_are_explained_by_status(subtests: pytest.Subtests) -> None:
    cases = {
        400: ("rejected the request as invalid", "mode and limits"),
        401: ("did not accept the key", "set the correct key"),
        403: ("has no permission for this model", "may use this model"),
        404: ("does not have this model", "check the endpoint's address"),
        409: ("rejected the request", "mode and limits"),
        413: ("too large for the server", "Shorten the context"),
    }
    for status, (happened, advice) in cases.items():
        with subtests.test(status=status):
            tried = Attempt(outcome="refused", http_status=status, message="Words.")
            found = explain_attempts([tried], run=FAILED)
            assert happened in found.happened and advice in found.advice
            assert (found.done, found.evidence) == (
                f"{NOT_AGAIN} {FREE}",
                f"Words. (HTTP {status})",
            )


def test_waiting_runs_are_explained_by_outcome_and_status(subtests: pytest.Subtests) -> None:
    cases = [
        ("busy", 429, "received too many requests", "No action is needed."),
        ("busy", 503, "was not available", "No action is needed."),
        ("busy", 529, "were overloaded", "No action is needed."),
        ("unreachable", None, "could not be reached", "No action is needed."),
        (
            "limit",
            402,
            "has a payment problem",
            "Raise the limit or settle the bill with the provider",
        ),
        (
            "limit",
            429,
            "reached its spend limit",
            "Raise the limit or settle the bill with the provider",
        ),
        (
            "limit",
            400,
            "reached its spend limit",
            "Raise the limit or settle the bill with the provider",
        ),
    ]
    for outcome, status, happened, advice in cases:
        with subtests.test(outcome, status=status):
            tried = Attempt(outcome=outcome, http_status=status)
            found = explain_attempts([tried], run=QUEUED)
            assert happened in found.happened and advice in found.advice
            assert found.done == f"{RESTS} {FREE}"


def test_repeated_tries_are_explained_and_may_have_been_billed(subtests: pytest.Subtests) -> None:
    later = "Resume the run later, or choose another configuration."
    cases = [
        ("broken", 500, "", "failed during the reply", later),
        ("broken", 502, "", "returned an invalid response", later),
        ("broken", 504, "", "between ScriptSmith and the model timed out", later),
        ("broken", None, "", "could not be read as a message", later),
        ("timeout", None, "ReadError", "connection broke", later),
        ("timeout", None, "", "took too long", "increase the endpoint's timeout"),
    ]
    for outcome, status, kind, happened, advice in cases:
        with subtests.test(happened):
            values = {"outcome": outcome, "http_status": status, "error_type": kind}
            found = explain_attempts([Attempt(**values, possibly_billed=True)] * 2, run=FAILED)
            assert happened in found.happened and advice in found.advice
            assert found.done == f"2 attempts. {NO_REPLY}"


def test_troubles_of_the_transport_have_their_own_words(subtests: pytest.Subtests) -> None:
    cases = {
        Trouble.TOO_LARGE: ("larger than the limit", "SCRIPTSMITH_MOST_REPLY_BYTES", OF_NO_USE),
        Trouble.ENCODING: (
            "could not be decoded",
            "no proxy between ScriptSmith and the model changes replies",
            OF_NO_USE,
        ),
        Trouble.HEADERS: ("more headers than the limit", "probably another server", OF_NO_USE),
        Trouble.REDIRECT: ("redirects to another address", "enter the new address", FREE),
        Trouble.CERTIFICATE: ("certificate is not trusted", "renew the certificate", FREE),
        Trouble.WEB_PAGE: ("returned a web page", "perhaps a sign-in page", FREE),
        Trouble.ADDRESS: ("in a blocked network", "IP address of the endpoint's host", FREE),
        Trouble.CONTEXT: (
            "longer than the model's context window",
            "SCRIPTSMITH_LOCAL_MODEL_CONTEXT",
            FREE,
        ),
        Trouble.TLS: ("encrypted connection to the server failed", "supports https://", FREE),
        Trouble.PROXY: ("proxy did not connect", "SCRIPTSMITH_MODEL_PROXY", FREE),
    }
    for trouble, (happened, advice, billed) in cases.items():
        with subtests.test(trouble):
            tried = Attempt(
                outcome="refused", error_type=trouble, possibly_billed=billed == OF_NO_USE
            )
            found = explain_attempts([tried], run=FAILED)
            assert happened in found.happened and advice in found.advice
            assert found.done == f"{NOT_AGAIN} {billed}"


def test_doubtful_usage_of_an_answer_is_named() -> None:
    words = {
        UsageDoubt.NOT_REPORTED: "did not report the tokens",
        UsageDoubt.NOT_BELIEVED: "an impossible number of tokens",
    }
    for doubt, said in words.items():
        assert said in describe_attempt(Attempt(outcome="answered", error_type=doubt))


def test_replies_without_a_script_are_explained(subtests: pytest.Subtests) -> None:
    cases = {
        "refused": ("refused to write this script", "Rephrase the task and say why"),
        "truncated": ("was truncated", "allow longer replies"),
        "empty": ("reply was empty", "another model"),
        "unparsed": ("contained no readable script", "another model"),
    }
    for outcome, (happened, advice) in cases.items():
        with subtests.test(outcome):
            found = explain_reading(outcome, asked_again=outcome != "refused")
            assert happened in found.happened and advice in found.advice
            assert ("A second attempt" in found.done) is (outcome != "refused")
