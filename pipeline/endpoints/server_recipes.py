"""Recipes for known Messages API servers, which fill in the form for a new endpoint.

The guide docs/models.md says how to configure these servers and which details were never verified. The mode is only an
expectation. The check finds the actual mode.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.endpoints.services import EndpointValues
from pipeline.types import Mode


@dataclass(frozen=True)
class Recipe:
    """A server's usual values, with its name in the form's URL."""

    name: str
    values: EndpointValues


RECIPES = (
    Recipe(
        "claude",
        EndpointValues(
            title="Claude",
            base_url="https://api.anthropic.com",
            key_variable="ANTHROPIC_API_KEY",
            mode=Mode.SCHEMA.value,
            has_batches=True,
            max_in_flight=8,
            timeout_seconds=180,
        ),
    ),
    Recipe(
        "ollama",
        EndpointValues(
            title="Ollama",
            base_url="http://127.0.0.1:11434",
            takes_temperature=True,
            max_in_flight=1,
            timeout_seconds=300,
        ),
    ),
    Recipe(
        "llama-cpp",
        EndpointValues(
            title="llama.cpp",
            base_url="http://127.0.0.1:8080",
            mode=Mode.TOOL.value,
            takes_temperature=True,
            max_in_flight=1,
            timeout_seconds=300,
        ),
    ),
    Recipe(
        "vllm",
        EndpointValues(
            title="vLLM",
            base_url="http://127.0.0.1:8001",
            mode=Mode.SCHEMA.value,
            takes_temperature=True,
            max_in_flight=16,
            timeout_seconds=180,
        ),
    ),
    Recipe(
        "lm-studio",
        EndpointValues(
            title="LM Studio",
            base_url="http://127.0.0.1:1234",
            max_in_flight=1,
            timeout_seconds=300,
        ),
    ),
    Recipe(
        "litellm",
        EndpointValues(
            title="LiteLLM",
            base_url="http://127.0.0.1:4000",
            key_variable="LITELLM_API_KEY",
            max_in_flight=8,
            timeout_seconds=180,
        ),
    ),
)
