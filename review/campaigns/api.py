"""API for managers to create, configure and monitor campaigns, and to adjudicate items."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.actor import find_user
from core.errors import BadInput
from core.web.public_keys import ITEM, PublicKeyField
from core.web.requests import read_body, read_key, signed_in
from pipeline.access import access_actions
from pipeline.models import Configuration, MessageBatch
from pipeline.services import find_configuration
from review.access import access_campaign, access_campaigns
from review.campaigns import services
from review.campaigns.dashboard import read_dashboard
from review.campaigns.estimate import describe, estimate
from review.campaigns.services import ask_for_runs, keep_older_scores, send_back_older_scores
from review.models import Campaign, Member, Score
from review.queue import services as queue
from review.study import FIGURES


def _arm_field() -> serializers.SlugRelatedField[Any]:
    return serializers.SlugRelatedField(
        slug_field="name",
        queryset=Configuration.objects.all(),
        required=False,
        allow_null=True,
        help_text="Name of a configuration of the primary comparison.",
    )


class RulesFields(serializers.Serializer[Any]):
    """The rules of a review. Omitted fields stay unchanged or, for a new campaign, get the preset's values."""

    description = serializers.CharField(required=False, allow_blank=True)
    rubric = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, help_text="Markdown."
    )
    overlap = serializers.IntegerField(required=False)
    extra_overlap = serializers.IntegerField(required=False, allow_null=True)
    extra_share = serializers.IntegerField(required=False, help_text="Percent of the items.")
    order = serializers.ChoiceField(choices=Campaign.Order.choices, required=False)
    hides_verdict = serializers.BooleanField(required=False)
    hides_models = serializers.BooleanField(required=False)
    hides_reviewers = serializers.BooleanField(required=False)
    hides_execution = serializers.BooleanField(required=False)
    hides_reference = serializers.BooleanField(required=False)
    open_to_all = serializers.BooleanField(required=False)
    limit_each = serializers.IntegerField(required=False, allow_null=True)
    prepares_all = serializers.BooleanField(required=False)
    uses_examples = serializers.BooleanField(
        required=False,
        help_text="If the configuration uses examples, show verified entries that do not answer the statement.",
    )
    pilot_size = serializers.IntegerField(required=False, allow_null=True)
    pilot_counts = serializers.BooleanField(
        required=False, help_text="Whether the figures include pilot scores."
    )
    edit_minutes = serializers.IntegerField(required=False, min_value=1, max_value=100_000)
    sham_share = serializers.IntegerField(required=False, help_text="Percent.")
    halo_share = serializers.IntegerField(required=False, help_text="Percent.")
    repeat_share = serializers.IntegerField(required=False, help_text="Percent.")
    planned_items = serializers.IntegerField(required=False, allow_null=True)
    primary_figure = serializers.ChoiceField(
        choices=[one.name for one in FIGURES], required=False, allow_blank=True
    )
    primary_criterion = serializers.ChoiceField(
        choices=["strict", "partial"], required=False, allow_blank=True
    )
    primary_first = _arm_field()
    primary_second = _arm_field()
    budget = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        help_text="Micro-dollars. Null means no limit.",
    )
    uses_message_batches = serializers.BooleanField(
        required=False,
        help_text="Half price, with results within 24 hours. Applies to endpoints that support message batches.",
    )


class CampaignIn(RulesFields):
    name = serializers.CharField(max_length=150)
    preset = serializers.ChoiceField(choices=["standard", "rigorous"], default="standard")
    configurations = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Names."
    )
    reviewers = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Usernames."
    )
    actions = serializers.ListField(
        child=serializers.IntegerField(), default=list, max_length=services.MOST_AT_ONCE
    )


class MemberOut(serializers.ModelSerializer[Member]):
    user = serializers.CharField(source="user.username")
    paused = serializers.SerializerMethodField()

    class Meta:
        model = Member
        fields = ["user", "limit", "paused", "trained_at", "unblinded_at"]

    def get_paused(self, member: Member) -> bool:
        return member.paused_at is not None


class MemberIn(serializers.Serializer[Any]):
    user = serializers.CharField()
    limit = serializers.IntegerField(required=False, allow_null=True)
    paused = serializers.BooleanField(required=False)


