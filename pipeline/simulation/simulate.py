"""Run a simulation with a separate demo model process, the real client and a few threads."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pipeline.error_model.rates import SimulatedConfiguration, Simulation
from pipeline.llm.request_builder import RoleSpec, build_request, reply_of
from pipeline.llm.types import Answered, Failed, ModelClient, Target
from pipeline.simulation.figures import Counted, count
from pipeline.simulation.item_flow import ItemOutcome, SimulationBroken, Spoken, simulate_item
from pipeline.standin.process import StandInNotStarted, standin_running
from pipeline.types import Mode, Question, Role

_TIMEOUT_SECONDS = 60.0


@contextlib.contextmanager
def simulated_models_running(simulation: Simulation) -> Iterator[str]:
    """Start a demo model that replies with the error rates of this simulation, and yield its address."""
    with tempfile.TemporaryDirectory(prefix="scriptsmith-simulation-") as folder:
        rates = Path(folder) / "rates.json"
        rates.write_text(simulation.model_dump_json(), encoding="utf-8")
        try:
            with standin_running(["--simulate", str(rates)]) as url:
                yield url
        except StandInNotStarted as why:
            raise SimulationBroken(str(why)) from why


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
    """Send each item through the flow with each configuration. The figures are in configuration order.

    `on_item` is called for every finished item, from any thread. Raises SimulationBroken.
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
    """A callable that asks the demo model through the client of a real Run, at the prices of one configuration."""

    client: ModelClient
    url: str
    configuration: SimulatedConfiguration

    def __call__(self, asked: Sequence[Question]) -> list[Spoken]:
        target = Target("simulated", self.url, "simulated", _TIMEOUT_SECONDS)
        # In text mode, a verdict can be unreadable. A schema would prevent that.
        role = RoleSpec("simulated", 0, self.configuration.model, Mode.TEXT)
        ended = self.client.send([(target, build_request(one, role)) for one in asked])
        return [
            self._spoken(question.role, end) for question, end in zip(asked, ended, strict=True)
        ]

    def _spoken(self, role: Role, ended: Answered | Failed) -> Spoken:
        if isinstance(ended, Failed):
            raise SimulationBroken(f"The stand-in did not reply: {ended.message}")
        usage = ended.usage
        cost = self.configuration.cost(role, input=usage.input, output=usage.output)
        return Spoken(reply_of(ended.message), usage.input, usage.output, cost)
