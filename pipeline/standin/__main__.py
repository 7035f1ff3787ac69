"""`python -m pipeline.standin`: serve the demo model on loopback until SIGTERM or Ctrl-C."""

from __future__ import annotations

import argparse
import ipaddress
import json
import math
import os
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from pipeline.error_model.rates import RatesError, load_simulation
from pipeline.standin.script_book import BookError, load_book
from pipeline.standin.server.app import StandIn, build_app
from pipeline.standin.server.refusals import MAX_BATCH_BODY
from pipeline.standin.server.request_log import CallLog
from pipeline.standin.simulated_models import simulated_models

_DEMO = Path(__file__).resolve().parents[1] / "demo" / "actions"
_SIMULATE_HELP = (
    "reply by the error rates of a simulation (`manage.py simulate`) instead of from the book"
)
_BATCH_HELP = "duration of a message batch"
_ACTIONS_HELP = "folder of action files for the script book (default: the demo's own)"


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal and return 0, or print one line to standard error and return 2."""
    options = _parser().parse_args(arguments)
    try:
        book = load_book(options.actions)
        simulated = simulated_models(load_simulation(options.simulate)) if options.simulate else {}
        listening = _listen(options.host, options.port)
    except (BookError, RatesError, OSError, OverflowError) as error:
        print(f"pipeline.standin: {error}", file=sys.stderr)
        return 2
    standin = StandIn(
        book,
        options.profile,
        options.latency,
        CallLog(options.log),
        simulated=simulated,
        batch_seconds=options.batch_seconds,
        batch_bytes=options.batch_bytes,
    )
    config = uvicorn.Config(
        build_app(standin),
        http="h11",  # The transport faults rely on how h11 closes a connection.
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)

    def end(*_: object) -> None:
        server.should_exit = True

    # Uvicorn stops on these signals, then raises them again for the previous handlers. A signal that arrives before
    # uvicorn listens must also stop the server.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    if options.announce:
        _announce(options.announce, port=listening.getsockname()[1])
    server.run(sockets=[listening])
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pipeline.standin", description=__doc__)
    parser.add_argument("--host", type=_loopback, default="127.0.0.1", help="a loopback address")
    parser.add_argument("--port", type=int, default=0, help="0 chooses a free port")
    parser.add_argument(
        "--announce", type=Path, metavar="FILE", help='write {"port": N, "pid": N} once listening'
    )
    parser.add_argument("--actions", type=Path, default=_DEMO, metavar="DIR", help=_ACTIONS_HELP)
    parser.add_argument(
        "--log", type=Path, metavar="FILE", help="append one JSON line for each request"
    )
    parser.add_argument(
        "--latency", type=_seconds, default=0.0, metavar="SECONDS", help="delay before each reply"
    )
    parser.add_argument(
        "--profile", choices=("claude", "ollama"), default="claude", help="server to imitate"
    )
    parser.add_argument(
        "--batch-seconds", type=_seconds, default=2.0, metavar="SECONDS", help=_BATCH_HELP
    )
    parser.add_argument(
        "--batch-bytes",
        type=int,
        default=MAX_BATCH_BODY,
        metavar="BYTES",
        help="maximum body size of a message batch; larger ones get status 413",
    )
    parser.add_argument("--simulate", type=Path, metavar="FILE", help=_SIMULATE_HELP)
    return parser


def _loopback(host: str) -> str:
    if host == "localhost":
        return "127.0.0.1"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{host!r} is not an IP address") from None
    if not address.is_loopback:
        raise argparse.ArgumentTypeError(
            f"{host} is not a loopback address, and the demo model listens on no others"
        )
    return host


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError("a number of seconds, 0 or more")
    return value


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Name the protocol: otherwise asyncio keeps Nagle's algorithm on, which adds 40 ms to each answer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # Otherwise the port of a stopped demo model stays in use for a minute.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((host, port))
    listening.listen(2048)
    return listening


def _announce(file: Path, *, port: int) -> None:
    """Write the announcement file atomically, so that a waiting reader never sees a partial file."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_text(json.dumps({"port": port, "pid": os.getpid()}), encoding="utf-8")
    draft.replace(file)


if __name__ == "__main__":
    sys.exit(main())
