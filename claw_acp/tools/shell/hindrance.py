"""The traces that a sandbox leaves in the output of a failed command, and what to do about it."""

import re
from collections.abc import Mapping
from typing import Final

from claw_acp.contracts.launch import CommandSandbox
from claw_acp.contracts.tool import Hindrance, ToolResult
from claw_acp.core.events import PartContent
from claw_acp.core.messages import TextPart
from claw_acp.core.value import replace

_LOOKED_AT: Final = 20_000  # characters at the end of the output

# Compiled when a command has failed; until then no session waits for that.
_NETWORK: Final = (
    r"(?i)network is (?:unreachable|down)|could not resolve|couldn't resolve|temporary failure in name resolution"
    r"|name or service not known|EAI_AGAIN|ENETUNREACH|ENOTFOUND|no address associated|nodename nor servname"
    r"|failed to lookup address|no such host|dns error|server misbehaving|unable to resolve|NameResolutionError"
    r"|failed to establish a new connection|network error|cannot assign requested address"
)
_WRITING: Final = (
    r"(?i)read-only file ?system|EROFS|device or resource busy|EBUSY|cannot lock config|could not lock config"
)
_HIDDEN: Final = (
    r"(?i)permission denied|EACCES|operation not permitted|EPERM|cannot connect to the docker daemon|docker\.sock"
    r"|connection refused|ECONNREFUSED|could not open a connection to your authentication agent|no such process"
    r"|failed to connect to bus|host key verification failed"
)
_NO_START: Final = r"bwrap: Can't (?:mkdir|create|find|bind|open|stat)"
"""The words of a sandbox that was to hide something which had just gone; the command has not begun then."""

_TOLD: Final[Mapping[Hindrance, str]] = {
    "network": "The sandbox has no network, which may be why this failed. If the command needs it, call shell again "
    "with sandbox=network; a person is asked.",
    "writing": "The sandbox lets commands change the project's files only, and neither git's settings and hooks nor "
    "those of editors and agents; that may be why this failed. If it has to change something else, call shell again "
    "with sandbox=off; a person is asked.",
    "hidden": "The sandbox hides credentials, sockets and other programs, which may be why this failed. If the command "
    "needs them, call shell again with sandbox=off; a person is asked.",
}


def with_hindrance(result: ToolResult, output: str, sandbox: CommandSandbox) -> ToolResult:
    """The result of a command in a sandbox, with what that refused; the reason it seems to have failed, if it did.

    Args:
        result: The result.
        output: What the command printed.
        sandbox: Where it ran.
    """
    refusals = "" if sandbox.network is None else sandbox.network.refusals()
    network = sandbox.network is not None
    hindrance = hindrance_in(output[-_LOOKED_AT:], network=network) if result.failed else None
    if hindrance is None and not refusals:
        return result
    note = TextPart(text=f"[{refusals or (hindrance and _TOLD[hindrance])}]")
    content = None if result.content is None else (*result.content, PartContent(part=note))
    return replace(result, parts=(*result.parts, note), content=content, hindered=hindrance)


def never_began(result: ToolResult) -> bool:
    """Return whether the sandbox failed before the command began, so that it can be run again."""
    return result.failed and any(isinstance(part, TextPart) and re.match(_NO_START, part.text) for part in result.parts)


def hindrance_in(output: str, *, network: bool) -> Hindrance | None:
    """The hindrance that an output shows the traces of, most likely one first; None without any."""
    if re.match(_NO_START, output):
        return None
    if not network and re.search(_NETWORK, output):
        return "network"
    if re.search(_WRITING, output):
        return "writing"
    return "hidden" if re.search(_HIDDEN, output) else None
