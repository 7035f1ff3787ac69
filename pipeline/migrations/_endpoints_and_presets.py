"""Default rows: the endpoints known from the start, their prices, and the preset configurations.

Only the demo model is on. Django's loader skips modules that begin with an underscore.
"""

from __future__ import annotations

from datetime import date

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

ENDPOINTS = [
    {
        "name": "demo",
        "title": "Demo model",
        "base_url": "demo:",
        "mode": "schema",
        "demo": True,
        "max_in_flight": 64,
        "timeout_seconds": 30,
    },
    {
        "name": "claude",
        "title": "Claude",
        "base_url": "https://api.anthropic.com",
        "key_variable": "ANTHROPIC_API_KEY",
        "mode": "schema",
        "has_batches": True,
        "max_in_flight": 8,
        "timeout_seconds": 180,
    },
    {
        "name": "ollama",
        "title": "Ollama on this machine",
        "base_url": "http://127.0.0.1:11434",
        "mode": "text",
        "takes_temperature": True,
        "max_in_flight": 1,
        "timeout_seconds": 300,
    },
]

# USD per million tokens times 1,000,000: input, output, cache read, cache write (5 minutes).
# From the vendor's price tables as of the day given.
SINCE = date(2026, 10, 7)
PRICES = [
    ("demo", "demo-smith", 0, 0, 0, 0),
    ("claude", "claude-haiku-5-5", 100_000, 500_000, 10_000, 125_000),
    ("claude", "claude-sonnet-5-5", 2_000_000, 10_000_000, 100_000, 2_500_000),
    ("claude", "claude-opus-5-5", 4_000_000, 20_000_000, 200_000, 5_000_000),
]

# name, title, preset, then endpoint and model of generator, assessor, refiner.
CONFIGURATIONS = [
    (
        "demo",
        "Demo model",
        "self_reflection",
        ("demo", "demo-smith"),
        ("demo", "demo-smith"),
        ("demo", "demo-smith"),
    ),
    (
        "claude-self-reflection",
        "Claude Sonnet reviews itself",
        "self_reflection",
        ("claude", "claude-sonnet-5-5"),
        ("claude", "claude-sonnet-5-5"),
        ("claude", "claude-sonnet-5-5"),
    ),
    (
        "claude-peer-review",
        "Opus writes, Sonnet assesses",
        "peer_review",
        ("claude", "claude-opus-5-5"),
        ("claude", "claude-sonnet-5-5"),
        ("claude", "claude-opus-5-5"),
    ),
    (
        "claude-strong-refiner",
        "Haiku writes and assesses, Opus refines",
        "strong_refiner",
        ("claude", "claude-haiku-5-5"),
        ("claude", "claude-haiku-5-5"),
        ("claude", "claude-opus-5-5"),
    ),
    (
        "local-peer-review",
        "Local models: one writes, another assesses",
        "peer_review",
        ("ollama", "llama3.1:70b"),
        ("ollama", "llama3.1:8b"),
        ("ollama", "llama3.1:70b"),
    ),
]


def make(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    Endpoint = apps.get_model("pipeline", "Endpoint")
    Price = apps.get_model("pipeline", "Price")
    Configuration = apps.get_model("pipeline", "Configuration")
    RoleSetting = apps.get_model("pipeline", "RoleSetting")
    endpoints = {values["name"]: Endpoint.objects.create(**values) for values in ENDPOINTS}
    for endpoint, model, *amounts in PRICES:
        Price.objects.create(
            endpoint=endpoints[endpoint],
            model=model,
            since=SINCE,
            **dict(zip(("input", "output", "cache_read", "cache_write"), amounts, strict=True)),
        )
    for name, title, preset, *players in CONFIGURATIONS:
        configuration = Configuration.objects.create(
            name=name, title=title, preset=preset, is_default=name == "demo"
        )
        for role, (endpoint, model) in zip(
            ("generator", "assessor", "refiner"), players, strict=True
        ):
            RoleSetting.objects.create(
                configuration=configuration, role=role, endpoint=endpoints[endpoint], model=model
            )
    Configuration.objects.create(
        name="imported", title="Imported", preset="imported", rounds=0, uses_retrieval=False
    )
