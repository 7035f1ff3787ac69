"""Tests that the settings guide is up to date, and that links in documents work in the repository and under Help."""

from __future__ import annotations

import io
import re
from pathlib import Path

from django.core.management import call_command
from django.utils.text import slugify

from scriptsmith_site.operation.help import GUIDES, render_guide

ROOT = Path(__file__).resolve().parents[3]


def test_settings_guide_lists_every_setting() -> None:
    out = io.StringIO()
    call_command("settings_table", stdout=out)
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == out.getvalue(), (
        "run `python manage.py settings_table > docs/settings.md`"
    )


def test_links_in_documents_lead_to_files_and_headings() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "deploy" / "README.md"]:
        text = page.read_text(encoding="utf-8")
        for target, heading in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", text):
            path = page.parent / target if target else page
            assert path.exists(), f"{page.name}: {target}"
            if heading:
                headings = re.findall(r"^##+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
                assert heading in map(slugify, headings), f"{page.name}: {target}#{heading}"


def test_help_shows_every_guide_with_links_to_guides_and_headings() -> None:
    assert set(GUIDES) == {page.stem for page in ROOT.glob("docs/*.md")}
    body = render_guide("integrations")[1]
    assert '<h2 id="slash-commands">' in body
    assert 'href="/help/git-mirror/"' in body and ".md" not in body
