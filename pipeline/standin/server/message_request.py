"""The request body of POST /v1/messages as typed data. Invalid requests are rejected."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Model = TypeVar("Model", bound=BaseModel)

# Token limits that /v1/models reports for every model.
MAX_OUTPUT_TOKENS = 128_000
MAX_INPUT_TOKENS = 200_000

# The fields that Ollama reads. It silently drops all others, including forced tools and formats.
_OLLAMA_FIELDS = {
    "model",
    "messages",
    "max_tokens",
    "system",
    "stop_sequences",
    "stream",
    "thinking",
}


class RequestRefused(Exception):
    """A rejected request, with the response's HTTP status, API error type and message."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


def refused(message: str) -> RequestRefused:
    """Return the API's error for an invalid request: 400, invalid_request_error."""
    return RequestRefused(400, "invalid_request_error", message)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CacheControl(_Strict):
    """A cache breakpoint."""

    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] = "5m"


class TextBlock(_Strict):
    """A text block, the only kind of block that the demo model reads."""

    type: Literal["text"]
    text: str
    cache_control: CacheControl | None = None
    citations: object = None


class OtherBlock(BaseModel):
    """A block that the API accepts and the demo model ignores."""

    model_config = ConfigDict(extra="allow", frozen=True)
    type: Literal["image", "document", "thinking", "redacted_thinking", "tool_use", "tool_result"]


Block = Annotated[TextBlock | OtherBlock, Field(discriminator="type")]


class Turn(_Strict):
    """One message of the conversation."""

    role: Literal["user", "assistant", "system"]
    content: str | list[Block]

    def text(self) -> str:
        """Return the text of this message."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(block.text for block in self.content if isinstance(block, TextBlock))


class Tool(_Strict):
    """A client tool."""

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,128}$")
    input_schema: dict[str, object]
    description: str = ""
    strict: bool = False
    type: Literal["custom"] | None = None
    cache_control: CacheControl | None = None
    input_examples: list[dict[str, object]] = []


class ToolChoice(_Strict):
    """The tool choice: whether the model must call a tool, and which tool."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool = False


class OutputFormat(_Strict):
    """A schema that the answer must satisfy."""

    type: Literal["json_schema"]
    schema_: dict[str, object] = Field(alias="schema")


class OutputConfig(_Strict):
    """The effort and format of the answer."""

    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: OutputFormat | None = None


class Thinking(_Strict):
    """The configuration of thinking before the answer."""

    type: Literal["adaptive", "disabled", "enabled", "between_tools"]
    budget_tokens: int | None = None
    display: Literal["summarized", "omitted"] | None = None


class MessageRequest(_Strict):
    """The body of POST /v1/messages."""

    model: str = Field(min_length=1, max_length=256)
    messages: list[Turn] = Field(min_length=1, max_length=100_000)
    max_tokens: int = Field(ge=1, le=MAX_OUTPUT_TOKENS)
    system: str | list[TextBlock] = ""
    tools: list[Tool] = []
    tool_choice: ToolChoice | None = None
    output_config: OutputConfig = OutputConfig()
    thinking: Thinking | None = None
    stop_sequences: list[str] = []
    cache_control: CacheControl | None = None
    metadata: dict[Literal["user_id"], str | None] | None = None
    service_tier: Literal["auto", "standard_only"] | None = None
    inference_geo: str | None = None
    speed: Literal["standard", "fast"] | None = None
    container: str | None = None
    diagnostics: dict[Literal["previous_message_id"], str | None] | None = None
    stream: bool = False

    @property
    def mode(self) -> Literal["tool", "schema", "text"]:
        """Return the answer mode. A format takes precedence over an optional tool."""
        choice = self.tool_choice.type if self.tool_choice else "auto"
        if self.tools and (
            choice in ("any", "tool") or (choice == "auto" and not self.output_config.format)
        ):
            return "tool"
        return "schema" if self.output_config.format else "text"

    def system_text(self) -> str:
        """Return the system prompt as one string."""
        if isinstance(self.system, str):
            return self.system
        return "\n".join(block.text for block in self.system)

    def user_text(self) -> str:
        """Return the text of all user turns."""
        return "\n".join(turn.text() for turn in self.messages if turn.role == "user")


def parse_request(body: object, *, loose: bool) -> MessageRequest:
    """Parse the request, or raise RequestRefused with one error.

    If `loose`, unknown fields are dropped silently, as Ollama does.
    """
    if not isinstance(body, dict):
        raise refused("The request body is not a JSON object.")
    if loose:
        body = {name: value for name, value in body.items() if name in _OLLAMA_FIELDS}
    return fit(MessageRequest, body)


def fit(shape: type[Model], value: object) -> Model:
    """Return `value` as `shape`, or raise RequestRefused with the most specific error and its location."""
    try:
        return shape.model_validate(value)
    except ValidationError as errors:
        # For a union of text and blocks, the deepest error is the most specific.
        error = max(errors.errors(include_url=False), key=lambda error: len(error["loc"]))
        place = ".".join(str(part) for part in error["loc"])
        raise refused(f"{place}: {error['msg']}" if place else error["msg"]) from None
