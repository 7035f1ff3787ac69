"""Tests for the modules that each kind of process loads at startup, which determine memory use and startup time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

# Modules for tests, single sign-on, second factors, the mirror, statistics, models and the API schema.
_FOR_FEW = {
    "anthropic",
    "django.test",
    "dulwich",
    "fido2",
    "jwt",
    "numpy",
    "qrcode",
    "rest_framework.test",
    "scriptsmith_site.urls",
    "scriptsmith_site.web.home",
    "xllamacpp",
}


# A command loads the modules of the first step. The supervisor and the workers also load those of the second step, and
# the web processes those of the third. Each step has the modules that must not be loaded by then, and the maximum
# number of loaded modules.
_STEPS = (
    ("import django; django.setup()", _FOR_FEW | {"redis", "celery.apps.worker"}, 2_000),
    ("from scriptsmith_site.embedded.load import load; load(8000)", _FOR_FEW, 2_350),
    ("from core.preloading import load_ahead; load_ahead()", {"anthropic", "xllamacpp"}, 3_300),
)


def test_process_loads_few_modules(tmp_path: Path) -> None:
    show = "print(json.dumps(sorted(sys.modules)))"
    lines = "\n".join(f"{load}\n{show}" for load, _never, _most in _STEPS)
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{lines}"],
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "scriptsmith_site.settings",
            "SCRIPTSMITH_DATA": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    shown = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    for loaded, (load, never, most) in zip(shown, _STEPS, strict=True):
        assert never.isdisjoint(loaded), load
        assert len(loaded) <= most, load
