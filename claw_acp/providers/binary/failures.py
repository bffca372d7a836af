"""The errors of a plugin, with the texts that one-shot programs are known to get."""

import errno
import shlex
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from claw_acp.core.errors import (
    MalformedReply,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    RequestRejected,
    ToolsUnsupported,
)
from claw_acp.core.plugin_errors import CANCELLED, PLUGIN_ERRORS, plugin_error_kind
from claw_acp.core.printable import full_sentence, printable
from claw_acp.core.redaction import Redactor

WORDS_LIMIT = 2000  # characters of what a plugin said, in an error
RAW_LIMIT = 200  # characters of a line that could not be read
LONGEST_WISH = 60.0  # seconds of `retryAfter` that are passed on; nobody sits longer before an editor


class PluginNotStarted(ProviderUnreachable):
    """The program cannot be started; a retry does not help."""

    retryable = False


class Failures:
    """Makes the errors of one plugin. No text holds a secret, control characters, or more than `WORDS_LIMIT`.

    Args:
        name: The provider, as configured.
        command: Its program.
        timeout: The time limit of a whole call, in seconds.
        secrets: Texts that must not be shown.
    """

    def __init__(self, name: str, *, command: str, timeout: float, secrets: Sequence[str] = ()) -> None:
        self.name = name
        self._command = command
        self._timeout = timeout
        self._redact = Redactor(secrets)

    def clean(self, text: str, *, limit: int = WORDS_LIMIT) -> str:
        """A plugin's text for people: its last `limit` characters, without secrets; lines stay lines."""
        lines = (printable(line.rstrip("\r")) for line in self._redact(text).strip().split("\n"))
        shown = "\n".join(lines)
        return shown if len(shown) <= limit else f"…{shown[-limit:]}"

    # ------------------------------------------------------------------ before anything was said

    def not_serialized(self, what: str, error: Exception) -> RequestRejected:
        """The error for a request that is no JSON; `what` is `message`, `tool definition` or `request`."""
        part = f"{what} for plugin '{self.name}'" if what != "request" else "provider plugin request"
        return RequestRejected(f"Failed to serialize {part}: {error}", provider=self.name)

    def not_started(self, error: Exception, *, cwd: Path | None) -> PluginNotStarted:
        """The error for a program that the system does not start, perhaps because of the directory."""
        reason = self._not_started_because(error, cwd=cwd)
        return PluginNotStarted(
            f"Failed to spawn provider plugin '{self.name}' ({self.clean(self._command)}): {reason}",
            provider=self.name,
        )

    def _not_started_because(self, error: Exception, *, cwd: Path | None) -> str:
        if not isinstance(error, OSError):
            return str(error)
        if cwd is not None and not cwd.is_dir():
            return f"there is no directory {cwd}"
        on_path = "/" not in self._command
        file = (cwd or Path()) / self._command
        match error.errno:
            case errno.ENOENT if on_path:
                return "there is no such program on the PATH"
            case errno.ENOENT:
                return "the interpreter that its first line names is not there" if file.exists() else "no such file"
            case errno.EACCES:
                advice = f"not executable: chmod +x {shlex.quote(self.clean(self._command))}"
                return "it is a directory" if file.is_dir() and not on_path else advice
            case errno.ENOEXEC:
                return "not a program of this machine; a script names its interpreter in its first line (#!)"
            case _:
                return error.strerror or str(error)

    def tools_unsupported(self) -> ToolsUnsupported:
        """The error for a plugin whose models support no tools."""
        return ToolsUnsupported(f"Provider plugin '{self.name}' cannot be given tools.", provider=self.name)

    # ------------------------------------------------------------------ its process

    def unwritten(self, error: OSError) -> ProviderUnavailable:
        """The error for a plugin that closed its input before it had the request, without an answer."""
        return self._unavailable(f"Failed to write to provider plugin '{self.name}' stdin: {error}")

    def process_error(self, error: OSError) -> ProviderUnavailable:
        """The error for output that cannot be read."""
        return self._unavailable(f"Provider plugin '{self.name}' process error: {error}")

    def timed_out(self) -> ProviderTimeout:
        """The error for a call that took too long."""
        return ProviderTimeout(f"Provider plugin '{self.name}' timed out after {self._timeout:g}s", provider=self.name)

    def exited(self, code: int, *, said: str) -> ProviderUnavailable:
        """The error for an end without an answer; a negative code is a signal, named if nothing was printed."""
        detail = self.clean(said) or (f"ended by {_signal_name(-code)}" if code < 0 else "")
        return self._unavailable(f"Provider plugin '{self.name}' exited with code {max(code, -1)}: {detail}")

    def left(self, code: int, *, said: str) -> ProviderUnavailable:
        """The error for the end of a session plugin; a negative code is a signal, as in `subprocess`."""
        detail = self.clean(said)
        how = f"exited with code {code}" if code >= 0 else f"was ended by signal {_signal_name(-code)}"
        return self._unavailable(f"Provider plugin '{self.name}' {how}" + (f": {detail}" if detail else ""))

    def hung_up(self, *, said: str) -> ProviderUnavailable:
        """The error for a plugin that closed its output, but runs on."""
        detail = self.clean(said)
        return self._unavailable(f"Provider plugin '{self.name}' closed its output" + (f": {detail}" if detail else ""))

    def closed(self) -> ProviderUnavailable:
        """The error for a request whose connection was closed here."""
        return self._unavailable(f"Provider plugin '{self.name}' was closed")

    def not_heard(self) -> ProviderUnavailable:
        """The error for an unexpected failure of reading or writing."""
        return self._unavailable(
            f"Provider plugin '{self.name}' was ended after an internal error, which is in the log; ask again"
        )

    def _unavailable(self, text: str) -> ProviderUnavailable:
        return ProviderUnavailable(text, provider=self.name)

    # ------------------------------------------------------------------ its answer

    def no_output(self) -> MalformedReply:
        """The error for a successful end without output."""
        return self._malformed(f"Provider plugin '{self.name}' produced no output")

    def invalid(self, reason: str, *, raw: str) -> MalformedReply:
        """The error for invalid output."""
        shown = self.clean(raw[: 2 * RAW_LIMIT])[:RAW_LIMIT]
        return self._malformed(f"Provider plugin '{self.name}' returned invalid JSON-RPC: {reason} (raw: {shown})")

    def neither(self) -> MalformedReply:
        """The error for an empty answer."""
        return self._malformed(f"Provider plugin '{self.name}' returned neither result nor error")

    def too_long(self, limit: int) -> MalformedReply:
        """The error for an answer above our limit, in bytes."""
        return self._malformed(f"Provider plugin '{self.name}' answered with more than {limit // 1024**2} MiB")

    def contradicted(self) -> MalformedReply:
        """The error for a streamed answer that differs from the final result."""
        return self._malformed(
            f"Provider plugin '{self.name}' streamed another answer than its result holds; send the prompt again"
        )

    def _malformed(self, text: str) -> MalformedReply:
        return MalformedReply(text, provider=self.name)

    def version(self, version: int, *, ours: int) -> RequestRejected:
        """The error for another protocol version."""
        return RequestRejected(
            f"Provider plugin '{self.name}' speaks version {version} of the plugin protocol, and not {ours}",
            provider=self.name,
        )

    def no_session(self, reason: str) -> RequestRejected:
        """The error for a configured session plugin that is none; `reason` says what it did instead of `initialize`."""
        return RequestRejected(
            f"Provider plugin '{self.name}' does not speak the session protocol: {self.clean(reason)}. If it is a "
            f'program for one request at a time, set protocol = "oneshot" in [providers.{self.name}]',
            provider=self.name,
        )

    def left_early(self, error: ProviderUnavailable) -> ProviderUnavailable:
        """The error for a configured session plugin that ended (`error`) before it had introduced itself."""
        return self._unavailable(
            f"{full_sentence(error.message)} It did so before it had introduced itself: if it is a program for one "
            f'request at a time, set protocol = "oneshot" in [providers.{self.name}]'
        )

    def refused(self, code: int, message: str, *, retry_after: float | None = None) -> ProviderError:
        """The error of an error response. The meaning of its code comes last, with a remedy."""
        wait = None if retry_after is None else min(max(retry_after, 0.0), LONGEST_WISH)
        text = f"Provider plugin '{self.name}' error (code {code}): {self.clean(message)}"
        if code in _ADVICE:
            text = f"{full_sentence(text)} {_ADVICE[code].format(name=self.name)}"
        kind = MalformedReply if code == CANCELLED else plugin_error_kind(code)
        return kind(text, provider=self.name, retry_after=wait)


def again(error: ProviderError) -> ProviderError:
    """A copy of an error: one failure can end many calls, and each raises its own."""
    return type(error)(error.message, provider=error.provider, status=error.status, retry_after=error.retry_after)


_BY_NAME: Mapping[str, str] = {
    "auth_failed": "check the credentials of the program itself, claw-acp does not have them.",
    "rate_limited": "its service takes no more requests for a while.",
    "quota_exceeded": "the account that the program uses has no credit left.",
    "context_too_long": "begin a new conversation, or choose a model with a larger window.",
    "unavailable": "the service behind the program cannot be reached, or failed.",
    "timeout": "the service behind the program did not answer in time.",
    "model_not_found": "`claw-acp models {name}` lists those that it names.",
    "request_rejected": "the service behind the program does not take this request as it is.",
}
_ADVICE: Mapping[int, str] = {
    **{error.code: f"That is {error.name}: {_BY_NAME[error.name]}" for error in PLUGIN_ERRORS},
    CANCELLED: "That means cancelled, but it was not: the program is at fault.",
}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name in Python
        return f"SIG{number}"
