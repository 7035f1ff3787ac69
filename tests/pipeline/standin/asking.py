"""Send requests like those of the pipeline, for the tests in this folder."""

from __future__ import annotations

import json
from typing import Any

import anthropic
from anthropic.types import Message

from pipeline.flow.prompts import fence

# Keyword arguments for the SDK. Each test passes only the arguments that it tests.
Options = dict[str, Any]
Client = anthropic.Anthropic
# An action file with a broken draft, its repair, and a refinement.
ACTION = """
statement: Find the YAML files under /srv/deploy that have "staging" in their path
context: not read by the book
drafts:
  - script: |
      find /srv/deploy -name '*staging*.yaml
    repaired_by: 1
  - script: |
      find /srv/deploy -name '*staging*.yaml'
    functionality: Prints files under /srv/deploy whose name has
      "staging" in it.
    similarity: {verdict: match, reason: Both look for YAML files.}
    difference: {verdict: mismatch, differences: [Only the name is searched.], reason: Not so.}
    explanation: {verdict: error, points: ["Use -path: it may be a directory's name."]}
  - script: |
      find /srv/deploy -path '*staging*' -name '*.yaml'
    functionality: Prints YAML files under /srv/deploy with "staging" in their path.
    similarity: {verdict: match, reason: The same.}
    difference: {verdict: match, differences: [], reason: None.}
"""

VERDICT: dict[str, object] = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["match", "mismatch"]}, "reason": {"type": "string"}},
    "required": ["verdict", "reason"],
    "additionalProperties": False,
}  # fmt: skip


def schema(shape: dict[str, object]) -> Options:
    """Return the option that requires an answer that matches this schema."""
    return {"output_config": {"format": {"type": "json_schema", "schema": shape}}}


def shape_of(**properties: dict[str, object]) -> dict[str, object]:
    """Return the schema of an object that requires all these properties and allows no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def tool(shape: dict[str, object]) -> Options:
    """Return the option that requires a call to this tool."""
    tools = [{"name": "answer", "description": "The answer.", "input_schema": shape}]
    return {"tools": tools, "tool_choice": {"type": "tool", "name": "answer"}}


def ask(
    client: Client, task: str = "", /, *, options: Options | None = None, **texts: str
) -> Message:
    """Ask a question as the pipeline does, with a task and fenced texts."""
    sections = [fence(text, name) for name, text in texts.items()] or ["Hello."]
    request: Options = {
        "model": "demo-smith",
        "max_tokens": 4096,
        "system": f"Task: {task}\n\nAnswer with a JSON object." if task else "Be brief.",
        "messages": [{"role": "user", "content": "\n".join(sections)}],
        **(options or {}),
    }
    return client.messages.create(**request)


def text_of(message: Message) -> str:
    """Return the text of a reply."""
    return "".join(block.text for block in message.content if block.type == "text")


def json_of(message: Message) -> Any:
    """Return the JSON object of a reply in schema mode."""
    return json.loads(text_of(message))
