"""Tests for schema, tool and text mode, and for the Ollama profile, which ignores the options that Ollama ignores."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import pytest
from anthropic.types import ToolUseBlock

from tests.pipeline.standin.asking import (
    VERDICT,
    Client,
    Options,
    ask,
    json_of,
    schema,
    shape_of,
    text_of,
    tool,
)
from tests.standin_process import StandIn

STATEMENT = "Delete *.tmp files older than 3 days in /data"
SCRIPT = "find /data -type f -name '*.tmp' -mtime +3 -delete"
NONCE = "x7Q-never-in-the-prompt"


@pytest.fixture(scope="module")
def ollama() -> Iterator[Client]:
    with StandIn("--profile", "ollama") as process:
        yield anthropic.Anthropic(api_key="any", base_url=process.url, max_retries=0, timeout=60)


def test_probe_finds_that_schemas_and_tools_bind(client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "a constant": {"const": NONCE},
        "the one word of an enumeration": {"type": "string", "enum": [NONCE]},
        "a definition": {"$ref": "#/$defs/nonce"},
        "a choice of one": {"anyOf": [{"type": "string", "const": NONCE}]},
    }
    for name, legal in cases.items():
        with subtests.test(name):
            shape = {**shape_of(word=legal), "$defs": {"nonce": {"const": NONCE}}}
            assert json_of(ask(client, options=schema(shape))) == {"word": NONCE}
            block = ask(client, options=tool(shape)).content[0]
            assert isinstance(block, ToolUseBlock)
            assert block.input == {"word": NONCE}


def test_schema_is_answered_alike_each_time(client: Client) -> None:
    answer = ask(client, "similarity", STATEMENT="a", FUNCTIONALITY="b", options=schema(VERDICT))
    assert (answer.stop_reason, len(answer.content)) == ("end_turn", 1)
    assert json_of(answer).keys() == {"verdict", "reason"}
    answers = [ask(client, "generate", STATEMENT=STATEMENT) for _ in range(3)]
    assert len({text_of(answer) for answer in answers}) == 1
    assert len({answer.id for answer in answers}) == 3
    assert {answer.model for answer in answers} == {"demo-smith"}


def test_a_schema_of_other_fields_is_satisfied_all_the_same(client: Client) -> None:
    shape = shape_of(
        verdict={"type": "string", "enum": ["yes", "no"]},
        count={"type": "integer"},
        sure={"type": "boolean"},
        notes={"type": "array", "items": shape_of(text={"type": "string"}), "minItems": 1},
        maybe={"type": ["null", "string"]},
    )
    answer = ask(client, "similarity", STATEMENT="a", FUNCTIONALITY="b", options=schema(shape))
    expected = {"verdict": "yes", "count": 0, "sure": False, "notes": [{"text": ""}], "maybe": None}
    assert json_of(answer) == expected


def test_tool_is_called_unless_forbidden(client: Client) -> None:
    shape = shape_of(script={"type": "string"})
    answer = ask(client, "generate", STATEMENT=STATEMENT, options=tool(shape))
    block = answer.content[0]
    assert answer.stop_reason == "tool_use"
    assert isinstance(block, ToolUseBlock)
    assert SCRIPT in str(block.input)
    options = {**tool(VERDICT), "tool_choice": {"type": "none"}}
    answer = ask(client, "similarity", STATEMENT="a", FUNCTIONALITY="b", options=options)
    assert [block.type for block in answer.content] == ["text"]


def test_text_holds_a_script_or_verdict_in_prose(client: Client) -> None:
    text = text_of(ask(client, "generate", STATEMENT=STATEMENT))
    assert text.count("```bash\n") == 1
    assert f"{SCRIPT}\n```" in text
    text = text_of(ask(client, "similarity", STATEMENT="a", FUNCTIONALITY="b"))
    assert not text.startswith("{")
    assert '"verdict": "' in text


def test_answer_ends_at_its_limits(client: Client) -> None:
    answer = ask(client, "generate", STATEMENT=STATEMENT, options={"max_tokens": 5})
    assert (answer.stop_reason, answer.usage.output_tokens) == ("max_tokens", 5)
    answer = ask(client, "generate", STATEMENT=STATEMENT, options={"stop_sequences": ["find"]})
    assert (answer.stop_reason, answer.stop_sequence) == ("stop_sequence", "find")
    assert text_of(answer).endswith("\n\n")


def test_thinking_counts_and_can_leave_no_room_for_text(client: Client) -> None:
    options: Options = {"model": "claude-opus-5-5", "output_config": {"effort": "high"}}
    answer = ask(client, "generate", STATEMENT=STATEMENT, options={**options, "max_tokens": 300})
    assert ([block.type for block in answer.content], answer.stop_reason) == (
        ["thinking"],
        "max_tokens",
    )
    answer = ask(client, "generate", STATEMENT=STATEMENT, options=options)
    assert [block.type for block in answer.content] == ["thinking", "text"]


def test_a_fence_inside_a_script_does_not_end_the_fence(client: Client) -> None:
    script = "cat > notes.md <<'END'\n```\nx\n```\nEND\n"
    text = text_of(
        ask(client, "refine", STATEMENT="write notes.md", SCRIPT=script, FEEDBACK="good")
    )
    assert f"````bash\n{script}````" in text


def test_models_are_listed_with_their_capabilities(client: Client) -> None:
    listed = list(client.models.list())
    assert [model.id for model in listed] == ["demo-smith", "demo-smith-2"]
    capabilities = client.models.retrieve("demo-smith").capabilities
    assert capabilities.structured_outputs.supported
    assert not capabilities.batch.supported


@pytest.mark.slow
def test_ollama_drops_formats_and_takes_what_the_api_refuses(ollama: Client) -> None:
    shape = shape_of(word={"const": NONCE})
    for options in (schema(shape), tool(shape)):
        answer = ask(ollama, options=options)
        assert [block.type for block in answer.content] == ["text"]
        assert NONCE not in text_of(answer)
    for options in (
        {"extra_body": {"temperature": 0.2}},
        {"extra_body": {"keep_alive": "5m"}},
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "{"}]},
    ):
        assert ask(ollama, options=options).stop_reason == "end_turn"


@pytest.mark.slow
def test_ollama_has_no_counting_no_ids_and_no_limits(ollama: Client) -> None:
    with pytest.raises(anthropic.NotFoundError) as missing:
        ollama.messages.count_tokens(model="a", messages=[{"role": "user", "content": "a"}])
    assert missing.value.request_id is None
    raw = ollama.messages.with_raw_response.create(
        model="a", max_tokens=10, messages=[{"role": "user", "content": "a"}]
    )
    assert not [name for name in raw.headers if name.startswith(("request-id", "anthropic-"))]
