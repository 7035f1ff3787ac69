"""Choose the reply of a stubbed command: the first rule that matches the call and the current states."""

from __future__ import annotations

from typing import NamedTuple

from catalog.execution.helper.messages import CallReply, CommandRequest, RuleRequest
from catalog.execution.helper.recorded_commands.patterns import match_arguments, match_text

MOST_CALLS = 500
MOST_WORDS = 4 << 20  # characters in the arguments and input of all calls
NOTHING_PREPARED = 127
_SUDO_WITH_VALUE = ("-u", "--user", "-g", "--group", "-C", "-D", "-h", "-p", "-R", "-T", "-U")
_SU_WITH_VALUE = ("-s", "--shell", "-g", "--group", "-G", "--supp-group", "-w", "-u", "--user")


class Answer(NamedTuple):
    """The instructions for the stub. If `reads_input` is set, the stub must send its input first."""

    words: tuple[str, ...] = ()
    reads_input: bool = False


class Replies:
    """The stubbed commands of a scenario: their rules, the named states and all calls in order."""

    def __init__(
        self,
        commands: list[CommandRequest],
        states: dict[str, str],
        failing_call: int | None,
    ) -> None:
        self.calls: list[CallReply] = []
        self.cut: str | None = None  # why the log of calls is incomplete
        self._commands = {command["name"]: command for command in commands}
        self._states = dict(states)
        self._failing_call = failing_call
        self._count = 0
        self._words = 0

    def answer(self, name: str, arguments: list[str], stdin: str | None) -> Answer:
        """Record the call and return the answer. If the answer requests the input, the call is not recorded yet."""
        command = self._commands.get(name)
        if command is None:
            return _reply(NOTHING_PREPARED, "", f"{name}: not a recorded command\n")
        if len(self.calls) >= MOST_CALLS:
            self.cut = f"more than {MOST_CALLS} calls of stubbed commands"
            return _reply(NOTHING_PREPARED, "", f"{name}: too many calls\n")
        self._words += sum(map(len, arguments)) + len(stdin or "")
        if self._words > MOST_WORDS:
            self.cut = f"more than {MOST_WORDS >> 20} MB in calls of stubbed commands"
            return _reply(NOTHING_PREPARED, "", f"{name}: too much in all calls\n")
        if self._failing_call == self._count:
            self._count += 1
            self._record(name, arguments, stdin, status=1)
            return _reply(1, "", f"{name}: failed\n")
        if command["mode"] != "reply":
            self._count += 1
            self._record(name, arguments, None, status=None)
            return _go_on(command["mode"], name, arguments)
        rule = self._fitting(command["rules"], arguments, stdin)
        if stdin is None and rule is not None and "stdin" in rule:
            return Answer(reads_input=True)
        self._count += 1
        if rule is None:
            self._record(name, arguments, stdin, status=NOTHING_PREPARED, prepared=False)
            return _reply(NOTHING_PREPARED, "", f"{name}: no reply was prepared for this call\n")
        self._states |= _name_states(rule.get("sets", {}), arguments)
        reads = rule.get("reads", False)
        self._record(name, arguments, stdin, status=rule.get("exit", 0), reads=reads)
        reply = _reply(rule.get("exit", 0), rule.get("stdout", ""), rule.get("stderr", ""))
        reads_all = any(match_arguments(one, arguments) for one in command.get("input", ()))
        return Answer(("drain", *reply.words)) if reads_all and stdin is None else reply

    def _fitting(
        self, rules: list[RuleRequest], arguments: list[str], stdin: str | None
    ) -> RuleRequest | None:
        """Return the first matching rule. A rule with a `stdin` pattern matches while the input is unknown."""
        for rule in rules:
            if "args" in rule and not match_arguments(rule["args"], arguments):
                continue
            required = _name_states(rule.get("requires", {}), arguments)
            if not required.items() <= self._states.items():
                continue
            if "stdin" in rule and stdin is not None and not match_text(rule["stdin"], stdin):
                continue
            return rule
        return None

    def _record(
        self,
        name: str,
        arguments: list[str],
        stdin: str | None,
        status: int | None,
        prepared: bool = True,
        reads: bool = False,
    ) -> None:
        self.calls.append(
            CallReply(
                command=name,
                arguments=arguments,
                stdin=stdin,
                status=status,
                prepared=prepared,
                reads=reads,
            )
        )


def _name_states(states: dict[str, str], arguments: list[str]) -> dict[str, str]:
    """Replace "$2" in state names with the second argument, so that one rule can serve every systemd unit."""
    named = {}
    for name, value in states.items():
        position = int(name[1:]) if name[:1] == "$" and name[1:].isdecimal() else 0
        named[arguments[position - 1] if 0 < position <= len(arguments) else name] = value
    return named


def _reply(status: int, stdout: str, stderr: str) -> Answer:
    return Answer(("reply", str(status), stdout, stderr))


def _go_on(mode: str, name: str, arguments: list[str]) -> Answer:
    """Answer a wrapper such as sudo, which has no privileges in the sandbox, by running its command directly."""
    if mode == "real":
        return Answer(("real", name))
    if mode == "su":
        return _go_on_as_other_user(arguments)
    skipped = 0
    while skipped < len(arguments) and arguments[skipped].startswith("-"):
        option = arguments[skipped]
        skipped += 2 if option in _SUDO_WITH_VALUE else 1
        if option == "--":
            break
    named = skipped
    while named < len(arguments) and "=" in arguments[named].split("/")[0]:
        named += 1  # In `sudo NAME=VALUE command`, the assignments set environment variables.
    if named >= len(arguments):
        return _reply(0, "", "")
    return Answer(("run" if named == skipped else "env", str(skipped)))


def _go_on_as_other_user(arguments: list[str]) -> Answer:
    """Answer `su - NAME -c TEXT` and `runuser -u NAME -- COMMAND ...`."""
    position = 0
    while position < len(arguments):
        option = arguments[position]
        if option in ("-c", "--command") and position + 1 < len(arguments):
            return Answer(("shell", arguments[position + 1]))
        if option.startswith("--command="):
            return Answer(("shell", option.removeprefix("--command=")))
        if option == "--" and position + 1 < len(arguments):
            return Answer(("run", str(position + 1)))
        position += 2 if option in _SU_WITH_VALUE else 1
    return _reply(0, "", "")