class CampaignOut(serializers.ModelSerializer[Campaign]):
    primary_first = serializers.SlugRelatedField[Any](
        slug_field="name", read_only=True, allow_null=True
    )
    primary_second = serializers.SlugRelatedField[Any](
        slug_field="name", read_only=True, allow_null=True
    )

    class Meta:
        model = Campaign
        fields = [
            *("id", "name", "description", "state", "overlap", "extra_overlap", "extra_share"),
            *("order", "hides_verdict", "hides_models", "hides_reviewers", "hides_execution"),
            *("hides_reference", "open_to_all", "limit_each", "prepares_all", "pilot_size"),
            *("uses_examples", "edit_minutes", "sham_share", "halo_share", "repeat_share"),
            *("planned_items", "primary_figure", "primary_criterion"),
            *("primary_first", "primary_second"),
            *("pilot_counts", "primary_chosen", "created_at", "closed_at"),
        ]


class CampaignDetailOut(CampaignOut):
    rubric = serializers.SerializerMethodField()
    budget = serializers.IntegerField(source="batch.budget", allow_null=True, default=None)
    uses_message_batches = serializers.BooleanField(
        source="batch.uses_message_batches", default=False
    )
    configurations = serializers.SlugRelatedField[Any](slug_field="name", many=True, read_only=True)
    members = MemberOut(many=True)

    class Meta(CampaignOut.Meta):
        fields = [
            *CampaignOut.Meta.fields,
            *("rubric", "budget", "uses_message_batches", "configurations", "members"),
        ]

    def get_rubric(self, campaign: Campaign) -> str:
        return services.rules_of(campaign).rubric


class StateIn(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=["pilot", "open", "paused", "closed"])


class StartedOut(serializers.Serializer[Any]):
    runs = serializers.IntegerField(help_text="Number of runs that are starting.")


class EarlierScoresIn(serializers.Serializer[Any]):
    do = serializers.ChoiceField(choices=["keep", "ask_again"])
    why = serializers.CharField(allow_blank=True)


class EarlierScoresOut(serializers.Serializer[Any]):
    reviews = serializers.IntegerField(help_text="Number of affected reviews.")


class MessageBatchOut(serializers.ModelSerializer[MessageBatch]):
    endpoint = serializers.CharField(source="endpoint.name")

    class Meta:
        model = MessageBatch
        fields = [
            *("id", "endpoint", "state", "requests", "answered", "errored", "expired"),
            *("cancelled", "sent_at", "expires_at", "ended_at", "problem"),
        ]


class MessageBatchesOut(serializers.Serializer[Any]):
    """The message batches of the campaign's runs: counts of requests by progress, and their cost."""

    waiting = serializers.IntegerField(help_text="Requests that are not sent yet.")
    batches = serializers.IntegerField()
    requests = serializers.IntegerField()
    in_progress = serializers.IntegerField()
    answered = serializers.IntegerField()
    cost = serializers.IntegerField(help_text="Micro-dollars, at half the price.")
    newest = MessageBatchOut(source="rows", many=True)


class ProgressOut(serializers.Serializer[Any]):
    """Counts of items by state, outstanding reviews, and reviews per day."""

    preparing = serializers.IntegerField()
    held = serializers.IntegerField()
    open = serializers.IntegerField()
    closed = serializers.IntegerField()
    withdrawn = serializers.IntegerField()
    reviews_left = serializers.IntegerField()
    reviews_a_day = serializers.FloatField()
    ends_on = serializers.DateField(allow_null=True)
    disputed = serializers.IntegerField()
    spent = serializers.IntegerField(allow_null=True, help_text="Micro-dollars.")
    message_batches = MessageBatchesOut(allow_null=True)


class ArmEstimateOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    runs = serializers.IntegerField()
    tokens_a_run = serializers.IntegerField(allow_null=True)
    cost = serializers.IntegerField(allow_null=True)
    direct_cost = serializers.IntegerField(allow_null=True)
    batched_cost = serializers.IntegerField(allow_null=True)
    unpriced = serializers.ListField(
        child=serializers.CharField(), help_text="Models without a price."
    )


