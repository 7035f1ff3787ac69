"""Measure an alert storm on real servers: 10,000 alerts of 50 groups in 1,000 requests within a minute."""

from __future__ import annotations

import asyncio
import json
import time
from statistics import quantiles
from urllib.parse import urlsplit

from bench.figures import Figure, figure, machine, slowness
from bench.support.product import Product, running

REQUESTS, ALERTS, GROUPS = 1_000, 10, 50
SECONDS = 60.0
_CONNECTIONS = 8
_MOST_SECONDS = 180.0  # time limit for the worker


def measure() -> list[Figure]:
    """Send the alerts, count cards, lost alerts and model calls, and time the responses."""
    with running() as product:
        # Import these modules here, because they need the settings that `running` sets.
        from django.contrib.auth.models import User

        from pipeline.models import Action, ModelCall
        from scriptsmith_site.integrations.alerts.services import sources
        from scriptsmith_site.models import Alert, AlertDelivery, Incident
        from scriptsmith_site.people.roles import make_roles

        make_roles()
        boss = User.objects.create_superuser("boss")
        source = sources.add_source("alertmanager", by=boss, details={"name": "Storm"})
        secret = sources.make_key(source, by=boss).secret
        began = time.monotonic()
        answers = asyncio.run(_storm(product, f"/hooks/alertmanager/{source.pk}", secret))
        sent_in = time.monotonic() - began
        while AlertDelivery.objects.filter(state__in=["waiting", "running"]).exists():
            if time.monotonic() - began > _MOST_SECONDS:
                break
            time.sleep(0.1)
        through = time.monotonic() - began
        counts = dict(source.tallies.values_list("what", "count"))
        told = sum(counts.get(one, 0) for one in ("new", "repeated", "counted only"))
        took = sorted(seconds * 1_000 for _status, seconds in answers)
        cuts = quantiles(took, n=20)
        return [
            figure(
                "requests answered with 202", sum(one == 202 for one, _ in answers), exactly=1000
            ),
            figure("cards", Incident.objects.count(), exactly=GROUPS),
            figure("alerts lost", REQUESTS * ALERTS - told, exactly=0),
            figure("alerts as rows", Alert.objects.count()),
            figure("models asked", ModelCall.objects.count() + Action.objects.count(), exactly=0),
            figure("p50 of an answer in ms", cuts[9]),
            figure("p95 of an answer in ms", cuts[18], most=100 * slowness()),
            figure("slowest answer in ms", took[-1]),
            figure("seconds of the storm", sent_in),
            figure("seconds until all was taken in", through),
            machine(),
        ]


async def _storm(product: Product, path: str, secret: str) -> list[tuple[int, float]]:
    """Send requests at a constant rate, regardless of response times. Return each status and duration in seconds."""
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
    begin = time.perf_counter() + 0.5
    for number in range(REQUESTS):
        queue.put_nowait(
            (begin + number * SECONDS / REQUESTS, _request(product, path, secret, number))
        )
    answers: list[tuple[int, float]] = []

    async def work() -> None:
        while not queue.empty():
            due, request = queue.get_nowait()
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            answers.append(await _send(product, request))

    await asyncio.gather(*(work() for _one in range(_CONNECTIONS)))
    return answers


async def _send(product: Product, request: bytes) -> tuple[int, float]:
    place = urlsplit(product.url)
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(request)
    status = int((await reader.readline()).split()[1])
    await reader.read()
    took = time.perf_counter() - began
    writer.close()
    return status, took


def _request(product: Product, path: str, secret: str, number: int) -> bytes:
    group, turn = number % GROUPS, number // GROUPS
    alerts = [
        {
            "status": "firing",
            "labels": {
                "alertname": f"Storm{group}",
                "severity": "critical",
                "instance": f"web-{one}:9100",
            },
            "annotations": {"summary": f"Storm {group}: restart nginx"},
            "startsAt": f"2026-11-02T03:{turn:02}:00Z",
            "endsAt": "0001-01-01T00:00:00Z",
            "fingerprint": f"{group}-{turn}-{one}",
        }
        for one in range(ALERTS)
    ]
    body = json.dumps(
        {"version": "4", "status": "firing", "groupKey": f"g{group}", "alerts": alerts}
    ).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {urlsplit(product.url).netloc}\r\nConnection: close\r\n"
        f"Authorization: Bearer {secret}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
