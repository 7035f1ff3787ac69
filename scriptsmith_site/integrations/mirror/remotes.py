"""The remote repository: read its branches, fetch commits and push without force.

HTTPS and SSH connect only to IP addresses that pass the same checks as webhook addresses.
"""

from __future__ import annotations

import base64
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import httpcore2
from django.conf import settings
from django.utils.translation import gettext as _
from dulwich.client import (
    AbstractHttpGitClient,
    GitClient,
    HTTPUnauthorized,
    LocalGitClient,
    SSHGitClient,
    SSHVendor,
    SubprocessWrapper,
)
from dulwich.errors import (
    ApplyDeltaError,
    ChecksumMismatch,
    GitProtocolError,
    HangupException,
    NotGitRepository,
    ObjectFormatException,
    SendPackError,
)
from dulwich.objects import ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from core.errors import BadInput
from core.network.addresses import ForbiddenAddress
from core.network.connections import JudgedNetwork
from core.network.http_exchange import Exchange, under_way
from scriptsmith_site.integrations.mirror.addresses import (
    find_folder,
    is_by_ssh,
    is_folder,
    read_ssh,
)
from scriptsmith_site.integrations.outbox.transport.addresses import choose_addresses

SECONDS = 60.0  # limit for one exchange
MOST_BYTES = 256 * 1024 * 1024  # limit for one response


class RemoteTrouble(Exception):
    """The remote could not be reached or rejected the request. The message says what to do."""


class MovedOn(Exception):
    """The branch has an unexpected head. `found` is that head, or empty if the branch does not exist."""

    def __init__(self, found: str) -> None:
        super().__init__(found)
        self.found = found


class Access(NamedTuple):
    """The address and credentials of a repository. The secret is a password, a token or an SSH private key."""

    address: str
    user_name: str = ""
    secret: str = ""
    host_key: str = ""


class Remote:
    """A connection to a repository."""

    def __init__(self, client: GitClient, path: str) -> None:
        self._client = client
        self._path = path

    def heads(self) -> dict[str, str]:
        """Return the head commit of each branch. Raises RemoteTrouble."""
        with _exchange():
            refs = self._client.get_refs(self._path.encode()).refs
        return {
            name.decode("utf-8", "replace").removeprefix("refs/heads/"): commit.decode()
            for name, commit in refs.items()
            if name.startswith(b"refs/heads/") and commit is not None
        }

    def check(self) -> None:
        """Check write access without writing anything. Raises RemoteTrouble."""
        if isinstance(self._client, LocalGitClient) and not os.access(self._path, os.W_OK):
            raise RemoteTrouble(_("The folder does not exist, or the worker can't write to it."))
        with _exchange():
            self._client.send_pack(
                self._path.encode(), lambda _refs: {}, lambda *_given, **_named: (0, iter(()))
            )

    def fetch(self, repository: Repo, commit: str) -> None:
        """Fetch a commit and its history into this repository. Raises RemoteTrouble."""
        wanted = [ObjectID(commit.encode())]
        with _exchange():
            self._client.fetch(
                self._path.encode(),
                repository,
                determine_wants=lambda _refs, depth=None: wanted,
            )

    def push(self, repository: Repo, branch: str, commit: str, *, expected: str) -> None:
        """Move the branch from `expected` (empty if it does not exist) to this commit.

        Raises RemoteTrouble, or MovedOn if the branch has a different head.
        """
        ref = Ref(f"refs/heads/{branch}".encode())

        def update(refs: dict[Ref, ObjectID]) -> dict[Ref, ObjectID]:
            found = refs.get(ref, ObjectID(b"")).decode()
            if found != expected:
                raise MovedOn(found)
            return {ref: ObjectID(commit.encode())}

        with _exchange():
            result = self._client.send_pack(
                self._path.encode(), update, repository.object_store.generate_pack_data
            )
        refused = (result.ref_status or {}).get(ref)
        if refused:
            raise RemoteTrouble(_("The repository rejected the commit: %s") % _one_line(refused))


