"""Tests for the log of requests and of the usage that would have been billed."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import anthropic
import pytest

from pipeline.standin.server.message_request import MessageRequest
from pipeline.standin.server.token_counts import InputUsage, PromptCache
from tests.pipeline.standin.asking import Client, ask, text_of
from tests.standin_process import StandIn


def test_each_call_is_logged_with_its_task_and_cost(standin: StandIn, client: Client) -> None:
    answer = ask(client, "describe", SCRIPT="df -h /")
    ask(client, "explain", STATEMENT="a", SCRIPT="b")
    described, explained = standin.calls()
    assert (described["number"], described["task"], described["mode"]) == (1, "describe", "text")
    assert (described["status"], described["billed"], described["fault"]) == (200, True, None)
    assert described["request_id"] == answer._request_id
    assert described["usage"] == answer.usage.to_dict() | {
        "output_tokens_details": {"thinking_tokens": 0}
    }
    assert "df -h /" in json.dumps(described["request"])
    assert described["request_sha256"] != explained["request_sha256"]
    assert standin.calls(task="explain") == [explained]


def test_the_totals_are_the_sum_of_what_was_billed(standin: StandIn, client: Client) -> None:
    usages = [ask(client, "describe", SCRIPT=f"echo {number}").usage for number in range(3)]
    assert standin.totals() == {
        "requests": 3,
        "billed": 3,
        "input_tokens": sum(usage.input_tokens for usage in usages),
        "output_tokens": sum(usage.output_tokens for usage in usages),
    }


def test_tokens_are_about_a_quarter_of_the_characters(client: Client) -> None:
    short, long = (ask(client, "describe", SCRIPT=f"echo {'x' * size}") for size in (10, 4010))
    assert long.usage.input_tokens - short.usage.input_tokens == 1000
    assert short.usage.output_tokens == -(-len(text_of(short)) // 4)
    counted = client.messages.count_tokens(
        model="a", messages=[{"role": "user", "content": "x" * 40}]
    )
    assert counted.input_tokens == 10


def test_a_success_carries_its_id_and_the_rate_limits(client: Client) -> None:
    raw = client.messages.with_raw_response.create(
        model="a", max_tokens=10, messages=[{"role": "user", "content": "a"}]
    )
    assert raw.headers["request-id"].startswith("req_")
    assert int(raw.headers["anthropic-ratelimit-requests-remaining"]) > 0
    assert "anthropic-ratelimit-output-tokens-reset" in raw.headers


def test_prefix_is_cached_above_the_floor(client: Client) -> None:
    marked = {"type": "text", "text": "y" * 8000, "cache_control": {"type": "ephemeral"}}
    usages = [ask(client, options={"system": [marked]}).usage for _ in range(2)]
    assert [usage.cache_creation_input_tokens for usage in usages] == [2000, 0]
    assert [usage.cache_read_input_tokens for usage in usages] == [0, 2000]
    assert usages[0].cache_creation.ephemeral_5m_input_tokens == 2000
    assert usages[0].input_tokens == usages[1].input_tokens == 2
    marked = {"type": "text", "text": "y" * 400, "cache_control": {"type": "ephemeral"}}
    usages = [ask(client, options={"system": [marked]}).usage for _ in range(2)]
    assert {usage.cache_read_input_tokens for usage in usages} == {0}
    assert {usage.input_tokens for usage in usages} == {102}


def test_a_cached_prefix_expires() -> None:
    now = [0.0]
    cache = PromptCache(clock=lambda: now[0])
    marked = {
        "type": "text",
        "text": "y" * 8000,
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
    }
    request = MessageRequest.model_validate(
        {
            "model": "a",
            "max_tokens": 1,
            "system": [marked],
            "messages": [{"role": "user", "content": "b"}],
        }
    )
    written, read = InputUsage(1, 0, 2000, 0), InputUsage(1, 0, 0, 2000)
    assert [cache.charge(request), cache.charge(request)] == [written, read]
    now[0] += 3601
    assert cache.charge(request) == written


@pytest.mark.slow
def test_the_log_file_has_a_line_for_each_request_and_no_texts(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    with StandIn("--log", str(file), "--latency", "0.05") as process:
        sdk = anthropic.Anthropic(api_key="any", base_url=process.url, max_retries=0)
        ask(sdk, "describe", SCRIPT="echo secret")
        process.reset()
    (line,) = file.read_text().splitlines()
    assert (json.loads(line)["task"], json.loads(line)["billed"]) == ("describe", True)
    assert "secret" not in line


def test_health_needs_no_credential(standin: StandIn) -> None:
    with urllib.request.urlopen(f"{standin.url}/healthz", timeout=60) as answer:
        assert json.load(answer)["status"] == "ok"
    assert standin.totals()["requests"] == 0
