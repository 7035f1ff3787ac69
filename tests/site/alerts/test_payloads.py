"""Tests that requests from every kind of source are converted to the same form, including any text in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scriptsmith_site.integrations.alerts import payloads
from scriptsmith_site.integrations.alerts.matchers import BadMatcher, all_hold, read_matchers
from scriptsmith_site.integrations.alerts.texts import clean_link, read_json, read_time
from scriptsmith_site.integrations.alerts.types import Received, Unreadable
from tests.site.alerts import payloads as sent


def read(kind: str, document: Any, mapping: dict[str, str] | None = None) -> Received:
    return payloads.read(kind, read_json(json.dumps(document).encode()), mapping=mapping or {})


def test_alertmanager() -> None:
    received = read("alertmanager", sent.alertmanager(truncatedAlerts=3))
    (alert,) = received.alerts
    assert alert.title == alert.text == "Delete files older than 30 days in /var/tmp/exports"
    assert (alert.severity, alert.is_resolved, alert.ends_at) == (1, False, None)
    assert alert.labels["instance"] == "web-1:9100"
    assert alert.runbook == "https://runbooks.example.org/exports"
    assert alert.starts_at is not None and alert.starts_at.year == 2026
    assert (received.truncated, received.resolved_group) == (3, "")


def test_an_alert_is_the_same_from_start_to_end_and_another_when_it_starts_again() -> None:
    def key(**changes: str) -> str:
        return (
            read("alertmanager", sent.alertmanager(sent.prometheus_alert() | changes)).alerts[0].key
        )

    assert key() == key(status="resolved", endsAt="2026-11-02T04:00:00Z")
    assert key() != key(startsAt="2026-11-03T03:04:05Z")
    assert key() != key(fingerprint="a2")


def test_grafana_and_pagerduty_alerts_are_read() -> None:
    (alert,) = read("grafana", sent.grafana()).alerts
    assert alert.link == "https://grafana.example.org/d/abc?viewPanel=1"
    assert "97.5" in alert.annotations["values"]
    (alert,) = read("pagerduty", sent.pagerduty()).alerts
    assert (alert.title, alert.severity) == ("Disk of web-1 is full", 1)
    assert alert.labels["service"] == "Exports"
    (over,) = read("pagerduty", sent.pagerduty("incident.resolved", status="resolved")).alerts
    assert over.is_resolved and over.key == alert.key
    assert read("pagerduty", {"event": {"id": "1", "event_type": "pagey.ping"}}).alerts == []


def test_instana_and_generic_alerts_are_read() -> None:
    (alert,) = read("instana", sent.instana()).alerts
    assert alert.title.startswith("Garbage") and alert.text.startswith("Tune")
    assert (alert.severity, alert.labels["fqdn"]) == (1, "host1.demo.com")
    assert read("instana", sent.instana("CLOSED")).alerts[0].is_resolved
    (alert,) = read("generic", sent.generic(), sent.GENERIC_MAPPING).alerts
    assert (alert.title, alert.severity) == ("Old exports fill /var/tmp", 2)
    assert alert.labels == {"team": "web"}
    assert read("generic", sent.generic(over=True), sent.GENERIC_MAPPING).alerts[0].is_resolved
    several = {"x/y": [{"n": "a", "k": 1}, {"n": "b", "k": 2}]}
    mapping = {"alerts": "/x~1y", "title": "/n", "key": "/k"}
    assert [one.title for one in read("generic", several, mapping).alerts] == ["a", "b"]


def test_other_shape_is_refused_with_the_reason() -> None:
    for kind, document, reason in (
        ("alertmanager", {"alerts": []}, "has no list of alerts"),
        ("alertmanager", {"alerts": ["x"]}, "is not an object"),
        ("alertmanager", [], "is a list"),
        ("pagerduty", {"event": []}, "no event"),
        ("instana", {"issue": {}}, "no issue"),
        ("generic", {"event": {"name": "x"}}, "no key at /event/id"),
    ):
        with pytest.raises(Unreadable, match=reason):
            read(kind, document, sent.GENERIC_MAPPING)


def test_unreadable_text_is_refused() -> None:
    deep = [b"[" * 30_000, b'{"a":' * 30_000]
    for body in (b"", b"x", b"\xff", b'"x"', *deep, b"1" * 10_000, b"NaN"):
        with pytest.raises(Unreadable):
            read_json(body)
    for text in ("team", "=x", 'team=~"(a+)+$"', 'team=~"a*"', "a=b\n" * 21):
        with pytest.raises(BadMatcher):
            read_matchers(text)


HOSTILE = {
    "control": "a\x00b\x1b[2Jc",
    "bidi": "\u202egnp.exe",
    "html": "<script>alert(1)</script>",
    "template": "{{ 7*7 }}{% debug %}${jndi:ldap://x}",
    "yaml": "!!python/object/apply:os.system ['id']",
    "crlf": "x\r\nBcc: all@example.org",
    "long": "w" * 300,
    "half": "\ud800",
    "huge": "x" * 200_000,
}


def test_hostile_labels_are_kept_as_bounded_text_without_control_characters() -> None:
    alert = sent.prometheus_alert(**HOSTILE)
    alert["annotations"] = {"summary": HOSTILE["control"] + HOSTILE["crlf"], "n": {"a": [1]}}
    (found,) = read("alertmanager", sent.alertmanager(alert)).alerts
    json.dumps(found.labels, ensure_ascii=False).encode()
    text = "".join([*found.labels.values(), *found.annotations.values(), found.title])
    assert not any(ord(character) < 32 and character != "\n" for character in text)
    assert "\n" not in found.title
    assert len(found.labels["huge"]) == 1_000 and len(found.labels["long"]) == 300
    assert found.labels["html"] == HOSTILE["html"], "escaping is the page's work"
    assert found.annotations["n"] == '{"a": [1]}'
    many = read(
        "alertmanager",
        sent.alertmanager(sent.prometheus_alert(**{f"l{n}": "x" for n in range(500)})),
    )
    assert len(many.alerts[0].labels) == 64


def test_only_web_addresses_are_links() -> None:
    kept = ["https://example.org/a?b=c#d", "http://[::1]:9090/graph"]
    dropped = [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "//example.org",
        "https://",
        "https://user:secret@example.org/",
        "https://example.org/\r\nx",
        'https://example.org/"onclick=x',
        "https://example.org/\u202e",
        "https://example.org/" + "x" * 3_000,
        7,
    ]
    assert [clean_link(link) for link in kept] == kept
    assert [link for link in dropped if clean_link(link) != ""] == []


def test_times() -> None:
    assert read_time(sent.NOT_YET) is None
    assert str(read_time(1793588645000)).startswith("2026-11-02")
    assert str(read_time(sent.START)) == "2026-11-02 03:04:05.123456+00:00"
    for bad in ("soon", 10**30, -(10**30), float("inf"), True, None, "", {}, "9" * 5_000):
        assert read_time(bad) is None


def test_matchers_hold_or_not() -> None:
    labels = {"team": "web", "instance": "web-1", "severity": "critical"}
    table = {
        "": True,
        'team="web"': True,
        "team=web": True,
        'team="db"': False,
        'team!="db"\nseverity=~"critical|page"': True,
        'team!="db"\nseverity=~"page"': False,
        'instance=~"web-.*"': True,
        'instance=~"db-.*|.*-1"': True,
        'instance!~"web-.*"': False,
        'gone=""': True,
        'gone=~"x.*"': False,
    }
    assert {text: all_hold(read_matchers(text), labels) for text in table} == table
