"""The evidence of a server's failure, for the messages to people."""

import re
from collections.abc import Iterable

from claw_acp.contracts.mcp_server import ClientServer, HttpServer, McpServerSpec, StdioServer
from claw_acp.contracts.workspace import ExitStatus
from claw_acp.core.printable import printable
from claw_acp.core.redaction import REDACTED, Redactor
from claw_acp.process.output_tail import OutputTail

TAIL = 16 * 1024  # bytes of stderr that are kept
SHORTEST_SECRET = 4  # characters of a secret that are looked for; shorter ones are in every other word
QUOTED = 400  # characters of its last words in a message


class Diagnostics:
    """Collected by the transport of one server while it runs. Quotes never contain secrets of its settings.

    Attributes:
        stderr: The end of the program's stderr output.
        stray: The first output of the program that is not of the protocol.
        exit: The program's exit status; None while it runs.
        status: The last HTTP status that was no success.
    """

    def __init__(self, spec: McpServerSpec) -> None:
        self._known = Redactor(_given(spec))
        self._secrets = _longest_first(() if isinstance(spec, ClientServer) else spec.secrets)
        self.stderr = OutputTail(limit=TAIL)
        self.stray: str | None = None
        self.exit: ExitStatus | None = None
        self.status: int | None = None

    def redact(self, text: str) -> str:
        """A text without the values of the server's settings: people give secrets all kinds of names."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return self._known(text)

    def clean(self, text: str, *, limit: int = QUOTED) -> str:
        """A text of the server's on one line, short, and without secrets."""
        line = printable(re.sub(r"\s+", " ", self.redact(text)).strip())
        return line if len(line) <= limit else f"{line[:limit]}…"

    @property
    def ending(self) -> str | None:
        """The program's exit status, in words."""
        if self.exit is None:
            return None
        return f"was ended by {self.exit.signal}" if self.exit.signal else f"ended with code {self.exit.code}"

    @property
    def last_words(self) -> str:
        """A sentence with the program's last output, or an empty text."""
        lines = [line for line in self.stderr.text(ended=True).splitlines() if line.strip()]
        if lines:
            said = self.redact("\n".join(lines[-4:]))
            return f" It said: {self.clean(said[-QUOTED:])}"
        return f" It printed: {self.clean(self.stray, limit=120)}" if self.stray else ""


def _given(spec: McpServerSpec) -> list[str]:
    match spec:
        case StdioServer(env=env):
            return list(env.values())
        case HttpServer(headers=headers):
            values = list(headers.values())
            return values + [value.partition(" ")[2] for value in values]  # `Bearer abc` is a secret as `abc` too
        case ClientServer():
            return []


def _longest_first(secrets: Iterable[str]) -> list[str]:
    """The secrets, longest first: one that contains another must be masked as a whole."""
    found = {secret.strip() for secret in secrets}
    return sorted((secret for secret in found if len(secret) >= SHORTEST_SECRET), key=len, reverse=True)