@contextmanager
def open_remote(access: Access) -> Iterator[Remote]:
    """Connect to the repository. Raises RemoteTrouble."""
    if is_folder(access.address):
        try:
            folder = find_folder(access.address)
        except BadInput as refusal:
            raise RemoteTrouble(str(refusal)) from None
        yield Remote(LocalGitClient(), str(folder))
    elif is_by_ssh(access.address):
        with _keys(access) as options:
            address = read_ssh(access.address)
            vendor = _JudgedSsh(options)
            client = SSHGitClient(
                address.host, port=address.port, username=address.user, vendor=vendor
            )
            yield Remote(client, address.path)
    else:
        with _JudgedHttp(access) as by_http:
            yield Remote(by_http, urlsplit(access.address).path)


class _Reply:
    """The attributes of a response that dulwich needs."""

    def __init__(self, reply: httpcore2.Response, close: Callable[[], None]) -> None:
        self.status = reply.status
        kinds = [value for name, value in reply.headers if name.lower() == b"content-type"]
        self.content_type = kinds[0].decode("latin-1") if kinds else None
        self.redirect_location = ""
        self.close = close


class _JudgedHttp(AbstractHttpGitClient):
    """An HTTP client that checks addresses, limits size and time, and uses neither redirects nor proxies."""

    def __init__(self, access: Access) -> None:
        parts = urlsplit(access.address)
        super().__init__(f"{parts.scheme}://{parts.netloc}", quiet=True)
        choose = partial(choose_addresses, is_encrypted=parts.scheme == "https")
        self._pool = httpcore2.ConnectionPool(
            ssl_context=_ssl_context(), max_connections=2, network_backend=JudgedNetwork(choose)
        )
        self._host = parts.netloc
        self._credentials = ""
        if access.secret:
            pair = f"{access.user_name or 'git'}:{access.secret}".encode()
            self._credentials = "Basic " + base64.b64encode(pair).decode("ascii")

    def __enter__(self) -> _JudgedHttp:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._pool.close()

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple[Any, Callable[[int], bytes]]:
        said = {
            "host": self._host,
            "user-agent": f"git/ScriptSmith-{settings.VERSION}",
            "accept-encoding": "identity",
            **{name.lower(): value for name, value in (headers or {}).items()},
        }
        if self._credentials:
            said["authorization"] = self._credentials
        if data is not None and not isinstance(data, bytes):
            said["transfer-encoding"] = "chunked"
        reply = self._pool.handle_request(
            httpcore2.Request(
                "GET" if data is None else "POST",
                url,
                headers=[(name.encode(), value.encode("latin-1")) for name, value in said.items()],
                content=data,
            )
        )
        _check_status(reply.status, url)
        return _Reply(reply, reply.close), _reader(reply)


def _check_status(status: int, url: str) -> None:
    if 300 <= status < 400:
        raise RemoteTrouble(
            _("The server responded with a redirect (%s). Enter the target address instead.")
            % status
        )
    if status == 401:
        raise HTTPUnauthorized(None, url)
    if status == 403:
        raise RemoteTrouble(
            _("The server responded with 403. The account can't write to the repository.")
        )
    if status == 404:
        raise NotGitRepository
    if status != 200:
        raise RemoteTrouble(_("The server responded with %s.") % status)


def _reader(reply: httpcore2.Response) -> Callable[[int], bytes]:
    pieces = iter(cast(Iterable[bytes], reply.stream))
    kept, count = b"", 0

    def read(size: int = -1) -> bytes:
        nonlocal kept, count
        while size < 0 or len(kept) < size:
            piece = next(pieces, None)
            if piece is None:
                break
            count += len(piece)
            if count > MOST_BYTES:
                raise RemoteTrouble(_too_much())
            kept += piece
        given, kept = (kept, b"") if size < 0 else (kept[:size], kept[size:])
        return given

    return read


class _Bounded(SubprocessWrapper):
    """A process that is killed after a timeout or when it produces too much output."""

    def __init__(self, running: subprocess.Popen[bytes], end: Timer) -> None:
        super().__init__(running)
        self._end = end
        self._count = 0
        # Wrap the reader, which the library sets as an instance attribute.
        self._read = self.read
        self.read = self._read_bounded

    def _read_bounded(self, size: int | None = None, /) -> bytes:
        piece = self._read(size)
        self._count += len(piece)
        if self._count > MOST_BYTES:
            self._end.cancel()
            self.proc.kill()
            raise RemoteTrouble(_too_much())
        return piece

    def close(self, timeout: int | None = 60) -> None:
        super().close(timeout)
        self._end.cancel()


