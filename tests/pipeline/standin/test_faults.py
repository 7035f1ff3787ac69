"""Tests for every fault as the SDK sees it, and for the fault's cost."""

from __future__ import annotations

import json
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor

import anthropic
import pytest

from tests.pipeline.standin.asking import VERDICT, Client, ask, json_of, schema, text_of, tool
from tests.standin_process import StandIn


def test_a_status_is_raised_as_its_error_and_not_billed(
    standin: StandIn, client: Client, subtests: pytest.Subtests
) -> None:
    cases = [
        (400, anthropic.BadRequestError, "invalid_request_error"),
        (401, anthropic.AuthenticationError, "authentication_error"),
        (402, anthropic.PaymentRequiredError, "billing_error"),
        (403, anthropic.PermissionDeniedError, "permission_error"),
        (404, anthropic.NotFoundError, "not_found_error"),
        (413, anthropic.ContentTooLargeError, "request_too_large"),
        (429, anthropic.RateLimitError, "rate_limit_error"),
        (500, anthropic.InternalServerError, "api_error"),
        (503, anthropic.ServiceUnavailableError, "api_error"),
        (504, anthropic.GatewayTimeoutError, "timeout_error"),
        (529, anthropic.OverloadedError, "overloaded_error"),
    ]
    for status, error, kind in cases:
        with subtests.test(status):
            standin.reset()
            standin.faults({"kind": "status", "status": status, "message": "Not now."})
            with pytest.raises(error) as raised:
                ask(client)
            assert (raised.value.type, raised.value.api_message) == (kind, "Not now.")
            assert [call["status"] for call in standin.calls(billed=False)] == [status]
            assert standin.totals()["billed"] == 0


def test_refused_status_names_its_reason(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "status", "status": 429, "retry_after": 12})
    with pytest.raises(anthropic.RateLimitError) as raised:
        ask(client)
    assert raised.value.response.headers["retry-after"] == "12"
    standin.faults({"kind": "status", "status": 502, "text": "<html>Bad gateway</html>"})
    with pytest.raises(anthropic.InternalServerError) as raised:
        ask(client)
    assert raised.value.type is None


def test_a_spend_limit_has_its_own_code_and_class(
    standin: StandIn, client: Client, subtests: pytest.Subtests
) -> None:
    cases = ("contract_spend_limit_reached", "enforced_spend_limit_reached", "ramp_limit_exceeded")
    for code in cases:
        with subtests.test(code):
            standin.faults({"kind": "status", "status": 429, "error_code": code})
            with pytest.raises(anthropic.RateLimitError) as raised:
                ask(client)
            assert raised.value.error_code == code
            assert type(raised.value) is not anthropic.RateLimitError


def test_answer_that_does_not_arrive_whole_is_billed(
    standin: StandIn, client: Client, subtests: pytest.Subtests
) -> None:
    errors: dict[str, type[Exception]] = {
        "delay": anthropic.APITimeoutError,
        "death": anthropic.APIConnectionError,
        "cut": json.JSONDecodeError,  # the SDK does not catch this error
    }
    for kind, error in errors.items():
        standin.reset()
        standin.faults({"kind": kind, "seconds": 5} if kind == "delay" else {"kind": kind})
        with subtests.test(kind):
            with pytest.raises(error):
                ask(client.with_options(timeout=1 if kind == "delay" else 60))
            assert standin.totals()["billed"] == 1


def test_broken_answer_keeps_its_stop_reason(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "max_tokens"})
    answer = ask(client, "describe", SCRIPT="rm -rf /tmp/x", options=schema(VERDICT))
    assert answer.stop_reason == "max_tokens"
    with pytest.raises(json.JSONDecodeError):
        json_of(answer)
    standin.faults({"kind": "refusal", "category": "cyber"})
    answer = ask(client, "generate", STATEMENT="Kill process 7")
    assert (answer.stop_reason, answer.content) == ("refusal", [])
    assert answer.stop_details.category == "cyber"
    assert standin.totals()["billed"] == 2


