"""Form stories for the Git mirror."""

from __future__ import annotations

from scriptsmith_site.integrations.mirror import services
from scriptsmith_site.models import Mirror, MirrorBranch, MirrorCommit
from tests.catalog.shelf import shelve
from tests.forms.people_stories import at
from tests.forms.story import Story, World

PAGE = "/integrations/mirror/"
ADDRESS = "https://git.example.org/team/catalogue.git"


def a_mirror(world: World) -> str:
    services.set_up(services.Values(address=ADDRESS), by=world.person("administrator"))
    return PAGE


def a_paused_one(world: World) -> str:
    a_mirror(world)
    services.pause(by=world.person("administrator"))
    return PAGE


def a_stopped_one(world: World) -> str:
    a_mirror(world)
    now = Mirror.objects.get()
    now.diverged_at, now.head, now.found_head = now.created_at, "a" * 40, "b" * 40
    now.save()
    return PAGE


def a_mirror_for_curators(world: World) -> str:
    a_mirror(world)
    return f"{PAGE}branches/"


def a_branch(world: World) -> str:
    a_mirror(world)
    version = shelve("Print the uptime")
    found = {
        **{"place": "verified/print-the-uptime", "entry": version.entry_id, "from_version": 1},
        **{"title": "Print the uptime", "metadata": "title: Print the uptime\n"},
        **{"script": "uptime -s\n", "name": "Gita", "people": [["Gita", "gita@example.org"]]},
        **{"commit": "c" * 40, "problem": ""},
    }
    job = MirrorBranch.objects.create(
        branch="since", by=world.person("curator"), state="done", commit="c" * 40, found=[found]
    )
    return f"{PAGE}branches/{job.pk}/"


def now() -> Mirror:
    return Mirror.objects.get()


MIRROR = {
    ("integrations/mirror/form.html", "administrator"): [
        Story(
            at(f"{PAGE}edit/"),
            "mirror-edit",
            "Set up",
            {"address": ADDRESS, "branch": "catalogue", "secret": "a-token-of-theirs"},
        ).then(
            lambda w: (
                now().branch == "catalogue"
                and "a-token" not in w.text
                and "a-token" not in now().secret
            )
        ),
        Story(
            lambda w: f"{a_mirror(w)}edit/",
            "mirror-edit",
            "Save",
            {"secret_variable": "SCRIPTSMITH_OUT_GIT"},
            name="changed",
        ).then(lambda w: (now().secret_variable, now().edition) == ("SCRIPTSMITH_OUT_GIT", 2)),
    ],
    ("integrations/mirror/detail.html", "administrator"): [
        Story(a_mirror, "mirror-test", "Test now").then(lambda w: now().test_asked_at is not None),
        Story(a_mirror, "mirror-pause", "Pause", {"why": "They move house."}).then(
            lambda w: now().paused_why == "They move house."
        ),
        Story(a_paused_one, "mirror-resume", "Resume").then(lambda w: now().paused_at is None),
        Story(a_mirror, "mirror-remove", "Remove").then(lambda w: not Mirror.objects.exists()),
    ],
    ("integrations/mirror/_commits.html", "administrator"): [
        Story(a_stopped_one, "mirror-check", "Check again").then(
            lambda w: now().diverged_at is None and now().accepted_head is None
        ),
        Story(a_stopped_one, "mirror-go-on", "Continue from this commit").then(
            lambda w: (
                now().accepted_head == "b" * 40 and MirrorCommit.objects.get().kind == "accepted"
            )
        ),
    ],
    ("integrations/mirror/branches.html", "curator"): [
        Story(a_mirror_for_curators, "mirror-branches", "Read branch", {"branch": "since"}).then(
            lambda w: MirrorBranch.objects.get().branch == "since"
        )
    ],
    ("integrations/mirror/_branch.html", "curator"): [
        Story(a_branch, "mirror-branch-take", "Submit for review").then(
            lambda w: (
                MirrorBranch.objects.get().taken_at is not None
                and "1 version is in review" in w.text
            )
        )
    ],
}
