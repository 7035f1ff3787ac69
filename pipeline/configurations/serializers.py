"""Serializers for the configuration and prompt API."""

from __future__ import annotations

from typing import ClassVar

from rest_framework import serializers

from pipeline.configurations.prompt_versions import VersionUse
from pipeline.configurations.services import edition_of, is_fixed, is_usable
from pipeline.models import Configuration, RoleSetting
from pipeline.types import Role

# --- Input --------------------------------------------------------------------------


class PlayerInput(serializers.Serializer[object]):
    """The model for a role. The service validates the values."""

    role = serializers.ChoiceField(choices=[role.value for role in Role])
    endpoint = serializers.CharField(help_text="Name of an endpoint.")
    model = serializers.CharField()
    max_tokens = serializers.IntegerField(required=False, default=4096)
    effort = serializers.CharField(required=False, allow_blank=True, default="")
    temperature = serializers.FloatField(required=False, allow_null=True, default=None)


class ConfigurationChange(serializers.Serializer[object]):
    """The values to change. Omitted values and roles stay unchanged."""

    title = serializers.CharField(required=False)
    note = serializers.CharField(required=False, allow_blank=True)
    rounds = serializers.IntegerField(required=False, help_text="0 to 4.")
    uses_retrieval = serializers.BooleanField(required=False)
    uses_examples = serializers.BooleanField(required=False)
    confirms_matches = serializers.BooleanField(
        required=False,
        help_text="The assessor may confirm a match whose score alone is too low.",
    )
    cases = serializers.CharField(
        required=False,
        help_text=(
            "Sandbox tests: off, run (tests are written from the request and run) or feedback (failed checks also go "
            "to one refinement)."
        ),
    )
    prompts = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="Pinned versions by prompt. Other prompts use the built-in version.",
    )
    roles = PlayerInput(many=True, required=False)
    edition = serializers.IntegerField(
        required=False,
        help_text="The edition on which the change is based. Returns 409 if the configuration has changed since.",
    )


class ConfigurationInput(ConfigurationChange):
    """A new configuration. It starts as a copy of `like` if given."""

    name = serializers.CharField()
    title = serializers.CharField()
    like = serializers.CharField(required=False, help_text="Name of a configuration to copy.")


class PromptInput(serializers.Serializer[object]):
    """A new version of a prompt."""

    name = serializers.CharField()
    text = serializers.CharField(trim_whitespace=False)
    note = serializers.CharField(required=False, allow_blank=True, default="")


# --- Output -------------------------------------------------------------------------


class RoleSettingSerializer(serializers.ModelSerializer[RoleSetting]):
    role = serializers.CharField()
    endpoint = serializers.CharField(source="endpoint.name")

    class Meta:
        model = RoleSetting
        fields: ClassVar = ("role", "endpoint", "model", "max_tokens", "effort", "temperature")


class ConfigurationSerializer(serializers.ModelSerializer[Configuration]):
    """A configuration: the models that write, assess and refine, and the number of rounds."""

    preset = serializers.CharField()
    is_usable = serializers.SerializerMethodField()
    roles = RoleSettingSerializer(many=True)
    prompts = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = Configuration
        fields: ClassVar[tuple[str, ...]] = (
            "name",
            "title",
            "note",
            "preset",
            "rounds",
            "uses_retrieval",
            "uses_examples",
            "confirms_matches",
            "cases",
            "prompts",
            "is_default",
            "archived_at",
            "is_usable",
            "roles",
        )

    def get_is_usable(self, configuration: Configuration) -> bool:
        return is_usable(configuration)


class ConfigurationDetailSerializer(ConfigurationSerializer):
    """One configuration, with its edition and whether its plan is fixed."""

    is_fixed = serializers.SerializerMethodField()
    edition = serializers.SerializerMethodField()

    class Meta(ConfigurationSerializer.Meta):
        fields: ClassVar[tuple[str, ...]] = (
            *ConfigurationSerializer.Meta.fields,
            "is_fixed",
            "edition",
        )

    def get_is_fixed(self, configuration: Configuration) -> bool:
        return is_fixed(configuration)

    def get_edition(self, configuration: Configuration) -> int:
        return edition_of(configuration)


class PromptVersionSerializer(serializers.Serializer[object]):
    """A version of a prompt, with its text."""

    version = serializers.CharField(source="version.version")
    source = serializers.CharField(source="version.source")  # type: ignore[assignment]
    is_current = serializers.BooleanField(help_text="The built-in version of this installation.")
    text = serializers.CharField(source="version.text")
    note = serializers.CharField(source="version.note")
    created_by = serializers.CharField(source="version.created_by.username", default=None)
    configurations = serializers.SerializerMethodField(
        help_text="Active configurations that use this version."
    )
    calls = serializers.IntegerField(help_text="Model calls with this version.")

    def get_configurations(self, shown: VersionUse) -> list[str]:
        return [configuration.name for configuration in shown.configurations]


class PromptSerializer(serializers.Serializer[object]):
    """A prompt and the names of its versions, the built-in version first."""

    name = serializers.CharField()
    current = serializers.CharField()
    versions = serializers.ListField(child=serializers.CharField())


class PromptDetailSerializer(serializers.Serializer[object]):
    """A prompt with all of its versions."""

    name = serializers.CharField()
    slots = serializers.ListField(child=serializers.CharField())
    versions = PromptVersionSerializer(many=True)
