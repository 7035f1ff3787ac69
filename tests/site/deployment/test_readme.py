"""The README lists the settings as they are."""

from __future__ import annotations

import io
import re
from pathlib import Path

from django.core.management import call_command

ROOT = Path(__file__).resolve().parents[3]


def test_the_table_of_settings_is_up_to_date() -> None:
    out = io.StringIO()
    call_command("settings_table", stdout=out)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("<!-- settings -->\n")[1].split("<!-- /settings -->")[0]
    names = re.compile(r"^\| `(\w+)`", re.MULTILINE)
    assert names.findall(shown) == names.findall(out.getvalue()), (
        "run `python manage.py settings_table` and put its output between the marks in README.md"
    )


def test_every_file_the_readme_links_to_is_there() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
