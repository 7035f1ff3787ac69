"""Plans, which are the settings of Configurations: the model for each role, the rounds and the prompt versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from core.errors import BadInput
from core.texts import check_text
from pipeline.configurations.prompt_versions import check_pins
from pipeline.models import Configuration, Endpoint
from pipeline.types import NEEDED_ROLES, CasesUse, Role

EFFORTS = ("low", "medium", "high", "xhigh", "max")
LEAST_TOKENS, MOST_TOKENS = 64, 200_000
MOST_TEMPERATURE = 2.0
MAX_MODEL = 100


@dataclass(frozen=True, kw_only=True)
class Player:
    """The model requested for one role. `endpoint` is the endpoint's name."""

    endpoint: str
    model: str
    max_tokens: int = 4096
    effort: str = ""
    temperature: float | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The settings of a Configuration for its Runs. `prompts` are the pinned versions, by name.

    Without a case author, the assessor writes the cases.
    """

    players: Mapping[Role, Player]
    rounds: int = 1
    uses_retrieval: bool = True
    uses_examples: bool = True
    confirms_matches: bool = False
    cases: str = CasesUse.OFF.value
    prompts: Mapping[str, str] = field(default_factory=dict)


def plan_of(configuration: Configuration) -> Plan:
    """Return a Configuration's current plan, for editing or copying. The caller should prefetch roles and endpoints."""
    return Plan(
        players={
            Role(setting.role): Player(
                endpoint=setting.endpoint.name,
                model=setting.model,
                max_tokens=setting.max_tokens,
                effort=setting.effort,
                temperature=setting.temperature,
            )
            for setting in configuration.roles.all()
        },
        rounds=configuration.rounds,
        uses_retrieval=configuration.uses_retrieval,
        uses_examples=configuration.uses_examples,
        confirms_matches=configuration.confirms_matches,
        cases=configuration.cases,
        prompts=dict(configuration.prompts),
    )


def preset_of(plan: Plan) -> Configuration.Preset:
    """Return the preset of a plan, based on which roles share a model."""
    generator, assessor, refiner = (
        (plan.players[role].endpoint, plan.players[role].model)
        for role in (Role.GENERATOR, Role.ASSESSOR, Role.REFINER)
    )
    if generator == assessor == refiner:
        return Configuration.Preset.SELF_REFLECTION
    if generator == refiner:
        return Configuration.Preset.PEER_REVIEW
    if generator == assessor:
        return Configuration.Preset.STRONG_REFINER
    return Configuration.Preset.OWN


def players_for(preset: str, *, first: Player, second: Player) -> dict[Role, Player]:
    """Return the model for each role of a preset. The second model is the assessor or the strong refiner.

    In peer review, the second model should be different, because models favor their own output. It is usually smaller,
    because assessment needs the most calls.
    """
    others = {
        Configuration.Preset.PEER_REVIEW.value: {Role.ASSESSOR: second},
        Configuration.Preset.STRONG_REFINER.value: {Role.REFINER: second},
    }
    return dict.fromkeys(NEEDED_ROLES, first) | others.get(preset, {})


def say_plan(plan: Plan) -> dict[str, str]:
    """Describe each part of the plan, for the audit log and for comparisons."""
    said = {
        "rounds": str(plan.rounds),
        "uses_retrieval": str(plan.uses_retrieval),
        "uses_examples": str(plan.uses_examples),
        "confirms_matches": str(plan.confirms_matches),
        "cases": plan.cases,
        "prompts": ", ".join(f"{name} {version}" for name, version in sorted(plan.prompts.items())),
    }
    return said | {
        role.value: _say_player(plan.players[role]) for role in Role if role in plan.players
    }


def check_plan(plan: Plan) -> dict[str, Endpoint]:
    """Validate a plan and return its endpoints by name. Raises BadInput with a field such as `assessor.model`."""
    if not 0 <= plan.rounds <= Configuration.MAX_ROUNDS:
        raise BadInput(
            _("Choose 0 to %(most)s rounds.") % {"most": Configuration.MAX_ROUNDS},
            field="rounds",
        )
    if plan.cases not in Configuration.Cases.values:
        raise BadInput(
            _("Sandbox tests must be one of: %s.") % ", ".join(Configuration.Cases.values),
            field="cases",
        )
    if not set(plan.players) >= set(NEEDED_ROLES):
        raise BadInput(_("Choose a model for each of the three roles."), field="roles")
    names = {player.endpoint for player in plan.players.values()}
    endpoints = {one.name: one for one in Endpoint.objects.filter(name__in=names)}
    for role, player in plan.players.items():
        _check_player(role, player, endpoints)
    check_pins(plan.prompts)
    return endpoints


def _check_player(role: Role, player: Player, endpoints: Mapping[str, Endpoint]) -> None:
    endpoint = endpoints.get(player.endpoint)
    if endpoint is None:
        raise BadInput(
            _("Endpoint “%s” does not exist.") % player.endpoint[:50],
            field=f"{role.value}.endpoint",
        )
    check_text(player.model, field=f"{role.value}.model", most=MAX_MODEL)
    if not player.model or not player.model.isprintable():
        raise BadInput(
            _("Enter the name of a model that this endpoint serves."), field=f"{role.value}.model"
        )
    if not LEAST_TOKENS <= player.max_tokens <= MOST_TOKENS:
        raise BadInput(
            _("Enter a number from %(least)s to %(most)s tokens.")
            % {"least": LEAST_TOKENS, "most": f"{MOST_TOKENS:,}"},
            field=f"{role.value}.max_tokens",
        )
    if player.effort and player.effort not in EFFORTS:
        raise BadInput(
            _("Effort must be one of: %s.") % ", ".join(EFFORTS), field=f"{role.value}.effort"
        )
    if player.temperature is None:
        return
    if not endpoint.takes_temperature:
        raise BadInput(
            _("“%s” does not accept a temperature. Leave this field empty.") % endpoint,
            field=f"{role.value}.temperature",
        )
    # This form of the comparison also rejects NaN.
    if not 0 <= player.temperature <= MOST_TEMPERATURE:
        raise BadInput(
            _("Temperature must be from 0 to %s.") % MOST_TEMPERATURE,
            field=f"{role.value}.temperature",
        )


def _say_player(player: Player) -> str:
    parts = [player.endpoint, player.model, f"{player.max_tokens} tokens", player.effort]
    if player.temperature is not None:
        parts.append(f"temperature {player.temperature}")
    return ", ".join(part for part in parts if part)
