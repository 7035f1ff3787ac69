"""Test what a Messages API server really supports, through a client and an inspector.

A server that ignores `output_config.format` or `tool_choice` still returns 200. Therefore each mode is tested with a
schema whose only valid value is a random word. The prompt does not contain the word and asks for something else. If the
reply contains the word, the server enforces the schema.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace

from pipeline.flow.reading.readers import read_text
from pipeline.llm.probe_findings import (
    Found,
    Has,
    Inspector,
    KeyFound,
    ModeFound,
    ModelFacts,
    Outcome,
    Page,
)
from pipeline.llm.request_builder import RoleSpec, build_request, reply_of
from pipeline.llm.types import Failed, FailureKind, ModelClient, Target, Trouble
from pipeline.types import Mode, Question, ReadingOutcome, Reply, Role, StageName

MOST_CALLS = 3  # model calls, each with a reply of at most MAX_TOKENS; the rest of a check is free
MAX_TOKENS = 2048
MOST_MODELS = 500
MOST_NAME = 200

_SYSTEM = "You are greeted by a program. Answer with one short sentence in plain words."
_USER = "Good morning."
_ABSENT = (404, 405, 501)
_KEY_REFUSED = (401, 403)
# Some proxies report a rejected key with status 400, and only the message identifies it.
_KEY_WORDS = re.compile(r"api[ _-]?key|authenticat|authoriz|bearer|no connected db", re.IGNORECASE)


def probe(
    target: Target,
    *,
    client: ModelClient,
    inspector: Inspector,
    model: str = "",
    known: Iterable[str] = (),
    make_word: Callable[[], str] = lambda: f"w{secrets.token_hex(6)}",
    max_tokens: int = MAX_TOKENS,
) -> Found:
    """Find out what the server offers and which modes work, with at most MOST_CALLS model calls.

    `model` is the model to call. The default is the first of `known` that the server lists, then the first of `known`,
    then the first in the server's list.
    """
    page = inspector.get(target, "/v1/models?limit=1000")
    models = _models_in(page)
    found = Found(
        reachable=page.status is not None,
        models=models,
        key=KeyFound.REFUSED if _refuses_key(page.status, page.message) else KeyFound.UNKNOWN,
        problem=page.trouble or page.message,
    )
    if page.status is None:
        return found
    model = model or _choose(models, list(known))
    if not model:
        return replace(found, problem="no model")
    found = replace(found, model=model, facts=_facts_of(model, page), problem="")
    found = _ask_modes(found, target, client, make_word, max_tokens)
    if not any(_answered(mode) for mode in found.modes):
        return found
    return replace(
        found,
        batches=_has(inspector.get(target, "/v1/messages/batches?limit=1"), "data", list),
        count_tokens=_has(
            inspector.post(
                target,
                "/v1/messages/count_tokens",
                {"model": model, "messages": [{"role": "user", "content": _USER}]},
            ),
            "input_tokens",
            int,
        ),
    )


def _ask_modes(
    found: Found,
    target: Target,
    client: ModelClient,
    make_word: Callable[[], str],
    max_tokens: int,
) -> Found:
    """Test the schema and tool modes. Test text only if both modes failed, because text works if either mode does."""
    modes = {mode: ModeFound(mode) for mode in Mode}
    calls = 0
    for mode in (Mode.SCHEMA, Mode.TOOL, Mode.TEXT):
        if mode is Mode.TEXT and any(_answered(other) for other in modes.values()):
            modes[mode] = ModeFound(mode, Outcome.REAL)
            break
        modes[mode] = asked = _ask(target, client, found.model, mode, make_word(), max_tokens)
        calls += 1
        if asked.outcome is Outcome.FAILED and asked.failure is not FailureKind.BROKEN:
            break
    answered = any(_answered(one) for one in modes.values())
    best = next((mode for mode in Mode if modes[mode].outcome is Outcome.REAL), None)
    return replace(
        found,
        modes=tuple(modes.values()),
        recommended=best,
        key=KeyFound.ACCEPTED if answered else _key_after(asked, found.key),
        calls=calls,
        problem="" if best else asked.detail,
    )


def _key_after(asked: ModeFound, before: KeyFound) -> KeyFound:
    return KeyFound.REFUSED if _refuses_key(asked.http_status, asked.detail) else before


def _refuses_key(status: int | None, words: str) -> bool:
    return status in _KEY_REFUSED or (status == 400 and _KEY_WORDS.search(words) is not None)


def _ask(
    target: Target, client: ModelClient, model: str, mode: Mode, word: str, max_tokens: int
) -> ModeFound:
    """Make one call exactly as the pipeline does."""
    shape: dict[str, object] = {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": [word]}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    # The stage and role are not sent, so their values do not matter.
    question = Question(
        stage=StageName.DESCRIBE,
        role=Role.ASSESSOR,
        prompt="probe",
        user=_USER,
        system=_SYSTEM,
        prompt_version="",
        schema=shape,
        states_form=False,
    )
    role = RoleSpec(target.endpoint, 0, model, mode, max_tokens=max_tokens)
    [ended] = client.send([(target, build_request(question, role))])
    if isinstance(ended, Failed):
        return _after_failure(mode, ended)
    outcome, detail = _judge(mode, reply_of(ended.message), word)
    return ModeFound(
        mode,
        outcome,
        detail,
        ended.milliseconds,
        ended.usage.input + ended.usage.cache_read + ended.usage.cache_write,
        ended.usage.output,
    )


def _judge(mode: Mode, reply: Reply, word: str) -> tuple[Outcome, str]:
    reading = read_text(reply, "answer")
    if reading.outcome in (ReadingOutcome.REFUSED, ReadingOutcome.TRUNCATED):
        return Outcome.UNCLEAR, reading.outcome.value
    if mode is Mode.TEXT:
        said = bool(reply.text.strip())
        return (Outcome.REAL, "") if said else (Outcome.UNCLEAR, ReadingOutcome.EMPTY.value)
    # A model that sees the tool may write the call as text. In that case the schema is not enforced.
    is_held = mode is not Mode.TOOL or reply.tool_input is not None
    if is_held and reading.outcome is ReadingOutcome.READ and reading.text == word:
        return Outcome.REAL, ""
    if reading.outcome is ReadingOutcome.EMPTY and reply.tool_input is None:
        return Outcome.UNCLEAR, reading.outcome.value
    return Outcome.IGNORED, ""


def _after_failure(mode: Mode, ended: Failed) -> ModeFound:
    """Return the mode's result after a failure: REFUSED if the server rejected the mode, otherwise FAILED."""
    says_of_mode = ended.kind is FailureKind.REFUSED and not (
        ended.http_status is None
        or ended.error_type in (Trouble.REDIRECT, Trouble.WEB_PAGE)
        or _refuses_key(ended.http_status, ended.message)
    )
    return ModeFound(
        mode,
        Outcome.REFUSED if says_of_mode else Outcome.FAILED,
        ended.message,
        ended.milliseconds,
        http_status=ended.http_status,
        failure=ended.kind,
    )


