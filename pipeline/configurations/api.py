"""The API for configurations and prompts. It uses the same services as the pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict, cast

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.web.requests import read_body, signed_in
from pipeline.access import (
    access_configuration,
    access_configurations,
    access_prompts,
    require_endpoint_manager,
)
from pipeline.configurations import prompt_versions, services
from pipeline.configurations.plans import Plan, Player, plan_of
from pipeline.configurations.prompt_versions import uses_of, versions_by_prompt
from pipeline.configurations.serializers import (
    ConfigurationChange,
    ConfigurationDetailSerializer,
    ConfigurationInput,
    ConfigurationSerializer,
    PromptDetailSerializer,
    PromptInput,
    PromptSerializer,
    PromptVersionSerializer,
)
from pipeline.flow import prompts
from pipeline.models import Configuration, PromptVersion
from pipeline.types import Role

# A token that may only request scripts must not decide which models or prompts are used.
MANAGE = "manage"


class ConfigurationViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Configuration]
):
    """Configurations: the models that write, assess and refine."""

    serializer_class = ConfigurationSerializer
    queryset = Configuration.objects.none()
    lookup_field = "name"
    required_scope = MANAGE

    def get_queryset(self) -> QuerySet[Configuration]:
        return access_configurations(signed_in(self.request))

    @extend_schema(responses=ConfigurationDetailSerializer)
    def retrieve(self, request: Request, *args: object, **kwargs: object) -> Response:
        """Return one configuration."""
        return Response(ConfigurationDetailSerializer(self.get_object()).data)

    @extend_schema(request=ConfigurationInput, responses={201: ConfigurationDetailSerializer})
    def create(self, request: Request) -> Response:
        """Create an active configuration. With `like`, start from a copy of another configuration."""
        user = signed_in(request)
        require_endpoint_manager(user)
        given = read_body(ConfigurationInput, request)
        start = Plan(players={})
        if "like" in given:
            start = plan_of(access_configuration(user, given["like"]))
        made = services.create_configuration(
            given["name"],
            title=given["title"],
            note=given.get("note", ""),
            plan=_changed(start, cast(PlanValues, given)),
            by=user,
        )
        return self._answer(made.name, status=status.HTTP_201_CREATED)

    @extend_schema(request=ConfigurationChange, responses=ConfigurationDetailSerializer)
    def partial_update(self, request: Request, name: str) -> Response:
        """Change the configuration. Once it has runs, only the title and note can be changed. Other changes return
        409.
        """
        user = signed_in(request)
        configuration = access_configuration(user, name)
        given = read_body(ConfigurationChange, request)
        services.update_configuration(
            configuration,
            title=given.get("title", configuration.title),
            note=given.get("note", configuration.note),
            plan=_changed(plan_of(configuration), cast(PlanValues, given)),
            by=user,
            seen=given.get("edition"),
        )
        return self._answer(name)

    @extend_schema(request=None, responses=ConfigurationDetailSerializer)
    @action(detail=True, methods=["post"])
    def archive(self, request: Request, name: str) -> Response:
        """Archive the configuration, so that no new run can use it."""
        return self._do(name, services.archive_configuration)

    @extend_schema(request=None, responses=ConfigurationDetailSerializer)
    @action(detail=True, methods=["post"])
    def unarchive(self, request: Request, name: str) -> Response:
        """Restore the configuration, so that new runs can use it."""
        return self._do(name, services.unarchive_configuration)

    @extend_schema(request=None, responses=ConfigurationDetailSerializer)
    @action(detail=True, methods=["post"], url_path="make-default")
    def make_default(self, request: Request, name: str) -> Response:
        """Make this the default configuration."""
        return self._do(name, services.make_default)

    def _do(self, name: str, service: Callable[..., None]) -> Response:
        user = signed_in(self.request)
        service(access_configuration(user, name), by=user)
        return self._answer(name)

    def _answer(self, name: str, *, status: int = 200) -> Response:
        found = access_configuration(signed_in(self.request), name)
        return Response(ConfigurationDetailSerializer(found).data, status=status)


class PromptViewSet(viewsets.GenericViewSet[PromptVersion]):
    """The prompts for the models, and their versions."""

    queryset = PromptVersion.objects.none()
    lookup_field = "name"
    pagination_class = None
    required_scope = MANAGE

    @extend_schema(responses=PromptSerializer(many=True))
    def list(self, request: Request) -> Response:
        """Return every prompt with the names of its versions."""
        access_prompts(signed_in(request))
        rows = [
            {
                "name": name,
                "current": prompts.load(name).version,
                "versions": [row.version for row in found],
            }
            for name, found in versions_by_prompt().items()
        ]
        return Response(PromptSerializer(rows, many=True).data)

    @extend_schema(responses=PromptDetailSerializer)
    def retrieve(self, request: Request, name: str) -> Response:
        """Return one prompt with all of its versions and the uses of each version."""
        access_prompts(signed_in(request), name)
        found = {
            "name": name,
            "slots": sorted(prompts.load(name).slots),
            "versions": uses_of(name),
        }
        return Response(PromptDetailSerializer(found).data)

    @extend_schema(request=PromptInput, responses={201: PromptVersionSerializer})
    def create(self, request: Request) -> Response:
        """Store a text as a new version of the prompt, which configurations can then pin."""
        user = signed_in(request)
        require_endpoint_manager(user)
        body = read_body(PromptInput, request)
        name = body.pop("name")
        access_prompts(user, name, to_write=True)
        written = prompt_versions.write_prompt(name, by=user, **body)
        use = next(use for use in uses_of(name) if use.version == written)
        return Response(PromptVersionSerializer(use).data, status=status.HTTP_201_CREATED)


class PlayerValues(TypedDict):
    """The values for a role in a request."""

    role: str
    endpoint: str
    model: str
    max_tokens: int
    effort: str
    temperature: float | None


class PlanValues(TypedDict, total=False):
    """The parts of a plan in a request."""

    rounds: int
    uses_retrieval: bool
    uses_examples: bool
    confirms_matches: bool
    cases: str
    prompts: dict[str, str]
    roles: list[PlayerValues]


def _changed(plan: Plan, given: PlanValues) -> Plan:
    """Return the plan with the given values. Other roles stay unchanged."""
    players = dict(plan.players)
    for sent in given.get("roles", []):
        players[Role(sent["role"])] = Player(
            endpoint=sent["endpoint"],
            model=sent["model"],
            max_tokens=sent["max_tokens"],
            effort=sent["effort"],
            temperature=sent["temperature"],
        )
    return Plan(
        players=players,
        rounds=given.get("rounds", plan.rounds),
        uses_retrieval=given.get("uses_retrieval", plan.uses_retrieval),
        uses_examples=given.get("uses_examples", plan.uses_examples),
        confirms_matches=given.get("confirms_matches", plan.confirms_matches),
        cases=given.get("cases", plan.cases),
        prompts=given.get("prompts", plan.prompts),
    )
