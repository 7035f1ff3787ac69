"""Which modules each kind of process loads before it works: they decide about memory and the time of a start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_SHARED = "from scriptsmith_site.embedded.load import load; load(8000)"
_DJANGO = "import django; django.setup()"
_WEB = f"{_SHARED}; from core.preloading import load_ahead; load_ahead()"
# For tests, single sign-on and second factors, the mirror, statistics, models and the API's description.
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


@pytest.mark.parametrize(
    ("load", "never", "most"),
    [
        pytest.param(_DJANGO, _FOR_FEW | {"redis", "celery.apps.worker"}, 2_000, id="a command"),
        pytest.param(_SHARED, _FOR_FEW, 2_350, id="supervisor and workers"),
        pytest.param(_WEB, {"anthropic", "xllamacpp"}, 3_300, id="web"),
    ],
)
def test_process_loads_few_modules(tmp_path: Path, load: str, never: set[str], most: int) -> None:
    show = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{load}\n{show}"],
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
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert loaded & never == set()
    assert len(loaded) <= most
