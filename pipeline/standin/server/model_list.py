"""The models that GET /v1/models lists. Requests may name any other model too."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.standin.server.message_request import MAX_INPUT_TOKENS, MAX_OUTPUT_TOKENS

# Two names, so that one model can write and the other can assess.
MODELS = {"demo-smith": "Demo model", "demo-smith-2": "Demo model, by another name"}

_CREATED = "2026-01-01T00:00:00Z"
_LEVELS = ("low", "medium", "high", "xhigh", "max")


def describe_model(name: str) -> dict[str, object]:
    """Describe one model as the Messages API does."""
    return {
        "type": "model",
        "id": name,
        "display_name": MODELS[name],
        "created_at": _CREATED,
        "lifecycle": "active",
        "deprecated_at": None,
        "retires_at": None,
        "line": None,
        "max_input_tokens": MAX_INPUT_TOKENS,
        "max_tokens": MAX_OUTPUT_TOKENS,
        "capabilities": {
            **_support(
                ("batch", "citations", "code_execution", "image_input", "pdf_input"), yes=False
            ),
            **_support(("structured_outputs",), yes=True),
            "context_management": {"supported": False},
            "effort": {"supported": True, **_support(_LEVELS, yes=True)},
            "server_tools": {
                "supported": False,
                **_support(("code_execution", "web_search"), yes=False),
            },
            "thinking": {
                "supported": True,
                "types": _support(("adaptive", "between_tools", "disabled", "enabled"), yes=True),
            },
        },
    }


def list_models() -> dict[str, object]:
    """Return all models on one page."""
    names = list(MODELS)
    data = [describe_model(name) for name in names]
    return {"data": data, "first_id": names[0], "last_id": names[-1], "has_more": False}


def list_models_like_ollama() -> dict[str, object]:
    """Return all models in Ollama's format for /v1/models."""
    return {
        "object": "list",
        "data": [
            {"id": name, "object": "model", "created": 1767225600, "owned_by": "library"}
            for name in MODELS
        ],
    }


def _support(names: Iterable[str], *, yes: bool) -> dict[str, object]:
    return {name: {"supported": yes} for name in names}