class _JudgedSsh(SSHVendor):
    """The system's ssh program, with a checked IP address, a private key and the server's public key."""

    def __init__(self, options: list[str]) -> None:
        self._options = options

    def run_command(
        self,
        host: str,
        command: bytes,
        username: str | None = None,
        port: int | None = None,
        password: str | None = None,
        key_filename: str | None = None,
        ssh_command: str | None = None,
        protocol_version: int | None = None,
    ) -> SubprocessWrapper:
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise RemoteTrouble(_("%s was not found.") % host) from None
        found = list(dict.fromkeys(str(one[4][0]) for one in infos))
        address = choose_addresses(host, found, is_encrypted=True)[0]
        program = shutil.which("ssh")
        if program is None:
            raise RemoteTrouble(_("The worker's machine has no ssh program. Use https:// instead."))
        words = [program, *self._options, "-o", f"HostKeyAlias={host}", "-p", str(port or 22)]
        words += ["-l", username or "git", "--", address, command.decode()]
        running = subprocess.Popen(
            words,
            bufsize=0,  # unbuffered, because the remote waits for the data
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        end = Timer(SECONDS, running.kill)
        end.daemon = True
        end.start()
        return _Bounded(running, end)


@contextmanager
def _keys(access: Access) -> Iterator[list[str]]:
    """Yield ssh options for the key files, which exist only while the block runs."""
    host = read_ssh(access.address).host
    with tempfile.TemporaryDirectory(prefix="mirror-") as folder:
        key, known = Path(folder, "key"), Path(folder, "known_hosts")
        key.touch(mode=0o600)
        key.write_text(access.secret.strip() + "\n")
        known.write_text(f"{host} {access.host_key.strip()}\n")
        said = {
            "BatchMode": "yes",
            "ConnectTimeout": "10",
            "ServerAliveInterval": "10",
            "GlobalKnownHostsFile": "/dev/null",
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": str(known),
        }
        options = [word for name, value in said.items() for word in ("-o", f"{name}={value}")]
        yield ["-F", "/dev/null", "-i", str(key), *options]


@contextmanager
def _exchange() -> Iterator[None]:
    """Convert errors of the remote and the library to RemoteTrouble.

    Each use has its own time limit, so that work between two exchanges does not count.
    """
    try:
        with under_way(Exchange(SECONDS)):
            yield
    except (MovedOn, RemoteTrouble):
        raise
    except HTTPUnauthorized:
        raise RemoteTrouble(
            _(
                "The server responded with 401. The username or the secret is wrong, or the token has expired."
            )
        ) from None
    except NotGitRepository:
        raise RemoteTrouble(
            _("This address has no Git repository, or the account can't access it.")
        ) from None
    except ForbiddenAddress as refusal:
        raise RemoteTrouble(str(refusal)) from None
    except SendPackError as error:
        raise RemoteTrouble(
            _("The repository rejected the commit: %s") % _one_line(error)
        ) from None
    except httpcore2.TimeoutException:
        raise RemoteTrouble(
            _("The server did not respond within %s seconds.") % int(SECONDS)
        ) from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise RemoteTrouble(_why(error)) from None
    except (
        *(GitProtocolError, HangupException, ChecksumMismatch, ObjectFormatException),
        *(ApplyDeltaError, OSError, ValueError, KeyError, AssertionError),
    ) as error:
        raise RemoteTrouble(
            _("The response is not valid Git protocol: %s") % _one_line(error)
        ) from error


def _why(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ForbiddenAddress):
            return str(cause)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _("The server's certificate is not valid: %s.") % cause.verify_message
        cause = cause.__cause__ or cause.__context__
    return _("The connection failed: %s") % _one_line(error)


def _too_much() -> str:
    return _("The response is larger than the limit of 256 MB.")


def _one_line(said: object) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return " ".join(text.split())[:200] or type(said).__name__


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return an SSL context that trusts the system's certificates. It is cached, because creating it is slow."""
    return ssl.create_default_context()
