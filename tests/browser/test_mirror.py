"""Tests for the Git mirror in a browser: setup, connection test, a push by another user that stops it, and a branch
import."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import problems_of
from tests.browser.pictures import hide_path, take
from tests.site.mirror.conftest import Repository
from tests.site_process import Site

pytestmark = pytest.mark.nightly

_ADDRESS = "https://git.example.org/team/catalogue.git"
_PUBLISH = """
from django.contrib.auth.models import Group, User
from catalog import services as catalog
titles = {
    "Restart nginx if its configuration is valid": "nginx -t\\nsystemctl reload nginx\\n",
    "Show the ten largest files below a folder": "du -ah /var | sort -rh | head\\n",
    "Delete exports older than 30 days": "find /srv/shop/exports -type f -mtime +30 -delete\\n",
}
author = User.objects.get(username="carla")
curator, _made = User.objects.get_or_create(username="curt", first_name="Curt", last_name="Cole")
curator.groups.set(Group.objects.filter(name="curator"))
for title, script in titles.items():
    version = catalog.create_entry(title, script="#!/usr/bin/env bash\\nset -euo pipefail\\n" + script, by=author)
    catalog.verify(version, by=curator, note="It was tried on a test machine.")
    print(version.entry.slug)
"""
_SUSPEND = """
from django.contrib.auth.models import User
from catalog.entries import services as entries
from catalog.models import Entry
entry = Entry.objects.get(slug="{slug}")
entries.suspend(entry, by=User.objects.get(username="carla"), reason="INC-8")
"""
_CLEAR = """
from scriptsmith_site.models import Mirror, MirrorBranch, MirrorCommit
for model in (MirrorBranch, MirrorCommit, Mirror): model.objects.all().delete()
"""


def wait_for(page: Page, what: Locator) -> None:
    """Reload the page until this element is visible. A worker's changes appear within seconds."""
    for _try in range(60):
        page.goto("/integrations/mirror/")
        with suppress(AssertionError):
            expect(what).to_be_visible(timeout=2_000)
            break
    expect(page.locator("#commits[hx-get]")).to_have_count(0)
    page.reload()
    expect(what).to_be_visible()


def test_a_mirror_is_set_up_tested_stopped_and_a_branch_comes_back(
    site: Site, sign_in: Callable[..., Page], tmp_path: Path
) -> None:
    folder = Path(site.environment["SCRIPTSMITH_MIRROR_FOLDER"])
    folder.mkdir(exist_ok=True)
    repository = Repository(folder / "catalogue.git")
    subprocess.run(["chmod", "-R", "a+rwX", folder], check=True)
    # Use the titles that the site assigned, because another test may have entries with the same titles.
    restart, _show, delete = site.run(_PUBLISH).split()
    page = sign_in("adam")
    page.goto("/integrations/mirror/")
    assert problems_of(page) == []
    page.keyboard.press("n")
    page.get_by_role("textbox", name="Repository").fill(str(repository.path))
    assert problems_of(page) == []
    page.keyboard.press("Control+Enter")
    commits = page.locator("#commits tbody")
    expect(commits.get_by_text("Pushed").first).to_be_visible()
    page.keyboard.press("t")
    expect(page.get_by_text("Test started. The result appears")).to_be_visible()
    site.run(_SUSPEND.format(slug=delete))
    expect(page.locator("#commits[hx-get]")).to_have_count(0)
    wait_for(page, commits.get_by_text("Suspended:"))
    assert problems_of(page) == []
    hide_path(page, repository.path, behind=_ADDRESS)
    take(page, "git-mirror", narrow=True)
    clone = repository.clone(tmp_path / "clone")
    script = (clone / f"verified/{restart}/script.sh").read_text()
    better = script.replace("reload nginx", "reload nginx\nsystemctl is-active --quiet nginx")
    assert better != script
    files = {f"verified/{restart}/script.sh": better, "notes.txt": "Look at it again.\n"}
    repository.commit(clone, files, "Say whether it came up", push="came-up")

    curator = sign_in("carla")
    curator.goto("/integrations/mirror/branches/")
    curator.get_by_role("textbox", name="Branch").fill("came-up")
    curator.keyboard.press("Control+Enter")
    expect(curator.get_by_role("button", name="Submit for review")).to_be_visible(timeout=30_000)
    curator.reload()
    assert problems_of(curator) == []
    take(curator, "git-mirror-branch", narrow=True)
    curator.keyboard.press("Control+Enter")
    expect(curator.get_by_text("1 version is in review")).to_be_visible()
    curator.goto("/integrations/mirror/branches/")
    assert problems_of(curator) == []

    repository.commit(clone, {"notes.txt": "In a hurry.\n"}, "A shortcut", push="main")
    site.run(_SUSPEND.format(slug=restart))
    wait_for(page, page.get_by_text("Stopped because ScriptSmith did not write the last commit"))
    assert problems_of(page) == []
    hide_path(page, repository.path, behind=_ADDRESS)
    take(page, "git-mirror-stopped", narrow=True)
    page.get_by_role("button", name="Continue from this commit").click()
    expect(commits.get_by_text("Files restored")).to_be_visible()
    expect(page.locator("#commits[hx-get]")).to_have_count(0)
    repository.check()
    assert repository.log[-1].startswith(f"Suspend {restart}")
    site.run(_CLEAR)