def test_a_text_may_be_any_of_the_samples(
    standin: StandIn, client: Client, subtests: pytest.Subtests
) -> None:
    cases = {"several_fences": 4, "prose": 0, "nested_fence": 4, "no_script": 2, "nothing": 0}
    for sample, fences in cases.items():
        with subtests.test(sample):
            standin.faults({"kind": "text", "sample": sample})
            answer = ask(
                client, "generate", STATEMENT="Show free disk space", options=tool(VERDICT)
            )
            assert text_of(answer).count("```") == fences
            assert answer.stop_reason == "end_turn"


def test_answer_can_be_given_or_off_its_schema(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "text", "text": "verdict: maybe"})
    assert text_of(ask(client, "similarity")) == "verdict: maybe"
    standin.faults({"kind": "tool_input", "input": {"verdict": 7}})
    block = ask(client, "similarity", STATEMENT="a", options=tool(VERDICT)).content[0]
    assert block.type == "tool_use"
    assert (block.name, block.input) == ("answer", {"verdict": 7})
    standin.faults({"kind": "shape", "body": "a string"}, {"kind": "shape", "drop": ["usage"]})
    assert str(ask(client)) == "a string"
    assert ask(client).usage is None


def test_two_verdicts_may_contradict_each_other(
    standin: StandIn, client: Client, subtests: pytest.Subtests
) -> None:
    cases = [("similarity", "match", "mismatch"), ("explain", "error", "no_error")]
    for task, first, second in cases:
        with subtests.test(task):
            standin.faults({"kind": "contradiction"})
            lines = text_of(ask(client, task, STATEMENT="a")).split("\n\n")
            assert [json.loads(line)["verdict"] for line in lines] == [first, second]


def test_an_answer_may_be_thinking_only(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "thinking"})
    answer = ask(client, "similarity", STATEMENT="a")
    assert [block.type for block in answer.content] == ["thinking"]
    assert answer.usage.output_tokens_details.thinking_tokens > 0


@pytest.mark.slow
def test_dripping_answer_outlasts_timeout_of_sdk(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "drip", "seconds": 0.4, "bytes": 8})
    started = time.monotonic()
    answer = ask(client.with_options(timeout=2))
    assert time.monotonic() - started > 2.5
    assert answer.stop_reason == "end_turn"


@pytest.mark.slow
def test_a_connection_closed_while_idle_is_opened_again(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "close", "count": 3})
    for _ in range(4):
        # An immediate retry may use the connection that is closing, so a second retry is allowed.
        assert ask(client.with_options(max_retries=2)).stop_reason == "end_turn"
        time.sleep(0.05)
    assert standin.totals()["billed"] == 4


def test_rule_applies_to_task_model_and_later_requests(standin: StandIn, client: Client) -> None:
    standin.faults(
        {"kind": "text", "text": "spoilt", "task": "describe", "model": "b", "skip": 1, "count": 2}
    )
    asked = [("describe", "a"), ("explain", "b"), *[("describe", "b")] * 4]
    texts = [
        text_of(ask(client, task, SCRIPT="ls", options={"model": model})) for task, model in asked
    ]
    assert [text == "spoilt" for text in texts] == [False, False, False, True, True, False]
    assert standin.pending_faults() == []


def test_a_rule_without_count_strikes_until_reset(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "text", "text": "spoilt", "count": None})
    assert {text_of(ask(client)) for _ in range(3)} == {"spoilt"}
    assert standin.pending_faults() == [
        {"kind": "text", "text": "spoilt", "count": None, "left": None}
    ]
    standin.reset()
    assert text_of(ask(client)) != "spoilt"


def test_a_rule_that_is_wrong_is_refused(standin: StandIn, subtests: pytest.Subtests) -> None:
    cases = {
        "no such kind": {"kind": "flood"},
        "no such field": {"kind": "delay", "secs": 1},
        "not an error": {"kind": "status", "status": 200},
    }
    for name, rule in cases.items():
        with subtests.test(name):
            with pytest.raises(urllib.error.HTTPError) as refusal:
                standin.faults(rule)
            refusal.value.close()
            assert refusal.value.code == 400
            assert standin.pending_faults() == []


@pytest.mark.slow
def test_answers_are_made_side_by_side(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "delay", "seconds": 3, "count": None})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(client), range(8)))
    first, *_, last = standin.calls()
    assert isinstance(first["ended"], float) and isinstance(last["started"], float)
    assert last["started"] < first["ended"]
