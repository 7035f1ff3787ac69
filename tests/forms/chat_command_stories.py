"""Form stories for slash commands."""

from __future__ import annotations

from scriptsmith_site.integrations.chat_commands import services
from scriptsmith_site.integrations.chat_commands.kept_secrets import unseal
from scriptsmith_site.models import ChatCommand
from tests.catalog.shelf import shelve
from tests.forms.story import Story, World, now

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
_PAGE = "integrations/chat_commands/detail.html"


def a_command(world: World, kind: str = "slack") -> str:
    shelve("Restart nginx")
    world.command = services.add_command(kind, by=world.me, details={"name": "Ours"}, secret=SECRET)
    return f"/integrations/commands/{world.command.pk}/"


def a_paused_command(world: World) -> str:
    address = a_command(world)
    services.set_paused(world.command, True, by=world.me)
    return address


CHAT_COMMANDS = {
    ("integrations/chat_commands/form.html", "administrator"): [
        Story(
            lambda w: "/integrations/commands/new/mattermost/",
            "chat-command-new",
            "Add command",
            {"name": "Ours", "secret": SECRET, "team": "abc", "requests_per_minute": "30"},
        ).then(lambda w: unseal(ChatCommand.objects.get(name="Ours", team="abc").sealed) == SECRET),
        Story(
            lambda w: f"{a_command(w)}edit/", "chat-command-edit", "Save", {"name": "Theirs"}
        ).then(
            lambda w: now(w.command).name == "Theirs" and unseal(now(w.command).sealed) == SECRET
        ),
        Story(
            lambda w: f"{a_command(w)}edit/",
            "chat-command-edit",
            "Save",
            {"name": "Theirs", "secret": "short"},
            name="refused",
            status=422,
        ).then(
            lambda w: (
                "Paste the secret" in w.text
                and "Theirs" in w.text
                and now(w.command).name == "Ours"
            )
        ),
    ],
    (_PAGE, "administrator"): [
        Story(a_command, "chat-command-test", "Test now", {"statement": "restart nginx"}).then(
            lambda w: "|Restart nginx&gt;" in w.text and now(w.command).last_success_at
        ),
        Story(
            lambda w: a_command(w, "mattermost"),
            "chat-command-test",
            "Test now",
            {"statement": "restart nginx"},
            name="test of mattermost",
        ).then(lambda w: "[Restart nginx](" in w.text),
        Story(a_command, "chat-command-pause", "Pause").then(lambda w: now(w.command).paused_at),
        Story(a_paused_command, "chat-command-resume", "Resume").then(
            lambda w: now(w.command).paused_at is None
        ),
        Story(a_command, "chat-command-remove", "Remove").then(
            lambda w: not ChatCommand.objects.exists()
        ),
    ],
}
