"""Tests that the checks of templates and static files in `make check` find planted errors and report their lines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import check_templates

BAD = """{% extends "base.html" %}
{# style="fine in a comment" #}
{% block head %}{% url 'home' as home %}{% endblock %}
{% block content %}
  <p style="color: red" onclick="go()"><script>go()</script>
  <img src="https://elsewhere.example/x.png"><b hx-vals="js:go()">{{ home }}</b>
  <b class="risk-high">{% for key, value in counts.items %}{% endfor %}</b>
LONG
{% endblock %}
"""


def test_planted_faults_are_listed_with_file_and_line(tmp_path: Path) -> None:
    shutil.copytree(check_templates.ROOT / "static", tmp_path / "static")
    page = tmp_path / "templates" / "bad.html"
    page.parent.mkdir()
    page.write_text(BAD.replace("LONG", "x" * 161))
    css = tmp_path / "static" / check_templates.STYLESHEET
    text = css.read_text()
    (muted,) = (found for found in check_templates.TOKEN.finditer(text) if found[1] == "muted")
    text = text.replace(muted[0], f"--muted: light-dark({muted[3]}, {muted[3]});")
    css.write_text(f"{text}\nb {{ color: #123; --unused: 1; top: var(--none) }}\n{' ' * 61_440}")
    with (tmp_path / "static" / "js" / "print.js").open("a") as module:
        module.write("import './live.js';\n")

    found = check_templates.faults(tmp_path)

    assert [line.partition(": ")[::2] for line in found["content_security_policy"]] == [
        ("templates/bad.html:5", "an inline style"),
        ("templates/bad.html:5", "an inline script"),
        ("templates/bad.html:5", "an inline handler"),
        ("templates/bad.html:6", "an evaluated value"),
        ("templates/bad.html:6", "a file from another host"),
    ]
    expected = {
        "line_lengths": ["bad.html:8", "61440 columns"],
        "risk_components": ["bad.html:7"],
        "mapping_loops": ["bad.html:7: counts.items"],
        "block_names": ["bad.html:4: set ['home'] in block content"],
        "page_weight": ["scriptsmith.css has", "js/print.js:"],
        "color_tokens": ["#123; use a token", "--none is not defined", "--unused is not used"],
    }
    for check, parts in expected.items():
        assert len(found[check]) == len(parts), found[check]
        assert all(part in line for part, line in zip(parts, found[check], strict=True))
    assert found.keys() == expected.keys() | {"content_security_policy", "color_contrast"}
    assert found["color_contrast"]
    assert all(
        "--muted on --" in line and "light theme" in line for line in found["color_contrast"]
    )


def test_contrast_of_black_on_white_is_21() -> None:
    assert check_templates.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert check_templates.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
