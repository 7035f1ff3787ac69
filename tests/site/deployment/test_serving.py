"""Tests for modules loaded before the web workers fork, and for the limits of keep-alive connections."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scriptsmith_site.web import gunicorn_worker

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
    """Load the product in a separate process, as gunicorn does."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED], check=True, capture_output=True, text=True, timeout=60
    )
    templates, views, addresses = done.stdout.split()
    assert int(templates) > 200 and (views, addresses) == ("True", "True")


class _Asked:
    closes = False

    def force_close(self) -> None:
        self.closes = True


def test_most_requests_leave_the_connection_open_and_some_do_not() -> None:
    asked = [_Asked() for _number in range(2_000)]
    for one in asked:
        gunicorn_worker.pre_request(None, one)
    # A third of 2,000 is 667. These bounds are more than ten standard deviations away.
    assert 400 < sum(one.closes for one in asked) < 900
