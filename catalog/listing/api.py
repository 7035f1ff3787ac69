"""The API for the list of entries, with filters and search."""

from __future__ import annotations

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.listing import services
from catalog.listing.forms import AGE_CHOICES, USE_CHOICES
from catalog.listing.serializers import ListedSerializer
from catalog.listing.services import Filters
from catalog.listing.services.filters import ALL, IN_USE, MERGED, SUSPENDED
from catalog.models import Entry, Version


class EntryFilter(filters.FilterSet):  # type: ignore[misc]
    """The filters of the list page. A single version must match all filters."""

    state = filters.ChoiceFilter(
        choices=[
            *Version.State.choices,
            (IN_USE, "Draft, in review or verified"),
            (ALL, "All"),
            (SUSPENDED, "Suspended"),
            (MERGED, "Merged"),
        ]
    )
    risk = filters.ChoiceFilter(choices=Version.Risk.choices)
    side_effect = filters.ChoiceFilter(choices=Version.SideEffect.choices)
    tag = filters.CharFilter()
    owner = filters.CharFilter()
    age = filters.ChoiceFilter(choices=AGE_CHOICES)
    use = filters.ChoiceFilter(choices=USE_CHOICES)

    def filter_queryset(self, queryset: QuerySet[Entry]) -> QuerySet[Entry]:
        return services.list_entries(self.chosen(), among=queryset)

    def chosen(self) -> Filters:
        """Return the filters in the services' format."""
        return Filters(**{name: value or "" for name, value in self.form.cleaned_data.items()})


class EntryListViewSet(viewsets.GenericViewSet[Entry]):
    """Entries, newest first, or the best matches for the query `q`."""

    filterset_class = EntryFilter

    @extend_schema(
        parameters=[OpenApiParameter("q", str, description="The task to search for.")],
        responses=ListedSerializer(many=True),
    )
    def list(self, request: Request) -> Response:
        """List entries, each with its verified version or else its newest version."""
        chosen = EntryFilter(request.query_params, queryset=Entry.objects.none())
        query = request.query_params.get("q", "")
        queryset = self.filter_queryset(self.get_queryset())
        narrowed = chosen.chosen() if chosen.is_valid() else Filters()
        if query:
            found = services.search_entries(query, filters=narrowed)
            rows = services.rows_of(found.entries, narrowed)
            results = ListedSerializer(rows, many=True).data
            return Response({"next": None, "previous": None, "results": results})
        page = self.paginate_queryset(queryset)
        rows = services.rows_of(page or [], narrowed)
        return self.get_paginated_response(ListedSerializer(rows, many=True).data)
