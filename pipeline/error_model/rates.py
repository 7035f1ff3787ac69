"""The assumptions of a simulation: the error rates and the costs of the generator, assessor and refiner."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipeline.types import Role

PRESETS = Path(__file__).with_name("presets.yaml")
MICRO = 1_000_000  # micro-dollars per dollar, and the number of tokens that a price covers


class RatesError(Exception):
    """Raised if the input can't be simulated. The message names the location and the reason."""


def _as_written(value: object) -> object:
    """Convert a number to an exact fraction, such as 0.42 to 21/50. Texts such as "65/153" are also exact."""
    text = str(value) if isinstance(value, int | float) else value
    try:
        return Fraction(text) if isinstance(text, str) else text
    except (ValueError, ZeroDivisionError):
        raise ValueError("enter a number such as 0.42 or a fraction such as 65/153") from None


Rate = Annotated[Fraction, BeforeValidator(_as_written), Field(ge=0, le=1)]
Dollars = Annotated[Fraction, BeforeValidator(_as_written), Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rates(_Strict):
    """Probabilities of events for one Draft, independent of earlier events."""

    generator: Rate = Field(description="the first draft is correct")
    recall: Rate = Field(
        description="the assessor flags an incorrect draft, if its reply is readable"
    )
    false_alarm: Rate = Field(
        description="the assessor flags a correct draft, if its reply is readable"
    )
    fixes: Rate = Field(description="refining a flagged incorrect draft makes it correct")
    breaks: Rate = Field(description="refining a flagged correct draft makes it incorrect")
    fixes_missed: Rate = Field(
        description="refining an incorrect draft that was not flagged makes it correct"
    )
    no_error: Rate = Field(Fraction(0), description="feedback on a correct draft finds no error")
    no_error_wrong: Rate = Field(
        Fraction(0), description="feedback on an incorrect draft finds no error"
    )
    repeats: Rate = Field(Fraction(0), description="the refiner returns an earlier script")
    unreadable: Rate = Field(
        Fraction(0), description="an assessment is unreadable even after a second try (unknown)"
    )


class Price(_Strict):
    """A price in dollars per million tokens."""

    input: Dollars
    output: Dollars

    def cost(self, *, input: int, output: int) -> int:
        """Return the cost of one call in micro-dollars, rounded half up as in the ledger."""
        dollars = (input * self.input + output * self.output) / MICRO
        return int(dollars * MICRO + Fraction(1, 2))


class SimulatedConfiguration(_Strict):
    """A set of rates and prices that takes the place of a Configuration in a simulation."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)
    title: str = Field("", max_length=150)
    note: str = ""
    rates: Rates
    prices: dict[Role, Price] = Field(default_factory=dict)
    # Token counts are based on real prompts and on simulated scripts of this length.
    script_lines: int = Field(12, ge=4, le=400)

    @property
    def model(self) -> str:
        """Return the model name that requests to the demo model use for this configuration."""
        return f"simulated-{self.name}"

    def cost(self, role: Role, *, input: int, output: int) -> int:
        """Return the cost of one call for a role in micro-dollars. A role without a price is free."""
        price = self.prices.get(role)
        return price.cost(input=input, output=output) if price else 0


class Simulation(_Strict):
    """A simulation. All random decisions are derived from the seed."""

    seed: int
    configurations: tuple[SimulatedConfiguration, ...] = Field(min_length=1)


class _File(_Strict):
    configurations: tuple[SimulatedConfiguration, ...] = Field(min_length=1)


def load_configurations(file: Path) -> tuple[SimulatedConfiguration, ...]:
    """Return the configurations in a YAML or JSON file. Raises RatesError if the file can't be used."""
    try:
        read = yaml.safe_load(file.read_text(encoding="utf-8"))
        return _File.model_validate(read).configurations
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise RatesError(f"{file}: {error}") from error
    except ValidationError as error:
        raise RatesError(f"{file}: {_say(error)}") from error


def load_simulation(file: Path) -> Simulation:
    """Return the simulation in a file that `Simulation.model_dump_json` wrote. Raises RatesError if it is invalid."""
    try:
        return Simulation.model_validate_json(file.read_bytes())
    except OSError as error:
        raise RatesError(f"{file}: {error}") from error
    except ValidationError as error:
        raise RatesError(f"{file}: {_say(error)}") from error


def load_presets() -> dict[str, SimulatedConfiguration]:
    """Return the presets by name. The first preset is the paper's peer review."""
    return {preset.name: preset for preset in load_configurations(PRESETS)}


def with_rates(
    configuration: SimulatedConfiguration, *, name: str, title: str, rates: dict[str, str]
) -> SimulatedConfiguration:
    """Return a renamed configuration with some rates changed. Raises RatesError for an invalid rate."""
    try:
        changed = Rates.model_validate({**configuration.rates.model_dump(), **rates})
    except ValidationError as error:
        raise RatesError(_say(error)) from error
    return configuration.model_copy(
        update={"name": name, "title": title, "note": "", "rates": changed}
    )


def refuse_duplicates(configurations: tuple[SimulatedConfiguration, ...]) -> None:
    """Raise RatesError if two configurations have the same name, because their rows would be ambiguous."""
    counted = Counter(configuration.name for configuration in configurations)
    twice = [name for name, count in counted.items() if count > 1]
    if twice:
        raise RatesError(f"Two configurations have the name {twice[0]}.")


def _say(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}"
