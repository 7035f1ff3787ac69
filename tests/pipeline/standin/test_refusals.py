"""Tests that the demo model rejects the requests that the real API rejects, so that no test passes with an invalid
one."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import anthropic
import pytest

from tests.pipeline.standin.asking import VERDICT, Client, Options, ask, schema, shape_of, tool
from tests.standin_process import StandIn

PLAIN: Options = {
    "model": "demo-smith",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Hello."}],
}
HEADERS = {
    "content-type": "application/json",
    "authorization": "Bearer any",
    "anthropic-version": "2026-10-21",
}


def post(standin: StandIn, body: bytes, headers: dict[str, str]) -> tuple[int, Any, Any]:
    """Send a request that the SDK would never send, and return the status, body and headers of the response."""
    request = urllib.request.Request(f"{standin.url}/v1/messages", data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, json.load(error), error.headers


def test_an_impossible_request_is_refused_with_its_reason(
    standin: StandIn, client: Client, subtests: pytest.Subtests
) -> None:
    cases = {
        "temperature": ({"extra_body": {"temperature": 1.0}}, "temperature"),
        "top_p": ({"extra_body": {"top_p": 0.9}}, "top_p"),
        "top_k": ({"extra_body": {"top_k": 5}}, "top_k"),
        "a field it does not know": ({"extra_body": {"seed": 7}}, "seed: Extra inputs"),
        "no tokens to answer with": ({"max_tokens": 0}, "max_tokens"),
        "more tokens than there are": ({"max_tokens": 10_000_000}, "max_tokens"),
        "max_tokens as text": ({"max_tokens": "100"}, "max_tokens"),
        "no model": ({"model": ""}, "model"),
        "no messages": ({"messages": []}, "messages"),
        "prefill": (
            {"messages": [*PLAIN["messages"], {"role": "assistant", "content": "{"}]},
            "prefill",
        ),
        "empty content": ({"messages": [{"role": "user", "content": ""}]}, "non-empty"),
        "blank text block": (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]},
            "non-whitespace",
        ),
        "unknown kind of block": (
            {"messages": [{"role": "user", "content": [{"type": "sound"}]}]},
            "sound",
        ),
        "empty system block": ({"system": [{"type": "text", "text": ""}]}, "non-empty"),
        "forced tool on Opus 5.5": ({**tool(VERDICT), "model": "claude-opus-5-5"}, "tool_choice"),
        "forced tool on Fable": ({**tool(VERDICT), "model": "claude-fable-5-1"}, "tool_choice"),
        "forced tool while thinking": (
            {**tool(VERDICT), "thinking": {"type": "adaptive"}},
            "tool_choice",
        ),
        "forced tool without tools": ({"tool_choice": {"type": "any"}}, "tool_choice"),
        "a tool that is not there": (
            {**tool(VERDICT), "tool_choice": {"type": "tool", "name": "other"}},
            "not found",
        ),
        "thinking switched off where it can't be": (
            {"model": "claude-opus-5-5", "thinking": {"type": "disabled"}},
            "thinking",
        ),
        "thinking budget over max_tokens": (
            {"thinking": {"type": "enabled", "budget_tokens": 2000}},
            "budget_tokens",
        ),
        "a schema keyword that is not supported": (
            schema(shape_of(points={"type": "array", "items": {"type": "string"}, "maxItems": 3})),
            "maxItems",
        ),
        "an open object in a schema": (
            schema({"type": "object", "properties": {}}),
            "additionalProperties",
        ),
        "unknown effort": ({"output_config": {"effort": "most"}}, "effort"),
        "blank stop sequence": ({"stop_sequences": [" "]}, "stop_sequences"),
    }
    for name, (changes, reason) in cases.items():
        with subtests.test(name):
            with pytest.raises(anthropic.BadRequestError) as refusal:
                client.messages.create(**{**PLAIN, **changes})
            assert reason in str(refusal.value.api_message)
            assert refusal.value.type == "invalid_request_error"
            assert str(refusal.value.request_id).startswith("req_")
    assert standin.totals() == {
        "requests": len(cases),
        "billed": 0,
        "input_tokens": 0,
        "output_tokens": 0,
    }


def test_missing_field_is_named(standin: StandIn) -> None:
    for missing in ("model", "max_tokens", "messages"):
        body = {name: value for name, value in PLAIN.items() if name != missing}
        status, answer, _ = post(standin, json.dumps(body).encode(), HEADERS)
        assert (status, answer["error"]["message"]) == (400, f"{missing}: Field required")
        assert answer["type"] == "error"


def test_a_credential_and_a_version_are_needed(standin: StandIn, subtests: pytest.Subtests) -> None:
    cases = {
        "no credential": ({"authorization": ""}, 401, "authentication_error"),
        "empty key": ({"authorization": "Bearer "}, 401, "authentication_error"),
        "no version": ({"anthropic-version": ""}, 400, "invalid_request_error"),
        "no such version": ({"anthropic-version": "2020-01-01"}, 400, "invalid_request_error"),
        "the older header": ({"authorization": "", "x-api-key": "any"}, 200, None),
    }
    for label, (changes, status, kind) in cases.items():
        with subtests.test(label):
            headers = {name: value for name, value in {**HEADERS, **changes}.items() if value}
            answered, body, sent = post(standin, json.dumps(PLAIN).encode(), headers)
            assert (answered, body.get("error", {}).get("type")) == (status, kind)
            assert sent["request-id"].startswith("req_")


def test_unusable_body_and_address_are_refused(standin: StandIn, client: Client) -> None:
    bodies = (b'{"model": ', b"[1]", b"\xff", b"[" * 100_000)
    assert [post(standin, body, HEADERS)[0] for body in bodies] == [400] * len(bodies)
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("no-such-model")
    with pytest.raises(anthropic.NotFoundError):
        client.messages.batches.retrieve("msgbatch_none")


@pytest.mark.slow
def test_a_body_over_32_megabytes_is_refused(client: Client) -> None:
    with pytest.raises(anthropic.ContentTooLargeError):
        ask(client, "describe", SCRIPT="#" * (33 * 1024 * 1024))


def test_a_refused_request_spends_no_fault(standin: StandIn, client: Client) -> None:
    standin.faults({"kind": "status", "status": 529})
    with pytest.raises(anthropic.BadRequestError):
        client.messages.create(**{**PLAIN, "extra_body": {"temperature": 0}})
    with pytest.raises(anthropic.OverloadedError):
        client.messages.create(**PLAIN)