def _answered(found: ModeFound) -> bool:
    """Return whether a model returned an answer."""
    return found.outcome in (Outcome.REAL, Outcome.IGNORED)


def _listed(page: Page) -> list[dict[str, object]]:
    data = page.fields.get("data")
    return [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []


def _models_in(page: Page) -> tuple[str, ...] | None:
    if page.status != 200 or not isinstance(page.fields.get("data"), list):
        return None
    names = (one.get("id") for one in _listed(page))
    return tuple(name for name in names if isinstance(name, str) and 0 < len(name) <= MOST_NAME)[
        :MOST_MODELS
    ]


def _choose(models: tuple[str, ...] | None, known: list[str]) -> str:
    listed = models or ()
    return next((name for name in known if name in listed), "") or next(iter([*known, *listed]), "")


def _facts_of(model: str, page: Page) -> ModelFacts:
    said = next((one for one in _listed(page) if one.get("id") == model), {})
    return ModelFacts(
        # vLLM reports max_model_len, which covers prompt and reply together.
        most_input_tokens=_number(said.get("max_input_tokens"))
        or _number(said.get("max_model_len")),
        most_output_tokens=_number(said.get("max_tokens")),
        lifecycle=_short(said.get("lifecycle")),
        retires_at=_short(said.get("retires_at")),
    )


def _has(page: Page, key: str, kind: type) -> Has:
    if isinstance(page.fields.get(key), kind):
        return Has.YES
    return Has.NO if page.status in _ABSENT else Has.UNKNOWN


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _short(value: object) -> str:
    return value[:40] if isinstance(value, str) else ""
