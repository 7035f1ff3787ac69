"""Write the stubs and communicate with them. Stubs are small Bash scripts mounted over /usr/bin and /usr/sbin.

The stubs replace the real programs, so calls by absolute path, such as `/usr/bin/systemctl`, reach them, too. Stubs
contact the helper over the loopback interface of the run's network namespace. A Bash script has no other channel that
the tested script can't drain or reorder. Still, the log of calls is not reliable, because scripts can contact the
helper, too.
"""

from __future__ import annotations

import os
import socket
from base64 import b64decode

from catalog.execution.helper.messages import CommandRequest
from catalog.execution.helper.recorded_commands.replies import Replies

# Differs from 127.0.0.1, where a script might expect a server.
ADDRESS = ("127.255.255.254", 1)
REAL_PROGRAMS = "/dev/.programs"
LARGEST_CALL = 256 << 10

# With -p, Bash ignores functions and BASH_ENV from the script's environment.
_STUB = f"""#!/usr/bin/bash -p
exec {{helper}}<>/dev/tcp/{ADDRESS[0]}/{ADDRESS[1]} || exit 127
printf '%s\\0' "${{0##*/}}" "$#" "$@" >&"$helper"
while IFS= read -r -d '' order <&"$helper"; do
  case $order in
    input)
      /usr/bin/base64 -w 0 >&"$helper"
      printf '\\0' >&"$helper"
      ;;
    drain)
      # In the pipe of a loop most commands leave the rest to the loop: only those that read do it here.
      [ ! -p /dev/stdin ] || /usr/bin/base64 > /dev/null
      ;;
    reply)
      IFS= read -r -d '' status <&"$helper"
      IFS= read -r -d '' stdout <&"$helper"
      IFS= read -r -d '' stderr <&"$helper"
      printf '%s' "$stdout"
      printf '%s' "$stderr" >&2
      exit "$status"
      ;;
    run)
      IFS= read -r -d '' skipped <&"$helper"
      exec {{helper}}>&-
      exec "${{@:skipped+1}}"
      ;;
    env)
      IFS= read -r -d '' skipped <&"$helper"
      exec {{helper}}>&-
      exec /usr/bin/env -- "${{@:skipped+1}}"
      ;;
    shell)
      IFS= read -r -d '' command <&"$helper"
      exec {{helper}}>&-
      exec /usr/bin/bash -c "$command"
      ;;
    real)
      IFS= read -r -d '' name <&"$helper"
      exec {{helper}}>&-
      exec "{REAL_PROGRAMS}/$name" "$@"
      ;;
  esac
done
exit 127
"""


def write_stubs(folder: str, commands: list[CommandRequest]) -> None:
    """Write one stub per command into the new folder, as hard links to one file."""
    os.mkdir(folder, 0o755)
    original = None
    for command in commands:
        path = os.path.join(folder, command["name"])
        if original is None:
            original = path
            with open(path, "w") as opened:
                opened.write(_STUB)
            os.chmod(path, 0o755)
        else:
            os.link(original, path)


def listen() -> socket.socket:
    """Return a listening socket for the stubs. The network namespace contains no other sockets yet."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setblocking(False)
    listening.bind(ADDRESS)
    listening.listen(64)
    return listening


class Conversation:
    """A stub's connection, from its request to the reply. The connection never blocks, because a script may stop
    reading.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.unsent = b""
        self._read = b""
        self._input_asked = False
        self._answered = False

    def go_on(self, replies: Replies) -> bool:
        """Send or read as much as possible. Return False when the connection is finished."""
        try:
            if self.unsent:
                self.unsent = self.unsent[self.connection.send(self.unsent) :]
            elif not self._read_more(replies):
                return False
        except BlockingIOError:
            return True
        except OSError:
            return False
        return bool(self.unsent) or not self._answered

    def _read_more(self, replies: Replies) -> bool:
        chunk = self.connection.recv(65536)
        self._read += chunk
        if len(self._read) > LARGEST_CALL:
            replies.cut = f"a call of a stubbed command with more than {LARGEST_CALL >> 10} KB"
            return False
        if not chunk:
            return False
        words = self._read.split(b"\0")[:-1]
        if len(words) < 2:
            return True
        if not words[1].isdigit():
            return False
        count = int(words[1][:6])
        if len(words) < 2 + count + self._input_asked:
            return True
        stdin = _decode_input(words[2 + count]) if self._input_asked else None
        name, _, *arguments = (
            word.decode("utf-8", "surrogateescape") for word in words[: 2 + count]
        )
        answer = replies.answer(name, arguments, stdin)
        self._input_asked = self._input_asked or answer.reads_input
        self._answered = not answer.reads_input
        reply = ("input",) if answer.reads_input else answer.words
        self.unsent = b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in reply)
        return True


def _decode_input(word: bytes) -> str:
    try:
        return b64decode(word).decode("utf-8", "surrogateescape")
    except ValueError:  # sent by a script, not by the stub
        return ""
