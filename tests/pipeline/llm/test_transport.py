"""Tests for how and when one attempt against each misbehaving server ends, and what it leaves behind."""

from __future__ import annotations

import resource
import socket
import ssl
import threading
import time
from collections.abc import Callable

import httpx2
import pytest

from core.network import connections
from core.network.http_exchange import Group, current_group
from pipeline.llm import transport
from pipeline.llm.client import MessagesClient
from pipeline.llm.transport import Limits
from pipeline.llm.types import Answered, Failed, FailureKind, Target, Trouble, UsageDoubt
from tests.hostile import CERTIFICATE, KINDS, Hostile

SECONDS = 0.6  # timeout for replies that never end
LONG = 30.0  # timeout for immediate replies on a busy machine
REQUEST: dict[str, object] = {
    "model": "any",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Write it."}],
}
Ask = Callable[..., Answered | Failed]


@pytest.fixture
def ask(hostile: Hostile) -> Ask:
    """Return a function that makes one attempt against the hostile server or another address."""
    client = MessagesClient(Limits(most_bytes=1_000_000))

    def ask(kind: str, *, url: str = "", seconds: float = LONG) -> Answered | Failed:
        target = Target(kind, url or hostile.url(kind), "key", seconds)
        [ended] = client.send([(target, REQUEST)])
        return ended

    return ask


def failed(ended: Answered | Failed) -> tuple[FailureKind, str, bool]:
    assert isinstance(ended, Failed), ended
    return ended.kind, ended.error_type, ended.possibly_billed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "ends", "words"),
    [
        ("drip", (FailureKind.TIMEOUT, "", True), "No complete reply within"),
        ("drip-headers", (FailureKind.TIMEOUT, "", True), "No complete reply within"),
        ("silent", (FailureKind.TIMEOUT, "", True), "No complete reply within"),
        ("endless", (FailureKind.REFUSED, Trouble.TOO_LARGE, True), "larger than 1 MB"),
        ("200-mb", (FailureKind.REFUSED, Trouble.TOO_LARGE, True), "larger than 1 MB"),
        ("gzip-bomb", (FailureKind.REFUSED, Trouble.TOO_LARGE, True), "larger than 1 MB"),
        ("large-script", (FailureKind.REFUSED, Trouble.TOO_LARGE, True), "larger than 1 MB"),
        ("bad-gzip", (FailureKind.REFUSED, Trouble.ENCODING, True), "can't be decompressed"),
        ("redirect", (FailureKind.REFUSED, Trouble.REDIRECT, False), "not followed"),
        ("redirect-loop", (FailureKind.REFUSED, Trouble.REDIRECT, False), "not followed"),
        ("reset", (FailureKind.TIMEOUT, "ReadError", True), "connection broke"),
        ("html", (FailureKind.REFUSED, Trouble.WEB_PAGE, False), "returned a web page"),
        ("oversized-headers", (FailureKind.REFUSED, Trouble.HEADERS, True), "headers are larger"),
    ],
)  # fmt: skip
def test_each_ends_in_time_with_one_request_and_true_words(
    hostile: Hostile, ask: Ask, kind: str, ends: tuple[FailureKind, str, bool], words: str
) -> None:
    hostile.requests.clear()
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    ended = ask(kind, seconds=SECONDS if "No complete reply" in words else LONG)
    assert failed(ended) == ends
    assert words in ended.message
    assert time.monotonic() - began < LONG - 5
    assert dict(hostile.requests) == {kind: 1}, "one try is one request, and nothing goes elsewhere"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    # The server is in this process too, and its large script is part of the measured memory.
    assert grown < (150 if kind == "large-script" else 40), f"{grown:.0f} MiB"
    deadline = time.monotonic() + LONG
    while hostile.open[kind]:
        assert time.monotonic() < deadline, "the connection is left open"
        time.sleep(0.01)


def test_every_kind_of_the_server_is_tried() -> None:
    marks = test_each_ends_in_time_with_one_request_and_true_words.pytestmark
    [mark] = [one for one in marks if one.name == "parametrize"]
    tried = {case[0] for case in mark.args[1]}
    assert tried | {"usage-null", "usage-absurd"} == set(KINDS)


@pytest.mark.slow
def test_no_thread_is_left_behind_by_tries_that_ran_out_of_time(hostile: Hostile) -> None:
    client = MessagesClient()
    target = Target("drip", hostile.url("drip"), "key", SECONDS)
    before = threading.active_count()
    askers = [
        threading.Thread(target=client.send, args=([(target, REQUEST)] * 2,)) for _ in range(10)
    ]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join(timeout=LONG)
    assert not any(asker.is_alive() for asker in askers)
    # A thread that sent a second request stays idle until an endpoint needs it again.
    assert threading.active_count() - before <= 10 + 2 * 20
    assert hostile.open["drip"] == 0 or _drained(hostile, "drip")


