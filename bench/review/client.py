"""Lightweight clients that behave like reviewers' browsers, with keep-alive, htmx headers and CSRF tokens."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

_FORM = re.compile(
    rb'name="stage" value="(\w+)".*?name="arm" value="(\w+)".*?name="seen" value="(\d+)"'
    rb'.*?name="fence" value="(\d+)"',
    re.DOTALL,
)
_ITEM = re.compile(rb'data-item="(\d+)"')
_TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="(\w+)"')


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Shown(NamedTuple):
    """The item on the page, and the fields of its score form."""

    item: int
    form: dict[str, str]


@dataclass
class Person:
    """A reviewer with one browser and one connection."""

    url: str
    name: str
    password: str
    cookies: dict[str, str] = field(default_factory=dict)
    shown: Shown | None = None
    took: float = 0.0  # duration of the last request in seconds
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def sign_in(self) -> None:
        page = await self.get("/login/")
        token = _TOKEN.search(page.body)
        assert token is not None
        fields = {"username": self.name, "password": self.password}
        answer = await self._send(
            "POST", "/login/", fields | {"csrfmiddlewaretoken": token[1].decode()}
        )
        if "sessionid" not in self.cookies:
            raise RuntimeError(f"{self.name} could not sign in: {answer.status}")

    async def begin(self, campaign: int) -> Answer:
        """Press *Next item* on the study's page, and load the review page."""
        answer = await self.post(f"/studies/{campaign}/next/", {})
        return await self._follow(answer)

    async def score(self, value: int) -> Answer:
        """Submit the score as htmx does. The response contains the next item or a redirect to the queue."""
        assert self.shown is not None
        path = f"/items/{self.shown.item}/"
        fields = self.shown.form | {"value": str(value), "active_seconds": "1.0", "pauses": "0"}
        headers = {"HX-Request": "true", "HX-Target": "desk", "HX-Current-URL": self.url + path}
        answer = await self.post(path + "score/", fields | {"comment": ""}, headers)
        self._read(answer)
        return answer

    async def give_back(self) -> Answer:
        assert self.shown is not None
        fields = {"how": "skip", "why": "Not my field"}
        headers = {"HX-Request": "true", "HX-Target": "desk"}
        answer = await self.post(f"/items/{self.shown.item}/give-back/", fields, headers)
        self._read(answer)
        return answer

    async def get(self, path: str) -> Answer:
        return await self._send("GET", path, None)

    async def post(
        self, path: str, fields: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> Answer:
        token = {"X-CSRFToken": self.cookies.get("csrftoken", "")}
        return await self._send("POST", path, fields, {**(headers or {}), **token})

    async def leave(self) -> None:
        """Close the connection without sending a request."""
        if self._streams:
            self._streams[1].close()
        self._streams = None

    async def _follow(self, answer: Answer) -> Answer:
        if answer.status == 302:
            answer = await self.get(answer.headers["location"])
        self._read(answer)
        return answer

    def _read(self, answer: Answer) -> None:
        item, form = _ITEM.search(answer.body), _FORM.search(answer.body)
        self.shown = None
        if answer.status == 200 and item and form:
            names = ("stage", "arm", "seen", "fence")
            texts = [text.decode() for text in form.groups()]
            self.shown = Shown(int(item[1]), dict(zip(names, texts, strict=True)))

    async def _send(
        self,
        method: str,
        path: str,
        fields: Mapping[str, str] | None,
        more: Mapping[str, str] | None = None,
    ) -> Answer:
        body = urlencode(fields).encode() if fields is not None else b""
        headers = {
            "Host": urlsplit(self.url).netloc,
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "Accept-Encoding": "gzip, br",
            **(more or {}),
        }
        if body or method == "POST":
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            headers["Content-Length"] = str(len(body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        began = time.perf_counter()
        answer = await self._exchange(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        self.took = time.perf_counter() - began
        return answer

    async def _exchange(self, request: bytes) -> Answer:
        if self._streams is None or self._streams[0].at_eof():
            place = urlsplit(self.url)
            self._streams = await asyncio.open_connection(place.hostname, place.port, limit=2**20)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {}
        for line in head[1:-2]:
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
            if name.lower() == "set-cookie":
                cookie, _, text = value.partition(";")[0].partition("=")
                self.cookies[cookie] = text
        status = int(head[0].split()[1])
        length = int(headers.get("content-length", "0" if status in (204, 304) else "-1"))
        body = await reader.readexactly(length) if length >= 0 else await _read_chunks(reader)
        if headers.get("connection", "").lower() == "close":
            await self.leave()
        return Answer(status, headers, body)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while size := int(await reader.readline(), 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(parts)
