"""The API for endpoints, for administrators. It uses the same services as the pages."""

from __future__ import annotations

from dataclasses import replace

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.web.requests import read_body, signed_in
from pipeline.access import access_endpoint, access_endpoints, require_endpoint_manager
from pipeline.endpoints import prices, services
from pipeline.endpoints.check_requests import ask_check, cancel_check
from pipeline.endpoints.prices import PriceValues
from pipeline.endpoints.serializers import (
    CheckInput,
    EndpointChange,
    EndpointInput,
    EndpointSerializer,
    PriceInput,
    PriceSerializer,
    SwitchOnInput,
    UseModeInput,
)
from pipeline.endpoints.services import EndpointValues, values_of
from pipeline.models import Endpoint

# A token that may only request scripts must not change where requests are sent.
MANAGE = "manage"


class EndpointViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Endpoint]
):
    """The model servers, for administrators."""

    serializer_class = EndpointSerializer
    queryset = Endpoint.objects.none()
    lookup_field = "name"
    required_scope = MANAGE

    def get_queryset(self) -> QuerySet[Endpoint]:
        return access_endpoints(signed_in(self.request))

    @extend_schema(request=EndpointInput, responses={201: EndpointSerializer})
    def create(self, request: Request) -> Response:
        """Add an endpoint, which is initially off."""
        user = signed_in(request)
        require_endpoint_manager(user)
        given = read_body(EndpointInput, request)
        name = given.pop("name")
        given.pop("edition", None)
        made = services.create_endpoint(name, values=EndpointValues(**given), by=user)
        return self._answer(made.name, status=status.HTTP_201_CREATED)

    @extend_schema(request=EndpointChange, responses=EndpointSerializer)
    def partial_update(self, request: Request, name: str) -> Response:
        """Change some values. If you send an outdated `edition`, the response is 409."""
        user = signed_in(request)
        endpoint = access_endpoint(user, name)
        given = read_body(EndpointChange, request)
        seen = given.pop("edition", None)
        values = replace(values_of(endpoint), **given)
        services.change_endpoint(endpoint, values=values, by=user, seen=seen)
        return self._answer(name)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, name: str) -> Response:
        """Delete an endpoint that was never used."""
        user = signed_in(request)
        services.delete_endpoint(access_endpoint(user, name), by=user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=SwitchOnInput, responses=EndpointSerializer)
    @action(detail=True, methods=["post"], url_path="switch-on")
    def switch_on(self, request: Request, name: str) -> Response:
        """Turn on the endpoint. An endpoint outside this machine requires `confirmed`."""
        user = signed_in(request)
        endpoint = access_endpoint(user, name)
        body = read_body(SwitchOnInput, request)
        services.switch_on(endpoint, by=user, confirmed=body["confirmed"])
        return self._answer(name)

    @extend_schema(request=None, responses=EndpointSerializer)
    @action(detail=True, methods=["post"], url_path="switch-off")
    def switch_off(self, request: Request, name: str) -> Response:
        """Turn off the endpoint."""
        user = signed_in(request)
        services.switch_off(access_endpoint(user, name), by=user)
        return self._answer(name)

    @extend_schema(request=None, responses=EndpointSerializer)
    @action(detail=True, methods=["post"])
    def wake(self, request: Request, name: str) -> Response:
        """Resume a paused endpoint."""
        user = signed_in(request)
        services.wake(access_endpoint(user, name), by=user)
        return self._answer(name)

    @extend_schema(request=CheckInput, responses={202: EndpointSerializer})
    @action(detail=True, methods=["post"])
    def check(self, request: Request, name: str) -> Response:
        """Check the endpoint in a worker, with at most three calls. Poll `check` until its state is done."""
        user = signed_in(request)
        endpoint = access_endpoint(user, name)
        body = read_body(CheckInput, request)
        ask_check(endpoint, model=body["model"], by=user)
        return self._answer(name, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses=EndpointSerializer)
    @check.mapping.delete
    def cancel_check(self, request: Request, name: str) -> Response:
        """Cancel the check in progress."""
        user = signed_in(request)
        cancel_check(access_endpoint(user, name), by=user)
        return self._answer(name)

    @extend_schema(request=UseModeInput, responses=EndpointSerializer)
    @action(detail=True, methods=["post"], url_path="use-mode")
    def use_mode(self, request: Request, name: str) -> Response:
        """Use the mode that the last check recommends."""
        user = signed_in(request)
        endpoint = access_endpoint(user, name)
        body = read_body(UseModeInput, request)
        services.use_mode(endpoint, mode=body["mode"], by=user)
        return self._answer(name)

    @extend_schema(request=PriceInput, responses={201: PriceSerializer})
    @action(detail=True, methods=["post"], url_path="prices")
    def add_price(self, request: Request, name: str) -> Response:
        """Add a price for a model, valid from a given day."""
        user = signed_in(request)
        endpoint = access_endpoint(user, name)
        body = read_body(PriceInput, request)
        made = prices.add_price(endpoint, values=PriceValues(**body), by=user)
        return Response(PriceSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses={204: None})
    @action(detail=True, methods=["delete"], url_path=r"prices/(?P<pk>\d{1,18})")
    def remove_price(self, request: Request, name: str, pk: str) -> Response:
        """Delete a price that no call has used."""
        user = signed_in(request)
        price = get_object_or_404(access_endpoint(user, name).prices, pk=pk)
        prices.remove_price(price, by=user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _answer(self, name: str, *, status: int = 200) -> Response:
        endpoint = access_endpoint(signed_in(self.request), name)
        return Response(EndpointSerializer(endpoint).data, status=status)
