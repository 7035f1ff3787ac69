"""A simulation carried out: a stand-in process of its own, the real client, a few threads."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pipeline.llm.requests import RoleSpec, build_request, reply_of
from pipeline.llm.types import Answered, Failed, ModelClient, Target
from pipeline.simulation.figures import Counted, count
from pipeline.simulation.items import (
    ItemOutcome,
    SimulationBroken,
    Spoken,
    simulate_item,
)
from pipeline.simulation.rates import SimulatedConfiguration, Simulation
from pipeline.types import Mode, Question, Role

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 20
_TIMEOUT_SECONDS = 60.0


@contextlib.contextmanager
def simulated_models_running(simulation: Simulation) -> Iterator[str]:
    """The address of a stand-in that answers by the rates of this simulation, for as long as the block runs."""
    with tempfile.TemporaryDirectory(prefix="scriptsmith-simulation-") as folder:
        rates, announcement = Path(folder) / "rates.json", Path(folder) / "announcement.json"
        rates.write_text(simulation.model_dump_json(), encoding="utf-8")
        options = ["--simulate", str(rates), "--announce", str(announcement)]
        process = subprocess.Popen([sys.executable, "-m", "pipeline.standin", *options], cwd=_ROOT)
        try:
            yield _wait_for(announcement, process)
        finally:
            process.terminate()
            process.wait(timeout=10)


def simulate(
    simulation: Simulation,
    *,
    items: int,
    rounds: Sequence[int],
    client: ModelClient,
    url: str,
    workers: int = 4,
    on_item: Callable[[], None] = lambda: None,
) -> list[Counted]:
    """Send each item through the flow under each configuration; figures in the order of the configurations.

    `on_item` is told of every item that is done, from whichever thread. Raises SimulationBroken.
    """
    counted = []
    with ThreadPoolExecutor(workers, thread_name_prefix="simulation") as pool:
        for configuration in simulation.configurations:
            asking = Asking(client, url, configuration)

            def carry_out(item: int, asking: Asking = asking) -> ItemOutcome:
                outcome = simulate_item(item, rounds=rounds, ask=asking)
                on_item()
                return outcome

            outcomes = list(pool.map(carry_out, range(items)))
            counted.append(count(outcomes, configuration.rates))
    return counted


@dataclass(frozen=True)
class Asking:
    """Asks the stand-in, through the client that a Run would use, at the prices of one configuration."""

    client: ModelClient
    url: str
    configuration: SimulatedConfiguration

    def __call__(self, asked: Sequence[Question]) -> list[Spoken]:
        target = Target("simulated", self.url, "simulated", _TIMEOUT_SECONDS)
        # In text mode a verdict can be unreadable; a schema would leave no room for that.
        role = RoleSpec("simulated", 0, self.configuration.model, Mode.TEXT)
        ended = self.client.send([(target, build_request(one, role)) for one in asked])
        return [
            self._spoken(question.role, end) for question, end in zip(asked, ended, strict=True)
        ]

    def _spoken(self, role: Role, ended: Answered | Failed) -> Spoken:
        if isinstance(ended, Failed):
            raise SimulationBroken(f"The stand-in did not answer: {ended.message}")
        usage = ended.usage
        cost = self.configuration.cost(role, input=usage.input, output=usage.output)
        return Spoken(reply_of(ended.message), usage.input, usage.output, cost)


def _wait_for(announcement: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if announcement.exists():
            return f"http://127.0.0.1:{json.loads(announcement.read_text())['port']}"
        time.sleep(0.02)
    raise SimulationBroken("The stand-in did not start.")
