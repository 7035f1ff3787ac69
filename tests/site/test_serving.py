"""What is loaded before the web processes part."""

from __future__ import annotations

import subprocess
import sys

import pytest

_LOADED = """
import scriptsmith_site.wsgi
import sys
from django.template import engines
from django.urls import get_resolver

(cached,) = engines["django"].engine.template_loaders
print(len(cached.get_template_cache), "review.desk.views.desk" in sys.modules, get_resolver()._populated)
"""


@pytest.mark.slow
def test_views_and_templates_are_loaded_before_the_first_page_is_asked_for() -> None:
    """In a process of its own, as gunicorn would load it."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED], check=True, capture_output=True, text=True, timeout=60
    )
    templates, views, addresses = done.stdout.split()
    assert int(templates) > 200 and (views, addresses) == ("True", "True")
