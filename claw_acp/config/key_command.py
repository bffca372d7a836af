"""Keys that a command prints, such as `op read op://vault/openai` or `pass show anthropic`."""

import shlex
from collections.abc import Mapping

from claw_acp.core.child_environment import without_keys
from claw_acp.core.errors import ConfigError
from claw_acp.core.printable import printable
from claw_acp.core.redaction import redact
from claw_acp.core.secret import Secret
from claw_acp.process.blocking import BlockingChild

COMMAND_TIMEOUT = 30.0  # seconds; the command may ask for a fingerprint
KEY_LIMIT = 16 * 1024  # bytes; the longest keys in use (signed tokens) have about 4 KiB

_WORDS_SHOWN = 200  # characters of what the command said


class KeyCommand:
    """A command line, run without a shell; the first line of its output is the key."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._child: BlockingChild | None = None
        self._unwanted = False

    def run(self, environ: Mapping[str, str]) -> Secret:
        """Run it. Blocks.

        Raises:
            ConfigError: It cannot be started, fails, prints nothing, or takes longer than `COMMAND_TIMEOUT`.
        """
        try:
            self._child = BlockingChild(shlex.split(self._line), env=without_keys(environ))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise self._failed(f"cannot be started: {reason}") from error
        if self._unwanted:
            self.kill()  # whoever wanted that came before there was anything to end
        try:
            code, printed, said = self._child.finish(within=COMMAND_TIMEOUT)
        except TimeoutError as error:
            raise self._failed(f"did not end within {COMMAND_TIMEOUT:g} s") from error
        if code:
            words_said = redact(printable(said.decode("utf-8", "replace").strip()))[-_WORDS_SHOWN:]
            raise self._failed(f"failed with exit code {code}: {words_said or 'it said nothing'}")
        lines = printed[:KEY_LIMIT].decode("utf-8", "replace").strip().splitlines()
        if not lines:
            raise self._failed("printed nothing")
        return Secret(lines[0].strip())

    def kill(self) -> None:
        """Kill the command with everything that it started."""
        self._unwanted = True
        if self._child is not None:
            self._child.kill()

    def _failed(self, what: str) -> ConfigError:
        return ConfigError(f"the command that gives the key ({printable(self._line)}) {what}")
