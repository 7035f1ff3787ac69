"""The foreground process of `make run`, which starts, restarts and stops all parts."""

from __future__ import annotations

import gc
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core import process
from core.preloading import load_ahead
from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.folders import make_data_folder
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.local_model.server import UNUSABLE, Resources
from scriptsmith_site.embedded.locks import FileLock
from scriptsmith_site.embedded.servers.holders import Server, Use, servers_of
from scriptsmith_site.embedded.supervision import programs
from scriptsmith_site.embedded.supervision.children import (
    Child,
    Program,
    end_leftovers,
    trim_logs,
)
from scriptsmith_site.embedded.supervision.listening import answers, listen, url_of
from scriptsmith_site.embedded.supervision.restarts import Restarts
from scriptsmith_site.embedded.supervision.signals import Signals

_READY_SECONDS = 120.0
_LOOK_SECONDS = 2.0
_TRIM_SECONDS = 60.0


@dataclass(frozen=True)
class Options:
    """The supervisor's settings."""

    bind: str
    port: int
    demo_model: bool
    local_models: Sequence[Path] = ()
    resources: Resources = Resources(threads=1, context=4096, slots=1)


class _ToldToEnd(Exception):
    """A signal arrived before all parts had started."""


def run(layout: Layout, options: Options, load: Callable[[int], None]) -> None:
    """Run the product until a signal stops it. Raises CannotStart after stopping all parts.

    `load` receives the port and loads the code that all forks of this process share.
    """
    signals = Signals()
    process.console = os.dup(2)
    try:
        with _only_supervisor(layout) as lock:
            end_leftovers(layout.data)
            with listen(options.bind, options.port) as listener:
                lock.write(f"process {os.getpid()}, {url_of(listener)}")
                supervisor = Supervisor(layout, listener, signals, load, options)
                supervisor.run()
    except (KeyboardInterrupt, _ToldToEnd):
        _say("Stopped before ScriptSmith was ready.")


@contextmanager
def _only_supervisor(layout: Layout) -> Iterator[FileLock]:
    make_data_folder(layout)
    lock = FileLock(layout.supervisor_lock)
    try:
        if not lock.try_exclusive():
            raise CannotStart(
                f"ScriptSmith is already running with the data in {layout.data} ({lock.read()}). Stop "
                "it, or set SCRIPTSMITH_DATA and PORT to start a second one"
            )
        yield lock
    finally:
        lock.release()


