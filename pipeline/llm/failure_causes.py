"""Determine from HTTP and socket exceptions why an attempt got no complete reply."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import httpcore2

from core.network.addresses import ForbiddenAddress
from core.network.http_exchange import Exchange
from pipeline.llm.transport import BadPacking, Elsewhere, TooLarge
from pipeline.llm.types import Failed, FailureKind, Trouble

_NEVER_SENT = (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.PoolTimeout)
# A server that is starting or stopping may interrupt the handshake.
_MAY_PASS = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
_HEADERS_TOO_LARGE = 431  # h11's hint for headers, or a chunk header, that never end


def explain_break(
    error: BaseException, exchange: Exchange, *, seconds: float, most_bytes: int, milliseconds: int
) -> Failed:
    """Return why the reply is missing, whether a retry may help, and whether the call may have been billed."""
    causes = list(_causes_of(error))
    if exchange.abandoned:
        return _failed(
            FailureKind.TIMEOUT,
            exchange.abandoned,
            Trouble.ABANDONED,
            exchange.connected,
            milliseconds,
        )
    for cause in causes:
        found = _final(cause, most_bytes)
        if found is not None:
            kind, said, billed = found
            return _failed(FailureKind.REFUSED, said, kind, billed, milliseconds)
    if any(isinstance(cause, _NEVER_SENT) for cause in causes):
        name = next(type(cause).__name__ for cause in causes if isinstance(cause, _NEVER_SENT))
        said = f"The server is unreachable: {_words_of(causes[-1])}."
        return _failed(FailureKind.UNREACHABLE, said, name, False, milliseconds)
    if any(isinstance(cause, httpcore2.TimeoutException) for cause in causes):
        said = f"No complete reply within {seconds:.0f} s."
        return _failed(FailureKind.TIMEOUT, said, "", True, milliseconds)
    name = type(causes[min(1, len(causes) - 1)]).__name__
    said = "The connection broke before the reply was complete."
    return _failed(FailureKind.TIMEOUT, said, name, True, milliseconds)


def _final(cause: BaseException, most_bytes: int) -> tuple[Trouble, str, bool] | None:
    """Return the kind, message and possible billing of a failure that a retry can't fix, or None."""
    match cause:
        case ForbiddenAddress():
            return Trouble.ADDRESS, str(cause), False
        case ssl.SSLCertVerificationError():
            said = f"The server's certificate is not trusted: {cause.verify_message}."
            return Trouble.CERTIFICATE, said, False
        case ssl.SSLError() if not isinstance(cause, _MAY_PASS):
            return Trouble.TLS, f"The encrypted connection failed: {cause.reason or cause}.", False
        case httpcore2.ProxyError():
            return Trouble.PROXY, f"The proxy refused the connection: {cause}.", False
        case Elsewhere():
            said = f"The server redirects to {str(cause)[:100]!r}. Nothing was sent there."
            return Trouble.REDIRECT, said, False
        case TooLarge():
            size = f"{most_bytes / 1_000_000:g} MB"
            said = f"The reply is larger than {size} and was discarded."
            return Trouble.TOO_LARGE, said, True
        case BadPacking():
            said = f"The reply can't be decompressed ({cause}) and was discarded."
            return Trouble.ENCODING, said, True
    if getattr(cause, "error_status_hint", None) == _HEADERS_TOO_LARGE:
        said = "The reply's headers are larger than 100 kB, so it was discarded."
        return Trouble.HEADERS, said, True
    return None


def _causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception and its causes, outermost first."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        seen.append(cause)
        yield cause
        # The pool raises with "from None", which hides the cause and keeps the context.
        cause = cause.__cause__ or cause.__context__


def _words_of(cause: BaseException) -> str:
    return str(getattr(cause, "strerror", None) or cause or type(cause).__name__).rstrip(".")


def _failed(
    kind: FailureKind, said: str, error_type: str, billed: bool, milliseconds: int
) -> Failed:
    return Failed(
        kind, said, error_type=str(error_type), possibly_billed=billed, milliseconds=milliseconds
    )
