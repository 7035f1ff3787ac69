"""The model calls of a run, for its page: requests, replies and attempts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.utils import timezone

from pipeline.clients.destinations import may_bill
from pipeline.display_names import stage_label
from pipeline.ledger.failures import describe_attempt
from pipeline.models import Attempt, ModelCall, Run


@dataclass(frozen=True)
class Message:
    """A text in a request or reply, with its speaker."""

    speaker: str
    text: str


@dataclass(frozen=True)
class ShownCall:
    """A question to a model, with its attempts and reply."""

    call: ModelCall
    stage: str
    request: Sequence[Message]
    settings: str
    reply: Sequence[Message]
    attempts: Sequence[Attempt]

    @property
    def place(self) -> str:
        """Return the call's unique position in the run."""
        call = self.call
        again = [str(part) for part in (call.round, call.sample, call.refinement_id) if part]
        return " ".join([self.stage, *again])

    @property
    def tries(self) -> list[tuple[Attempt, str]]:
        """Return each attempt, with an explanation if it got no reply or its tokens are unknown."""
        return [
            (one, describe_attempt(one) if one.outcome != "answered" or one.is_uncounted else "")
            for one in self.attempts
        ]

    @property
    def input_tokens(self) -> int:
        """Return the input tokens of all attempts."""
        return sum(attempt.input_tokens for attempt in self.attempts)

    @property
    def output_tokens(self) -> int:
        """Return the output tokens of all attempts."""
        return sum(attempt.output_tokens for attempt in self.attempts)

    @property
    def milliseconds(self) -> int:
        """Return the total time of all attempts in milliseconds. Open and lost attempts count from their start."""
        return sum(_spent(attempt) for attempt in self.attempts)

    @property
    def state(self) -> str:
        """Return the call's state. An open call is running, waiting or stopped, depending on its run."""
        if self.call.state != ModelCall.State.OPEN:
            return self.call.state
        if not self.call.run.is_active:
            return "cancelled"
        return "running" if self.since else "queued"

    @property
    def since(self) -> datetime | None:
        """Return when the attempt in flight began, or None."""
        return next((one.started_at for one in self.attempts if one.ended_at is None), None)

    @property
    def may_be_billed(self) -> bool:
        return may_bill(self.call.endpoint)

    @property
    def cost(self) -> int | None:
        """Return the total cost in micro-dollars, or None if a price is missing or no attempt was answered."""
        answered = [one for one in self.attempts if one.outcome == Attempt.Outcome.ANSWERED]
        known = [one.cost for one in answered if one.cost is not None]
        return sum(known) if known and len(known) == len(answered) else None

    @property
    def price_since(self) -> date | None:
        """Return the first day of the price that was used, or None if no price was used."""
        return max((one.price_since for one in self.attempts if one.price_since), default=None)

    @property
    def is_unpriced(self) -> bool:
        """Return whether the call was answered at an unknown price."""
        return any(
            one.cost is None and one.outcome == Attempt.Outcome.ANSWERED and not one.is_uncounted
            for one in self.attempts
        )

    @property
    def is_uncounted(self) -> bool:
        """Return whether a reply had no usable token count."""
        return any(one.is_uncounted for one in self.attempts)

    @property
    def is_doubtful(self) -> bool:
        """Return whether an attempt was possibly billed without an answer."""
        return self.may_be_billed and any(attempt.possibly_billed for attempt in self.attempts)


def show_calls(run: Run) -> list[ShownCall]:
    """Return the calls in order, with their attempts."""
    calls = run.calls.select_related("endpoint").prefetch_related("attempts").order_by("created_at")
    return [
        ShownCall(
            call=call,
            stage=stage_label(call.stage),
            request=list(_read_request(call.request)),
            settings=_write({k: v for k, v in _fields(call.request) if k not in _TEXTS}),
            reply=list(_read_content(_get(call.reply, "content"), "assistant")),
            attempts=list(call.attempts.all()),
        )
        for call in calls
    ]


def _spent(attempt: Attempt) -> int:
    if attempt.milliseconds is not None:
        return attempt.milliseconds
    lasted = (attempt.ended_at or timezone.now()) - attempt.started_at
    return round(lasted.total_seconds() * 1_000)


_TEXTS = ("system", "messages")


def _read_request(request: object) -> Iterator[Message]:
    yield from _read_content(_get(request, "system"), "system")
    messages = _get(request, "messages")
    for message in messages if isinstance(messages, list) else []:
        yield from _read_content(_get(message, "content"), str(_get(message, "role")))


def _read_content(content: object, speaker: str) -> Iterator[Message]:
    """Yield the texts of a message: a string, or a list of blocks. Blocks without text are shown as JSON."""
    if isinstance(content, str):
        yield Message(speaker, content)
    for block in content if isinstance(content, list) else []:
        text = _get(block, "text")
        yield Message(speaker, text if isinstance(text, str) else _write(block))


def _fields(stored: object) -> list[tuple[str, object]]:
    return list(stored.items()) if isinstance(stored, dict) else []


def _get(stored: object, name: str) -> object:
    return stored.get(name) if isinstance(stored, dict) else None


def _write(stored: object) -> str:
    return json.dumps(stored, indent=2, ensure_ascii=False)