class Supervisor:
    """All processes and servers of one data folder."""

    def __init__(
        self,
        layout: Layout,
        listener: socket.socket,
        signals: Signals,
        load: Callable[[int], None],
        options: Options,
    ) -> None:
        self._layout = layout
        self._listener = listener
        self._signals = signals
        self._load = load
        self._notice = ""
        self._use = Use(layout, servers_of(layout))
        self._web = self._child(programs.web(listener.fileno()))
        self._worker = self._child(programs.worker(layout))
        self._sandbox_worker = self._child(programs.sandbox_worker())
        self._demo_model = self._child(programs.demo_model(layout)) if options.demo_model else None
        self._local_models = [
            self._child(programs.local_model(path, layout, options.resources))
            for path in options.local_models
        ]
        parts: list[Child | Server] = [*self._children(), *self._use.servers]
        self._restarts = {part: Restarts() for part in parts}

    def run(self) -> None:
        """Start all parts, watch them until a signal arrives, and stop them. Raises CannotStart."""
        _say(f"Starting ScriptSmith with the data in {self._layout.data}")
        self._use.begin(self._prepare, when_alone=False)
        try:
            for child in self._children():
                child.start()
            self._wait_until_ready()
            self._watch()
        finally:
            self._end_children()
            if not self._use.end():
                _say(
                    "A ScriptSmith command is still running. PostgreSQL and Redis stop when it ends."
                )

    def _child(self, program: Program) -> Child:
        return Child(program, logs=self._layout.logs)

    def _children(self) -> list[Child]:
        """Return the children in start order."""
        demo_model = [self._demo_model] if self._demo_model else []
        models = [*self._local_models, *demo_model]
        return [*models, self._web, self._worker, self._sandbox_worker]

    def _prepare(self) -> None:
        """Migrate, collect the static files and load the demo. Save the messages that are shown after startup."""
        self._signals.interrupts = False
        self._load(self._listener.getsockname()[1])
        _say("Preparing the database")
        self._layout.demo_model.unlink(missing_ok=True)
        self._forget_local_models()
        child = self._child(programs.prepare())
        with tempfile.TemporaryFile() as output:
            child.start(output)
            load_ahead()  # loaded in the meantime, so that every start of the web server is fast
            gc.freeze()
            while child.ended is None:
                self._signals.wait(_LOOK_SECONDS)
                if self._signals.requests_to_end:
                    self._end([child])
                    raise _ToldToEnd
            if child.ended != 0:
                raise CannotStart(f"{child.last_words()} (see {child.log})")
            output.seek(0)
            self._notice = output.read().decode(errors="replace").strip()

    def _forget_local_models(self) -> None:
        """Delete the announcements of model servers that are no longer running."""
        for announcement in self._layout.local_models.glob("*.json"):
            announcement.unlink()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not self._is_ready():
            for child in self._children():
                if child.ended is not None and child not in self._local_models:
                    raise CannotStart(
                        f"the {child.name} did not start. {child.how_ended()} (see {child.log})"
                    )
            if self._signals.requests_to_end:
                raise _ToldToEnd
            if time.monotonic() > deadline:
                raise CannotStart(
                    f"not ready after {_READY_SECONDS:.0f} s (see {self._layout.logs})"
                )
            self._signals.wait(0.05)
        _say(f"\nScriptSmith is ready: {url_of(self._listener)}")
        if self._notice:
            _say(f"\n{self._notice}")
        _say(f"\nLogs are in {self._layout.logs}. Press Ctrl-C to stop.")

    def _is_ready(self) -> bool:
        has_model = self._demo_model is None or self._layout.demo_model.exists()
        return has_model and answers(self._listener, "/healthz")

    def _watch(self) -> None:
        looked_at = trimmed_at = time.monotonic()
        while not self._signals.requests_to_end:
            woken = self._signals.wait(0.25 if self._is_anything_due() else _LOOK_SECONDS)
            for child in self._children():
                if child in self._local_models and child.ended == UNUSABLE:
                    _say(f"The {child.name} can't be served: {child.last_words()}")
                    self._local_models.remove(child)
                else:
                    self._revive(child, child.start)
            now = time.monotonic()
            if woken or self._is_anything_due() or now - looked_at > _LOOK_SECONDS:
                for server in self._use.servers:
                    self._revive(server, partial(self._use.restart, server))
                looked_at = now
            if now - trimmed_at > _TRIM_SECONDS:
                trim_logs(self._layout.logs)
                trimmed_at = now

    def _is_anything_due(self) -> bool:
        return any(restarts.due_at is not None for restarts in self._restarts.values())

    def _revive(self, part: Child | Server, start: Callable[[], None]) -> None:
        """Restart a part after its delay.

        The supervisor never gives up. Pages show a maintenance message in the meantime.
        """
        restarts = self._restarts[part]
        if restarts.due_at is None and (how := part.how_ended()):
            self._plan_restart(part, how)
        elif restarts.due_at is not None and restarts.due_at <= time.monotonic():
            try:
                start()
                restarts.note_start()
            except (CannotStart, OSError) as error:
                self._plan_restart(part, f"{part.name} did not start: {error}.")

    def _plan_restart(self, part: Child | Server, why: str) -> None:
        restarts = self._restarts[part]
        stays = restarts.note_end()
        delay = (restarts.due_at or 0) - time.monotonic()
        keeps = "" if stays else f" It keeps failing (see {self._layout.logs})."
        _say(f"{why}{keeps} It restarts in {delay:.1f} s.")

    def _end_children(self) -> None:
        """Stop the web server and the workers first, because their work may still need the demo model."""
        self._listener.close()
        self._end([self._web, self._worker, self._sandbox_worker])
        self._end([child for child in self._children() if child.is_running])
        self._forget_local_models()

    def _end(self, children: Sequence[Child]) -> None:
        begun = time.monotonic()
        told = False
        for child in children:
            child.tell_to_end()
        while remaining := [child for child in children if child.is_running]:
            waited = time.monotonic() - begun
            for child in remaining:
                if waited > child.grace or self._signals.requests_to_end > 1:
                    child.kill()
            if waited > 2 and not told:
                names = " and ".join(child.name for child in remaining)
                _say(f"Waiting for the {names} to finish. Press Ctrl-C again to stop immediately.")
                told = True
            self._signals.wait(0.1)


def _say(text: str) -> None:
    try:
        print(text, flush=True)
    except OSError:
        return  # the terminal is gone, which must not prevent a clean shutdown
