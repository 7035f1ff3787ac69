"""Read an endpoint's key from the environment just before it is used. Keys are never stored."""

from __future__ import annotations

import os

from django.utils.translation import gettext as _

from pipeline.models import Endpoint
from pipeline.types import Problem

# The variable's value is sent to the endpoint as a key. Therefore only variables with this prefix,
# or with the well-known name of a model service's key, are read.
KEY_PREFIX = "SCRIPTSMITH_KEY_"
KNOWN_KEYS = frozenset(
    {
        "AI21_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "AZURE_API_KEY",
        "AZURE_OPENAI_API_KEY",
        "CEREBRAS_API_KEY",
        "COHERE_API_KEY",
        "DEEPSEEK_API_KEY",
        "FIREWORKS_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GROQ_API_KEY",
        "HF_TOKEN",
        "LITELLM_API_KEY",
        "LITELLM_MASTER_KEY",
        "LLAMA_API_KEY",
        "LM_API_TOKEN",
        "MISTRAL_API_KEY",
        "MOONSHOT_API_KEY",
        "NVIDIA_API_KEY",
        "OLLAMA_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "PERPLEXITYAI_API_KEY",
        "SAMBANOVA_API_KEY",
        "TOGETHER_API_KEY",
        "VLLM_API_KEY",
        "WATSONX_APIKEY",
        "WATSONX_API_KEY",
        "XAI_API_KEY",
        "ZAI_API_KEY",
    }
)


def key_of(endpoint: Endpoint) -> str:
    """Return the key, or a placeholder if no key is needed. Raises Problem if the variable is not set or may not be
    read.
    """
    name = endpoint.key_variable
    if not name:
        return "none"
    why = why_key_is_not_read(endpoint)
    if why:
        raise Problem(f"{endpoint}: {why}")
    key = os.environ.get(name, "")
    if not key:
        raise Problem(f"{endpoint} needs its key in the environment variable {name}.")
    return key


def has_key(endpoint: Endpoint) -> bool:
    """Return whether this process has the key."""
    name = endpoint.key_variable
    return bool(name and is_key_variable(name) and os.environ.get(name))


def why_key_is_not_read(endpoint: Endpoint) -> str:
    """Return why the endpoint is paused until its variable is renamed, or an empty string if it is not paused.

    Endpoints that are older than this rule keep their variable's name, but nothing is sent to them.
    """
    name = endpoint.key_variable
    if not name or is_key_variable(name):
        return ""
    return _(
        "%(name)s is not a variable for model keys, so its value is not sent. Put the key in a "
        "variable whose name starts with %(prefix)s and enter that name on the endpoint's page."
    ) % {"name": name, "prefix": KEY_PREFIX}


def is_key_variable(name: str) -> bool:
    """Return whether a variable with this name may contain a key that is sent to an endpoint."""
    return name in KNOWN_KEYS or (name.startswith(KEY_PREFIX) and len(name) > len(KEY_PREFIX))
