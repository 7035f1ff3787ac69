"""What people read of a failed model call: what happened, what was done about it, and what they can do."""

from __future__ import annotations

import pytest

from pipeline.ledger.failures import describe_attempt, explain_attempts, explain_reading
from pipeline.llm.types import Trouble, UsageDoubt
from pipeline.models import Attempt, Run

FAILED, QUEUED = Run(state="failed"), Run(state="queued")
NOT_AGAIN = "It was not tried again: that would have changed nothing."
RESTS = "The endpoint rests; the run goes on by itself and keeps no worker."
FREE = "Nothing was billed for it."
NO_REPLY = "It may have been billed although no reply came."
OF_NO_USE = "A server that bills has billed it, though its reply is of no use."


def test_refused_requests_are_explained_by_status(subtests: pytest.Subtests) -> None:
    cases = {
        400: ("refused the request as it was put", "mode and limits"),
        401: ("did not accept the key", "set the right key"),
        403: ("may not be used for this", "may use this model"),
        404: ("knows no such model", "check the endpoint's address"),
        409: ("refused the request", "mode and limits"),
        413: ("too large for the server", "with less context"),
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
        ("busy", 429, "had too many requests", "Nothing has to be done."),
        ("busy", 503, "was not available", "Nothing has to be done."),
        ("busy", 529, "were overloaded", "Nothing has to be done."),
        ("unreachable", None, "No connection to the server", "Nothing has to be done."),
        ("limit", 402, "can't pay at present", "Raise the limit or pay at the provider"),
        ("limit", 429, "A spend limit of the account", "Raise the limit or pay at the provider"),
        ("limit", 400, "A spend limit of the account", "Raise the limit or pay at the provider"),
    ]
    for outcome, status, happened, advice in cases:
        with subtests.test(outcome, status=status):
            tried = Attempt(outcome=outcome, http_status=status)
            found = explain_attempts([tried], run=QUEUED)
            assert happened in found.happened and advice in found.advice
            assert found.done == f"{RESTS} {FREE}"


def test_repeated_tries_are_explained_and_may_have_been_billed(subtests: pytest.Subtests) -> None:
    later = "Resume the run later, or run it with another configuration."
    cases = [
        ("broken", 500, "", "failed while it answered", later),
        ("broken", 502, "", "no proper answer", later),
        ("broken", 504, "", "gave up waiting for it", later),
        ("broken", None, "", "could not be read as a message", later),
        ("timeout", None, "ReadError", "connection broke", later),
        ("timeout", None, "", "took too long", "allow the endpoint more time"),
    ]
    for outcome, status, kind, happened, advice in cases:
        with subtests.test(happened):
            values = {"outcome": outcome, "http_status": status, "error_type": kind}
            found = explain_attempts([Attempt(**values, possibly_billed=True)] * 2, run=FAILED)
            assert happened in found.happened and advice in found.advice
            assert found.done == f"It was tried 2 times. {NO_REPLY}"


def test_troubles_of_the_transport_have_their_own_words(subtests: pytest.Subtests) -> None:
    cases = {
        Trouble.TOO_LARGE: ("larger than the limit", "SCRIPTSMITH_MOST_REPLY_BYTES", OF_NO_USE),
        Trouble.ENCODING: ("could not be decoded", "pass replies unchanged", OF_NO_USE),
        Trouble.HEADERS: ("more headers than the limit", "what answers at the", OF_NO_USE),
        Trouble.REDIRECT: ("to another address, which was not asked", "enter the address", FREE),
        Trouble.CERTIFICATE: ("certificate is not accepted", "renew the certificate", FREE),
        Trouble.WEB_PAGE: ("A web page came back", "a page for people answers there", FREE),
        Trouble.ADDRESS: ("where no model is asked", "host name leads", FREE),
        Trouble.CONTEXT: ("more tokens than", "SCRIPTSMITH_LOCAL_MODEL_CONTEXT", FREE),
        Trouble.TLS: ("No encrypted connection", "speaks https://", FREE),
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
        "refused": ("refused to write this script", "Say in other words what is to be done"),
        "truncated": ("was cut short", "allow longer replies"),
        "empty": ("answered with nothing", "another model"),
        "unparsed": ("No script could be read", "another model"),
    }
    for outcome, (happened, advice) in cases.items():
        with subtests.test(outcome):
            found = explain_reading(outcome, asked_again=outcome != "refused")
            assert happened in found.happened and advice in found.advice
            assert ("was asked again, once" in found.done) is (outcome != "refused")