def _drained(hostile: Hostile, kind: str) -> bool:
    deadline = time.monotonic() + LONG
    while hostile.open[kind] and time.monotonic() < deadline:
        time.sleep(0.01)
    return not hostile.open[kind]


@pytest.mark.parametrize("kind", ["drip", "drip-headers", "silent"])
def test_a_try_that_nobody_waits_for_any_more_ends_at_once(hostile: Hostile, kind: str) -> None:
    client, group = MessagesClient(), Group()
    target = Target(kind, hostile.url(kind), "key", 4 * LONG)
    ended: list[Answered | Failed] = []

    def ask() -> None:
        current_group.set(group)
        ended.extend(client.send([(target, REQUEST)] * 2))

    asker = threading.Thread(target=ask)
    asker.start()
    deadline = time.monotonic() + LONG
    while hostile.open[kind] < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    group.abandon("The run was cancelled.")
    asker.join(timeout=LONG)
    assert not asker.is_alive()
    assert [failed(one) for one in ended] == [(FailureKind.TIMEOUT, Trouble.ABANDONED, True)] * 2
    assert ended[0].message == "The run was cancelled."
    assert _drained(hostile, kind), "its connections are closed"


def test_what_is_abandoned_before_it_began_is_not_sent(hostile: Hostile) -> None:
    client = MessagesClient()
    client.abandon_all("The worker is shutting down.")
    hostile.requests.clear()
    [ended] = client.send([(Target("html", hostile.url("html"), "key", 5.0), REQUEST)])
    assert failed(ended) == (FailureKind.TIMEOUT, Trouble.ABANDONED, False)
    assert not hostile.requests


def test_reply_with_doubtful_usage_is_kept(ask: Ask, subtests: pytest.Subtests) -> None:
    cases = [
        ("usage-null", UsageDoubt.NOT_REPORTED, ""),
        ("usage-absurd", UsageDoubt.NOT_BELIEVED, '"input_tokens": 1' + "0" * 30),
    ]
    for kind, doubt, said in cases:
        with subtests.test(kind):
            ended = ask(kind)
            assert isinstance(ended, Answered)
            assert (ended.doubt, ended.usage.input, ended.usage.output) == (doubt, 0, 0)
            assert said in ended.said and ended.message["usage"] is None


