"""What the real API refuses is refused here, so that no test passes on an impossible request."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import anthropic
import pytest

from tests.pipeline.standin.asking import VERDICT, Options, ask, schema, shape_of, tool
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
    """Status, body and headers of an answer to a request that the SDK would never send."""
    request = urllib.request.Request(f"{standin.url}/v1/messages", data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, json.load(error), error.headers


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"extra_body": {"temperature": 1.0}}, "temperature", id="temperature"),
        pytest.param({"extra_body": {"top_p": 0.9}}, "top_p", id="top_p"),
        pytest.param({"extra_body": {"top_k": 5}}, "top_k", id="top_k"),
        pytest.param(
            {"extra_body": {"seed": 7}}, "seed: Extra inputs", id="a field it does not know"
        ),
        pytest.param({"max_tokens": 0}, "max_tokens", id="no tokens to answer with"),
        pytest.param({"max_tokens": 10_000_000}, "max_tokens", id="more tokens than there are"),
        pytest.param({"max_tokens": "100"}, "max_tokens", id="max_tokens as text"),
        pytest.param({"model": ""}, "model", id="no model"),
        pytest.param({"messages": []}, "messages", id="no messages"),
        pytest.param(
            {"messages": [*PLAIN["messages"], {"role": "assistant", "content": "{"}]},
            "prefill",
            id="prefill",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": ""}]}, "non-empty", id="empty content"
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]},
            "non-whitespace",
            id="blank text block",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": [{"type": "sound"}]}]},
            "sound",
            id="unknown kind of block",
        ),
        pytest.param(
            {"system": [{"type": "text", "text": ""}]}, "non-empty", id="empty system block"
        ),
        pytest.param(
            {**tool(VERDICT), "model": "claude-opus-5-5"},
            "tool_choice",
            id="forced tool on Opus 5.5",
        ),
        pytest.param(
            {**tool(VERDICT), "model": "claude-fable-5-1"}, "tool_choice", id="forced tool on Fable"
        ),
        pytest.param(
            {**tool(VERDICT), "thinking": {"type": "adaptive"}},
            "tool_choice",
            id="forced tool while thinking",
        ),
        pytest.param(
            {"tool_choice": {"type": "any"}}, "tool_choice", id="forced tool without tools"
        ),
        pytest.param(
            {**tool(VERDICT), "tool_choice": {"type": "tool", "name": "other"}},
            "not found",
            id="a tool that is not there",
        ),
        pytest.param(
            {"model": "claude-opus-5-5", "thinking": {"type": "disabled"}},
            "thinking",
            id="thinking switched off where it can't be",
        ),
        pytest.param(
            {"thinking": {"type": "enabled", "budget_tokens": 2000}},
            "budget_tokens",
            id="thinking budget over max_tokens",
        ),
        pytest.param(
            schema(shape_of(points={"type": "array", "items": {"type": "string"}, "maxItems": 3})),
            "maxItems",
            id="a schema keyword that is not supported",
        ),
        pytest.param(
            schema({"type": "object", "properties": {}}),
            "additionalProperties",
            id="an open object in a schema",
        ),
        pytest.param({"output_config": {"effort": "most"}}, "effort", id="unknown effort"),
        pytest.param({"stop_sequences": [" "]}, "stop_sequences", id="blank stop sequence"),
    ],
)
def test_an_impossible_request_is_refused_with_its_reason(
    standin: StandIn, client: anthropic.Anthropic, changes: Options, reason: str
) -> None:
    with pytest.raises(anthropic.BadRequestError) as refusal:
        client.messages.create(**{**PLAIN, **changes})
    assert reason in str(refusal.value.api_message)
    assert refusal.value.type == "invalid_request_error"
    assert str(refusal.value.request_id).startswith("req_")
    assert standin.totals() == {"requests": 1, "billed": 0, "input_tokens": 0, "output_tokens": 0}


@pytest.mark.parametrize("missing", ["model", "max_tokens", "messages"])
def test_a_field_that_is_missing_is_named(standin: StandIn, missing: str) -> None:
    body = {name: value for name, value in PLAIN.items() if name != missing}
    status, answer, _ = post(standin, json.dumps(body).encode(), HEADERS)
    assert (status, answer["error"]["message"]) == (400, f"{missing}: Field required")
    assert answer["type"] == "error"


@pytest.mark.parametrize(
    ("changes", "status", "kind"),
    [
        pytest.param({"authorization": ""}, 401, "authentication_error", id="no credential"),
        pytest.param({"authorization": "Bearer "}, 401, "authentication_error", id="empty key"),
        pytest.param({"anthropic-version": ""}, 400, "invalid_request_error", id="no version"),
        pytest.param(
            {"anthropic-version": "2020-01-01"}, 400, "invalid_request_error", id="no such version"
        ),
        pytest.param({"authorization": "", "x-api-key": "any"}, 200, None, id="the older header"),
    ],
)
def test_a_credential_and_a_version_are_needed(
    standin: StandIn, changes: dict[str, str], status: int, kind: str | None
) -> None:
    headers = {name: value for name, value in {**HEADERS, **changes}.items() if value}
    answered, body, sent = post(standin, json.dumps(PLAIN).encode(), headers)
    assert (answered, body.get("error", {}).get("type")) == (status, kind)
    assert sent["request-id"].startswith("req_")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"model": ', id="cut"),
        pytest.param(b"[1]", id="not an object"),
        pytest.param(b"\xff", id="not text"),
        pytest.param(b"[" * 100_000, id="too deep"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(standin: StandIn, body: bytes) -> None:
    assert post(standin, body, HEADERS)[0] == 400


@pytest.mark.slow
def test_a_body_over_32_megabytes_is_refused(standin: StandIn, client: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.ContentTooLargeError):
        ask(client, "describe", SCRIPT="#" * (33 * 1024 * 1024))


def test_other_addresses_are_not_found(standin: StandIn, client: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("no-such-model")
    with pytest.raises(anthropic.NotFoundError):
        client.messages.batches.retrieve("msgbatch_none")


def test_a_refused_request_spends_no_fault(standin: StandIn, client: anthropic.Anthropic) -> None:
    standin.faults({"kind": "status", "status": 529})
    with pytest.raises(anthropic.BadRequestError):
        client.messages.create(**{**PLAIN, "extra_body": {"temperature": 0}})
    with pytest.raises(anthropic.OverloadedError):
        client.messages.create(**PLAIN)