class EstimateOut(serializers.Serializer[Any]):
    """Estimates of the remaining work.

    Costs are in micro-dollars, based on the tokens of earlier runs, or null if unknown.
    """

    runs = serializers.IntegerField(help_text="Runs that have not started.")
    pilot_runs = serializers.IntegerField()
    uses_message_batches = serializers.BooleanField()
    cost = serializers.IntegerField(allow_null=True, help_text="Cost with the selected call mode.")
    direct_cost = serializers.IntegerField(
        allow_null=True, help_text="Cost without message batches."
    )
    batched_cost = serializers.IntegerField(
        allow_null=True, help_text="Cost with message batches at the endpoints that support them."
    )
    pilot_cost = serializers.IntegerField(allow_null=True)
    reviews = serializers.IntegerField(help_text="Items times reviewers.")
    hours = serializers.FloatField(help_text="Total reviewer hours.")
    configurations = ArmEstimateOut(many=True)


class AdjudicationIn(serializers.Serializer[Any]):
    item = PublicKeyField(ITEM)
    stage = serializers.ChoiceField(choices=Score.Stage.choices)
    arm = serializers.ChoiceField(choices=Score.ARMS, default="model")
    value = serializers.IntegerField()
    why = serializers.CharField(allow_blank=True)


class SendIn(serializers.Serializer[Any]):
    items = serializers.ListField(
        child=PublicKeyField(ITEM),
        max_length=services.MOST_AT_ONCE,
        help_text="Items in this study.",
    )


class SentOut(serializers.Serializer[Any]):
    """Counts of the requested items by result. The counts add up to the number of requested items."""

    made = serializers.IntegerField()
    there = serializers.IntegerField(help_text="Already in the review queue.")
    without = serializers.IntegerField(help_text="Without a script.")
    studied = serializers.IntegerField(help_text="In another study that is not closed.")


class CampaignViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Campaign]):
    """Studies, for managers only."""

    serializer_class = CampaignOut
    queryset = Campaign.objects.none()
    filterset_fields = ["state"]
    required_scope = "manage"

    def get_queryset(self) -> QuerySet[Campaign]:
        return access_campaigns(signed_in(self.request))

    @extend_schema(responses=CampaignDetailOut)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return a campaign with its rules, configurations and reviewers."""
        return self._answer(pk)

    @extend_schema(request=CampaignIn, responses={201: CampaignDetailOut})
    def create(self, request: Request) -> Response:
        """Create a campaign in the setup state. If any part is invalid, nothing is created."""
        user = signed_in(request)
        access_campaigns(user)
        given = read_body(CampaignIn, request)
        with transaction.atomic():
            campaign = services.create_campaign(
                given.pop("name"),
                by=user,
                rules=services.preset_rules(given.pop("preset")),
                configurations=[find_configuration(one) for one in given.pop("configurations")],
            )
            for name in given.pop("reviewers"):
                services.add_reviewer(campaign, _person(name), by=user)
            chosen = access_actions(user).filter(pk__in=given.pop("actions"))
            services.add_actions(campaign, list(chosen), by=user)
            if given:
                services.change_campaign(campaign, by=user, **given)
        return self._answer(str(campaign.pk), status=status.HTTP_201_CREATED)

    @extend_schema(request=RulesFields, responses=CampaignDetailOut)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change rules. In the main phase, changes to rules that affect scores are rejected with 409."""
        user = signed_in(request)
        services.change_campaign(_campaign(user, pk), by=user, **read_body(RulesFields, request))
        return self._answer(pk)

    @extend_schema(request=StateIn, responses=CampaignDetailOut)
    @action(detail=True, methods=["post"])
    def state(self, request: Request, pk: str) -> Response:
        """Change the campaign's state to pilot, open, paused or closed."""
        user = signed_in(request)
        services.move_campaign(_campaign(user, pk), read_body(StateIn, request)["state"], by=user)
        return self._answer(pk)

    @extend_schema(request=None, responses={202: StartedOut})
    @action(detail=True, methods=["post"], url_path="start-pilot-runs")
    def start_pilot_runs(self, request: Request, pk: str) -> Response:
        """Start the missing runs of the pilot's statements in the background."""
        user = signed_in(request)
        count = ask_for_runs(_campaign(user, pk), by=user, pilot=True)
        return Response({"runs": count}, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses={202: StartedOut})
    @action(detail=True, methods=["post"], url_path="start-runs")
    def start_runs(self, request: Request, pk: str) -> Response:
        """Start all missing runs in the background."""
        user = signed_in(request)
        count = ask_for_runs(_campaign(user, pk), by=user)
        return Response({"runs": count}, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=EarlierScoresIn, responses=EarlierScoresOut)
    @action(detail=True, methods=["post"], url_path="earlier-scores")
    def earlier_scores(self, request: Request, pk: str) -> Response:
        """Keep scores given under earlier versions of the rubric, or send their items back to the reviewers."""
        user = signed_in(request)
        campaign, given = _campaign(user, pk), read_body(EarlierScoresIn, request)
        decide = keep_older_scores if given["do"] == "keep" else send_back_older_scores
        return Response({"reviews": decide(campaign, why=given["why"], by=user)})

    @extend_schema(request=MemberIn, responses=CampaignDetailOut)
    @action(detail=True, methods=["post"])
    def members(self, request: Request, pk: str) -> Response:
        """Add a reviewer, or change a reviewer's limit or pause status."""
        user = signed_in(request)
        campaign = _campaign(user, pk)
        given = read_body(MemberIn, request)
        person = _person(given["user"])
        there = campaign.members.filter(user=person).first()
        limit = given.get("limit", there.limit if there else None)
        with transaction.atomic():
            member = services.add_reviewer(campaign, person, by=user, limit=limit)
            if "paused" in given:
                services.pause_member(member, paused=given["paused"], by=user)
        return self._answer(pk)

    @extend_schema(responses=ProgressOut)
    @action(detail=True)
    def progress(self, request: Request, pk: str) -> Response:
        """Return the campaign's progress."""
        board = read_dashboard(_campaign(signed_in(request), pk))
        known = {
            **vars(board.progress),
            "reviews_left": board.left,
            "reviews_a_day": board.pace.a_day,
            "ends_on": board.pace.ends_on,
            "disputed": board.disputed,
            "spent": board.money.spent if board.money else None,
            "message_batches": board.batches,
        }
        return Response(ProgressOut(known).data)

    @extend_schema(responses=EstimateOut)
    @action(detail=True)
    def estimate(self, request: Request, pk: str) -> Response:
        """Return the expected cost of the runs and the reviewers' expected time."""
        expected = estimate(_campaign(signed_in(request), pk))
        return Response(EstimateOut(describe(expected)).data)

    @extend_schema(request=SendIn, responses=SentOut)
    @action(detail=True, methods=["post"])
    def send(self, request: Request, pk: str) -> Response:
        """Send items of a closed study to the review queue for a decision."""
        user = signed_in(request)
        campaign, given = _campaign(user, pk), read_body(SendIn, request)
        items = list(campaign.items.filter(pk__in=given["items"]))
        if len(items) < len(set(given["items"])):
            raise BadInput(_("This item is not in the study."), field="items")
        return Response(SentOut(services.send_to_live_queue(campaign, items, by=user)).data)

    @extend_schema(request=AdjudicationIn, responses={204: None})
    @action(detail=True, methods=["post"])
    def adjudicate(self, request: Request, pk: str) -> Response:
        """Set the final score for a stage where reviewers differ."""
        user = signed_in(request)
        campaign, given = _campaign(user, pk), read_body(AdjudicationIn, request)
        item = get_object_or_404(campaign.items, pk=given.pop("item"))
        services.adjudicate(item, by=user, **given)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _answer(self, pk: str, *, status: int = 200) -> Response:
        campaign = _campaign(signed_in(self.request), pk)
        return Response(CampaignDetailOut(campaign).data, status=status)


def _campaign(user: User, pk: str) -> Campaign:
    return access_campaign(user, read_key(pk))


def _person(name: str) -> User:
    user = find_user(name, queue.people_who_review())
    if user is None:
        raise Http404
    return user