@pytest.fixture
def leads_to(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return a function that sets the results of the next DNS lookups and returns the list of looked-up names."""

    def lead(*answers: str) -> list[str]:
        asked: list[str] = []

        def find(host: str, port: int, *, within: float) -> list[str]:
            asked.append(host)
            return [answers[min(len(asked), len(answers)) - 1]]

        monkeypatch.setattr(connections._resolver, "find", find)
        return asked

    return lead


def test_the_address_connected_to_is_the_one_that_was_judged(
    hostile: Hostile, ask: Ask, leads_to: Callable[..., list[str]]
) -> None:
    """A name that resolves to this machine when it is checked but elsewhere afterwards must not help an attacker."""
    asked = leads_to("127.0.0.1", "169.254.169.254")
    ended = ask("usage-null", url=f"http://gpu.lan:{hostile.port}/usage-null")
    assert isinstance(ended, Answered)
    assert asked == ["gpu.lan"], "looked up once for the connection, and not again by the socket"


def test_a_name_that_leads_where_nothing_is_asked_is_not_connected_to(
    ask: Ask, leads_to: Callable[..., list[str]], subtests: pytest.Subtests
) -> None:
    cases = [
        ("http://gpu.lan:8080", "169.254.169.254", "link-local, metadata or reserved"),
        ("https://models.example", "fd00:ec2::254", "link-local, metadata or reserved"),
        ("https://models.example", "::ffff:169.254.169.254", "link-local, metadata or reserved"),
        ("http://gpu.lan:8080", "8.8.8.8", "requires encryption"),
        ("http://localhost:8080", "10.0.0.5", "is not this machine"),
        ("http://metadata.google.internal", "10.0.0.5", "metadata service"),
    ]
    for url, found, words in cases:
        with subtests.test(f"{url} {found}"):
            leads_to(found)
            ended = ask("anywhere", url=url)
            assert failed(ended) == (FailureKind.REFUSED, Trouble.ADDRESS, False)
            assert words in ended.message


@pytest.mark.slow
def test_slow_name_lookup_is_given_up(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    late = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_given, **_named: late.wait(LONG) and [])
    began = time.monotonic()
    ended = [ask("x", url="http://gpu.lan:1", seconds=0.2) for _ in range(3)]
    assert {failed(one)[0] for one in ended} == {FailureKind.UNREACHABLE}
    assert time.monotonic() - began < LONG - 5
    assert sum("_look_up" in str(one) for one in threading.enumerate()) <= 1, "one for one name"
    late.set()


def test_a_proxy_of_the_environment_is_not_used(
    hostile: Hostile, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert isinstance(ask("usage-null"), Answered)


def test_what_goes_through_the_proxy_of_the_setting(subtests: pytest.Subtests) -> None:
    cases = {
        "https://api.anthropic.com": True,
        "https://8.8.8.8": True,
        "https://10.0.0.5": False,
        "https://[fd12::1]": False,
        "http://gpu.lan:8080": False,
        "http://localhost:1": False,
        "https://localhost:1": False,
        "http://127.0.0.1:1": False,
    }
    for base_url, goes in cases.items():
        with subtests.test(base_url):
            assert transport.goes_by_proxy(base_url, "http://proxy.lan:3128") is goes
            assert not transport.goes_by_proxy(base_url, "")


def test_proxy_setting_connects_and_resolves_names(leads_to: Callable[..., list[str]]) -> None:
    heard: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _address = listener.accept()
        heard.append(connection.recv(4096))
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
        connection.close()

    threading.Thread(target=serve, daemon=True).start()
    asked = leads_to("127.0.0.1")
    proxy = f"http://localhost:{listener.getsockname()[1]}"
    client = MessagesClient(Limits(proxy=proxy))
    [ended] = client.send([(Target("far", "https://models.example", "key", 5.0), REQUEST)])
    listener.close()
    assert heard[0].startswith(b"CONNECT models.example:443 ")
    assert asked == ["localhost"], "only the proxy's own name is looked up here"
    assert failed(ended) == (FailureKind.REFUSED, Trouble.PROXY, False)


def test_certificate_and_tls_faults_are_told_apart(hostile: Hostile, ask: Ask) -> None:
    ended = ask("tls", url=hostile.tls_url)
    assert failed(ended) == (FailureKind.REFUSED, Trouble.CERTIFICATE, False)
    assert "self-signed certificate" in ended.message
    ended = ask("html", url=f"https://localhost:{hostile.port}/html")
    assert failed(ended) == (FailureKind.REFUSED, Trouble.TLS, False)


def test_the_certificate_is_verified_for_the_name_although_an_address_is_connected_to(
    hostile: Hostile, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
    monkeypatch.setattr(transport, "_ssl_context", lambda: trusting)
    good = ask("usage-null", url=hostile.tls_url.replace("/tls", "/usage-null"))
    assert isinstance(good, Answered)
    other = hostile.tls_url.replace("localhost", "127.0.0.1")
    assert failed(ask("tls", url=other)) == (FailureKind.REFUSED, Trouble.CERTIFICATE, False)


def _body(*pieces: bytes, encoding: str = "identity", most: int = 100) -> bytes:
    response = transport.httpcore2.Response(200, content=iter(pieces))
    unpacker = transport._unpacker_of(httpx2.Headers({"content-encoding": encoding}))
    return b"".join(transport._Body(response, unpacker, most, cuts=False))


def _packed(data: bytes) -> bytes:
    packer = transport.zlib.compressobj(9, transport.zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def test_body_is_unpacked_wherever_it_is_cut() -> None:
    data = b"abc" * 30
    packed = _packed(data)
    for cut in range(1, len(packed)):
        assert _body(packed[:cut], packed[cut:], encoding="gzip") == data
    assert _body(b"x" * 50, b"y" * 50) == b"x" * 50 + b"y" * 50


def test_what_is_too_large_or_badly_packed_is_refused(subtests: pytest.Subtests) -> None:
    cases = {
        "one byte too many": ([b"x" * 101], "identity", transport.TooLarge),
        "in two pieces": ([b"x" * 60] * 2, "identity", transport.TooLarge),
        "unpacked": ([_packed(b"x" * 101)], "gzip", transport.TooLarge),
        "more after its end": ([_packed(b"x"), b"y" * 101], "gzip", transport.TooLarge),
        "cut short": ([_packed(b"x" * 9)[:-4]], "gzip", transport.BadPacking),
        "not gzip": ([b"x"], "gzip", transport.BadPacking),
        "not asked for": ([b"x"], "br", transport.BadPacking),
    }
    for name, (pieces, encoding, error) in cases.items():
        with subtests.test(name), pytest.raises(error):
            _body(*pieces, encoding=encoding)


def test_a_request_to_another_server_than_the_endpoints_is_not_sent() -> None:
    """The server supplies the URL of its results, but the key must not be sent to another server."""
    ours = transport.Transport("http://127.0.0.1:1", Limits())
    for elsewhere in ("http://127.0.0.1:2/", "https://127.0.0.1:1/", "http://127.0.0.2:1/"):
        with pytest.raises(transport.Elsewhere):
            ours.handle_request(httpx2.Request("GET", elsewhere))
