"""The failures of a plugin, with the texts that programs of the one-shot protocol are known to get."""

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
    """The program cannot be started; trying the same again does not help."""

    retryable = False


class Failures:
    """Makes the errors of one plugin. No text holds a secret, control characters, or more than `WORDS_LIMIT`.

    Args:
        name: The provider, as configured.
        command: Its program.
        timeout: Seconds a whole call may take.
        secrets: What must not be shown.
    """

    def __init__(self, name: str, *, command: str, timeout: float, secrets: Sequence[str] = ()) -> None:
        self.name = name
        self._command = command
        self._timeout = timeout
        self._redact = Redactor(secrets)

    def clean(self, text: str, *, limit: int = WORDS_LIMIT) -> str:
        """A plugin's words for people: its last `limit` characters, without secrets; lines stay lines."""
        lines = (printable(line.rstrip("\r")) for line in self._redact(text).strip().split("\n"))
        shown = "\n".join(lines)
        return shown if len(shown) <= limit else f"…{shown[-limit:]}"

    # ------------------------------------------------------------------ before anything was said

    def not_serialized(self, what: str, error: Exception) -> RequestRejected:
        """Something in the request is no JSON; `what` is `message`, `tool definition` or `request`."""
        part = f"{what} for plugin '{self.name}'" if what != "request" else "provider plugin request"
        return RequestRejected(f"Failed to serialize {part}: {error}", provider=self.name)

    def not_started(self, error: Exception, *, cwd: Path | None) -> PluginNotStarted:
        """The system refused, perhaps because of the directory."""
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
        """It said that its models take no tools."""
        return ToolsUnsupported(f"Provider plugin '{self.name}' cannot be given tools.", provider=self.name)

    # ------------------------------------------------------------------ its process

    def unwritten(self, error: OSError) -> ProviderUnavailable:
        """It closed its input before it had the request, and said nothing."""
        return self._unavailable(f"Failed to write to provider plugin '{self.name}' stdin: {error}")

    def process_error(self, error: OSError) -> ProviderUnavailable:
        """Its output cannot be read."""
        return self._unavailable(f"Provider plugin '{self.name}' process error: {error}")

    def timed_out(self) -> ProviderTimeout:
        """The whole call took too long."""
        return ProviderTimeout(f"Provider plugin '{self.name}' timed out after {self._timeout:g}s", provider=self.name)

    def exited(self, code: int, *, said: str) -> ProviderUnavailable:
        """It ended without an answer; a negative code is a signal, and named if nothing was said."""
        detail = self.clean(said) or (f"ended by {_signal_name(-code)}" if code < 0 else "")
        return self._unavailable(f"Provider plugin '{self.name}' exited with code {max(code, -1)}: {detail}")

    def left(self, code: int, *, said: str) -> ProviderUnavailable:
        """One that should stay has ended; a negative code is a signal, as `subprocess` has it."""
        detail = self.clean(said)
        how = f"exited with code {code}" if code >= 0 else f"was ended by signal {_signal_name(-code)}"
        return self._unavailable(f"Provider plugin '{self.name}' {how}" + (f": {detail}" if detail else ""))

    def hung_up(self, *, said: str) -> ProviderUnavailable:
        """It closed its output, and runs on."""
        detail = self.clean(said)
        return self._unavailable(f"Provider plugin '{self.name}' closed its output" + (f": {detail}" if detail else ""))

    def closed(self) -> ProviderUnavailable:
        """It was given up while the request ran."""
        return self._unavailable(f"Provider plugin '{self.name}' was closed")

    def not_heard(self) -> ProviderUnavailable:
        """Reading from it or writing to it failed in a way that nobody foresaw."""
        return self._unavailable(
            f"Provider plugin '{self.name}' was ended after an internal error, which is in the log; ask again"
        )

    def _unavailable(self, text: str) -> ProviderUnavailable:
        return ProviderUnavailable(text, provider=self.name)

    # ------------------------------------------------------------------ its answer

    def no_output(self) -> MalformedReply:
        """It ended well without a word."""
        return self._malformed(f"Provider plugin '{self.name}' produced no output")

    def invalid(self, reason: str, *, raw: str) -> MalformedReply:
        """The error for output that is no answer."""
        shown = self.clean(raw[: 2 * RAW_LIMIT])[:RAW_LIMIT]
        return self._malformed(f"Provider plugin '{self.name}' returned invalid JSON-RPC: {reason} (raw: {shown})")

    def neither(self) -> MalformedReply:
        """The answer is empty."""
        return self._malformed(f"Provider plugin '{self.name}' returned neither result nor error")

    def too_long(self, limit: int) -> MalformedReply:
        """The answer passes a bound of ours, in bytes."""
        return self._malformed(f"Provider plugin '{self.name}' answered with more than {limit // 1024**2} MiB")

    def contradicted(self) -> MalformedReply:
        """The error for a streamed answer that differs from the final result."""
        return self._malformed(
            f"Provider plugin '{self.name}' streamed another answer than its result holds; send the prompt again"
        )

    def _malformed(self, text: str) -> MalformedReply:
        return MalformedReply(text, provider=self.name)

    def version(self, version: int, *, ours: int) -> RequestRejected:
        """It speaks another protocol."""
        return RequestRejected(
            f"Provider plugin '{self.name}' speaks version {version} of the plugin protocol, and not {ours}",
            provider=self.name,
        )

    def no_session(self, reason: str) -> RequestRejected:
        """It was configured as a session plugin, and is none; `reason` says what it did instead of an introduction."""
        return RequestRejected(
            f"Provider plugin '{self.name}' does not speak the session protocol: {self.clean(reason)}. If it is a "
            f'program for one request at a time, set protocol = "oneshot" in [providers.{self.name}]',
            provider=self.name,
        )

    def left_early(self, error: ProviderUnavailable) -> ProviderUnavailable:
        """It was configured as a session plugin, and ended (`error`) before it had introduced itself."""
        return self._unavailable(
            f"{full_sentence(error.message)} It did so before it had introduced itself: if it is a program for one "
            f'request at a time, set protocol = "oneshot" in [providers.{self.name}]'
        )

    def refused(self, code: int, message: str, *, retry_after: float | None = None) -> ProviderError:
        """It answered with an error object. What its code stands for comes last, with what can be done."""
        wait = None if retry_after is None else min(max(retry_after, 0.0), LONGEST_WISH)
        text = f"Provider plugin '{self.name}' error (code {code}): {self.clean(message)}"
        if code in _ADVICE:
            text = f"{full_sentence(text)} {_ADVICE[code].format(name=self.name)}"
        kind = MalformedReply if code == CANCELLED else plugin_error_kind(code)
        return kind(text, provider=self.name, retry_after=wait)


def again(error: ProviderError) -> ProviderError:
    """A new error that says the same: one failure can end many calls, and each raises its own."""
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
    CANCELLED: "That means cancelled, and nobody has cancelled it: the program is at fault.",
}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name in Python
        return f"SIG{number}"
