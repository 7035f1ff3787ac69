"""The assumptions of a simulation: how often generator, assessor and refiner err, and what they cost."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipeline.types import Role

PRESETS = Path(__file__).with_name("presets.yaml")
MICRO = 1_000_000  # micro-dollars per dollar, and the number of tokens in a price


class RatesError(Exception):
    """The input can't be simulated. The message names the location and the reason."""


def _as_written(value: object) -> object:
    """Read 0.42 as 21/50 instead of the nearest float. Texts such as "65/153" are read exactly."""
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
    """Probabilities, each for one Draft, independent of earlier draws."""

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
    """Dollars per million tokens."""

    input: Dollars
    output: Dollars

    def cost(self, *, input: int, output: int) -> int:
        """Return the micro-dollars of one call, rounded half up as in the ledger."""
        dollars = (input * self.input + output * self.output) / MICRO
        return int(dollars * MICRO + Fraction(1, 2))


class SimulatedConfiguration(_Strict):
    """One set of rates and prices, like a Configuration: which models write, assess and refine."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)
    title: str = Field("", max_length=150)
    note: str = ""
    rates: Rates
    prices: dict[Role, Price] = Field(default_factory=dict)
    # Tokens are counted from real prompts and simulated scripts of this length.
    script_lines: int = Field(12, ge=4, le=400)

    @property
    def model(self) -> str:
        """Return the model name of this configuration in requests to the demo model."""
        return f"simulated-{self.name}"

    def cost(self, role: Role, *, input: int, output: int) -> int:
        """Return the micro-dollars of one call of a role. A role without a price is free."""
        price = self.prices.get(role)
        return price.cost(input=input, output=output) if price else 0


class Simulation(_Strict):
    """A simulation. All its draws are derived from the seed."""

    seed: int
    configurations: tuple[SimulatedConfiguration, ...] = Field(min_length=1)


class _File(_Strict):
    configurations: tuple[SimulatedConfiguration, ...] = Field(min_length=1)


def load_configurations(file: Path) -> tuple[SimulatedConfiguration, ...]:
    """Return the configurations of a YAML or JSON file. Raises RatesError if it can't be used."""
    try:
        read = yaml.safe_load(file.read_text(encoding="utf-8"))
        return _File.model_validate(read).configurations
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise RatesError(f"{file}: {error}") from error
    except ValidationError as error:
        raise RatesError(f"{file}: {_say(error)}") from error


def load_simulation(file: Path) -> Simulation:
    """Read a simulation that `Simulation.model_dump_json` wrote. Raises RatesError if it is invalid."""
    try:
        return Simulation.model_validate_json(file.read_bytes())
    except OSError as error:
        raise RatesError(f"{file}: {error}") from error
    except ValidationError as error:
        raise RatesError(f"{file}: {_say(error)}") from error


def load_presets() -> dict[str, SimulatedConfiguration]:
    """Return the presets by name; the first is the paper's peer review."""
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
