"""Show the gain from rounds, peer review and the guard at given error rates, before paying for model calls."""

from __future__ import annotations

import argparse
import json
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from django.core.management.base import BaseCommand, CommandError, OutputWrapper

from pipeline.clients.model_client import model_client
from pipeline.error_model.rates import (
    Rates,
    RatesError,
    SimulatedConfiguration,
    Simulation,
    load_configurations,
    load_presets,
    refuse_duplicates,
    with_rates,
)
from pipeline.models import Configuration
from pipeline.simulation.item_flow import SimulationBroken
from pipeline.simulation.result_document import document
from pipeline.simulation.simulate import simulate, simulated_models_running
from pipeline.simulation.text_tables import write_figures, write_summary

MOST_ITEMS = 1_000_000


class Command(BaseCommand):
    requires_system_checks = ()  # The command serves no page and reads no table.
    help = (
        "Send simulated items through the real flow at given error rates. The database is not changed "
        "and no model is called. Without a file, presets or rates, all presets are used; the first is "
        "the paper's peer review."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--items", type=_between(1, MOST_ITEMS), default=500)
        parser.add_argument(
            "--seed",
            type=int,
            default=2025,
            help="random seed; the same seed gives the same figures",
        )
        parser.add_argument(
            "--rounds",
            type=_between(0, Configuration.MAX_ROUNDS),
            nargs="+",
            default=list(range(Configuration.MAX_ROUNDS + 1)),
            metavar="N",
            help="maximum number of refinement rounds; 0 is always included for comparison",
        )
        parser.add_argument(
            "--preset", nargs="+", default=[], choices=list(load_presets()), help="presets by name"
        )
        parser.add_argument(
            "--configuration",
            type=Path,
            metavar="FILE",
            help="YAML or JSON with several named sets of rates and prices",
        )
        rates = parser.add_argument_group(
            "rates", "add a configuration named own; missing rates are the paper's"
        )
        for name, field in Rates.model_fields.items():
            rates.add_argument(f"--{name.replace('_', '-')}", metavar="P", help=field.description)
        parser.add_argument("--workers", type=_between(1, 64), default=4, help="threads")
        parser.add_argument("--brief", action="store_true", help="print only the comparison table")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: object, **options: Any) -> None:
        try:
            configurations = _configurations(options)
        except RatesError as error:
            raise CommandError(str(error), returncode=2) from error
        simulation = Simulation(seed=options["seed"], configurations=configurations)
        items = options["items"]
        progress = Progress(self.stderr, total=items * len(configurations))
        try:
            with simulated_models_running(simulation) as url:
                counted = simulate(
                    simulation,
                    items=items,
                    rounds=options["rounds"],
                    client=model_client(),
                    url=url,
                    workers=options["workers"],
                    on_item=progress.step,
                )
        except SimulationBroken as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(document(simulation, counted), indent=2))
            return
        if not options["brief"]:
            self.stdout.write(write_figures(simulation, counted))
        self.stdout.write(write_summary(simulation, counted))


class Progress:
    """A progress report on standard error, after every tenth of the items."""

    def __init__(self, out: OutputWrapper, *, total: int) -> None:
        self._out, self._total = out, total
        self._done = 0
        self._lock = Lock()

    def step(self) -> None:
        with self._lock:
            self._done += 1
            if self._done * 10 // self._total > (self._done - 1) * 10 // self._total:
                self._out.write(f"{self._done} of {self._total} items")


def _configurations(options: dict[str, Any]) -> tuple[SimulatedConfiguration, ...]:
    """Return the configurations in the file, the named presets, and a configuration with the given rates."""
    presets = load_presets()
    chosen = list(load_configurations(options["configuration"]) if options["configuration"] else ())
    chosen += [presets[name] for name in dict.fromkeys(options["preset"])]
    rates = {name: options[name] for name in Rates.model_fields if options[name] is not None}
    if rates:
        paper = next(iter(presets.values()))
        chosen.append(with_rates(paper, name="own", title="Rates as given", rates=rates))
    configurations = tuple(chosen) or tuple(presets.values())
    refuse_duplicates(configurations)
    return configurations


def _between(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"a whole number from {least} to {most}")
        return int(text)

    return read
