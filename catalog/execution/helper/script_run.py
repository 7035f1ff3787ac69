"""Run the script once: start bubblewrap, monitor it and kill all processes inside."""

from __future__ import annotations

import json
import os
import select
import socket
import time
from contextlib import suppress
from fcntl import F_ADD_SEALS, F_SEAL_GROW, F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_WRITE, fcntl

from catalog.execution.helper import kernel
from catalog.execution.helper.limits import Guard, apply_limits
from catalog.execution.helper.messages import Ended, LimitsRequest
from catalog.execution.helper.recorded_commands.replies import Replies
from catalog.execution.helper.recorded_commands.stubs import Conversation
from catalog.execution.helper.spawn import Started, end_all, start

GUARD_SECONDS = 0.05
MOST_CONVERSATIONS = 32


class SandboxBroken(Exception):
    """Bubblewrap failed before it started the script. The message comes from bubblewrap."""


class ScriptRun:
    """A run of the program. The helper is the first process of its namespace, so no process outlives the run."""

    def __init__(self, limits: LimitsRequest, replies: Replies, asking: socket.socket) -> None:
        self.ended: Ended = "finished"
        self.status: int | None = None
        self.seconds = 0.0
        self.guard = Guard(limits["memory_bytes"], limits["cpu_seconds"])
        self._limits = limits
        self._replies = replies
        self._asking = asking
        self._conversations: dict[int, Conversation] = {}
        self._poll = select.poll()
        self._output: dict[int, bytearray] = {}

    def run(self, program: list[str], options: list[str], bpf: bytes, stdin: str) -> None:
        """Start bubblewrap with the options and the program, and wait until it exits. Raises SandboxBroken and
        OSError.
        """
        begun = time.monotonic()
        options_read, filter_read = _sealed(_join(options)), _sealed(bpf)
        stdin_read = _sealed(stdin.encode("utf-8", "surrogateescape"))
        status_read, status_write = os.pipe()
        head = [program[0], "--args", str(options_read), "--seccomp", str(filter_read)]
        head += ["--json-status-fd", str(status_write), "--"]
        started = start(
            [*head, *program[1:]],
            stdin_read,
            (options_read, filter_read, status_write),
            self._prepare,
        )
        for descriptor in (options_read, filter_read, stdin_read, status_write):
            os.close(descriptor)
        self._output = {started.stdout: bytearray(), started.stderr: bytearray()}
        try:
            self._watch(started, begun + self._limits["seconds"])
        finally:
            end_all()
            self._hang_up()
        self.seconds = time.monotonic() - begun
        self._read_what_is_left()
        self.stdout, self.stderr = (bytes(text) for text in self._output.values())
        self._read_status(status_read)
        for descriptor in (started.stdout, started.stderr, status_read):
            os.close(descriptor)

    def _prepare(self) -> None:
        apply_limits(self._limits)
        kernel.die_with_parent()

    def _watch(self, started: Started, deadline: float) -> None:
        process = os.pidfd_open(started.pid)
        for descriptor in (process, started.stdout, started.stderr, self._asking.fileno()):
            self._poll.register(descriptor, select.POLLIN)
        look_at = 0.0
        try:
            while self.ended == "finished":
                now = time.monotonic()
                if now >= deadline:
                    self.ended = "timed out"
                    return
                if now >= look_at:
                    look_at = now + GUARD_SECONDS
                    excess = self.guard.find_excess()
                    if excess is not None:
                        self.ended = excess
                        return
                wait = min(look_at, deadline) - now
                for descriptor, _ in self._poll.poll(max(wait, 0.001) * 1000):
                    if descriptor == process:
                        return
                    self._serve(descriptor)
        finally:
            os.close(process)
            for conversation in self._conversations.values():
                conversation.connection.close()

    def _hang_up(self) -> None:
        """Close pending connections, so that calls from this run are not answered in the next run."""
        with suppress(BlockingIOError):
            while True:
                self._asking.accept()[0].close()

    def _serve(self, descriptor: int) -> None:
        if descriptor in self._output:
            self._read_output(descriptor)
        elif descriptor == self._asking.fileno():
            with suppress(BlockingIOError):
                connection, _ = self._asking.accept()
                if len(self._conversations) >= MOST_CONVERSATIONS:
                    self._replies.cut = (
                        f"more than {MOST_CONVERSATIONS} calls of stubbed commands at once"
                    )
                    connection.close()
                    return
                connection.setblocking(False)
                self._conversations[connection.fileno()] = Conversation(connection)
                self._poll.register(connection.fileno(), select.POLLIN)
        else:
            conversation = self._conversations[descriptor]
            if conversation.go_on(self._replies):
                waits = select.POLLOUT if conversation.unsent else select.POLLIN
                self._poll.modify(descriptor, waits)
            else:
                self._poll.unregister(descriptor)
                self._conversations.pop(descriptor).connection.close()

    def _read_output(self, descriptor: int) -> None:
        text = self._output[descriptor]
        try:
            chunk = os.read(descriptor, 65536)
        except BlockingIOError:
            return
        if not chunk:
            with suppress(KeyError):
                self._poll.unregister(descriptor)
            return
        text += chunk
        if len(text) > self._limits["output_bytes"]:
            del text[self._limits["output_bytes"] :]
            self.ended = "too much output"

    def _read_what_is_left(self) -> None:
        """Read the rest of each pipe, up to the output limit. Call this after all writing processes have exited."""
        for descriptor in self._output:
            before = -1
            while before < len(self._output[descriptor]) < self._limits["output_bytes"]:
                before = len(self._output[descriptor])
                self._read_output(descriptor)

    def _read_status(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        try:
            said = os.read(descriptor, 4096).decode()
        except BlockingIOError:
            said = ""
        lines = [json.loads(line) for line in said.splitlines()]
        if not any("child-pid" in line for line in lines):
            raise SandboxBroken(self.stderr.decode("utf-8", "replace").strip() or self.ended)
        self.status = next((line["exit-code"] for line in lines if "exit-code" in line), None)
        if self.status is None and self.ended == "finished":
            raise SandboxBroken(self.stderr.decode("utf-8", "replace").strip()[-2000:])


def _join(options: list[str]) -> bytes:
    return b"".join(os.fsencode(option) + b"\0" for option in options)


def _sealed(content: bytes) -> int:
    """Return a descriptor from which to read the content. The content is sealed, so the sandbox can't change it through
    /proc/self/fd.
    """
    descriptor = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    while content:
        content = content[os.write(descriptor, content) :]
    fcntl(descriptor, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
