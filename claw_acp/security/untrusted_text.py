"""Untrusted text in a conversation: what brings it in, and which actions a person is asked about after that.

Models follow instructions in what they read, and nothing tells whether one just did. So what reaches out of the project
is asked about once such text is there, whatever the mode; a rule is the word of a person and stays in force, except
where it leaves room for data in an address or in arguments.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, assert_never

from claw_acp.contracts.tool import (
    Access,
    ActsLater,
    ChangesMemory,
    EvaluatesCode,
    FetchesUrl,
    ReadsPath,
    RunsCommand,
    UsesServer,
    WritesPath,
)
from claw_acp.core.printable import printable
from claw_acp.core.value import replace
from claw_acp.security.command_paths import PolicyContext, UntrustedText
from claw_acp.security.forbidden import harmless_device
from claw_acp.security.rules import host_of
from claw_acp.security.verdicts import Finding

MOST_NAMED: Final = 3
LONGEST_PATH: Final = 60  # characters at its end
LONGEST_NAME: Final = 80  # characters of a source; names come from strangers, too
PACKAGES: Final = frozenset({"node_modules", "site-packages", "bower_components", "dist-packages", "Pods"})
"""Directories below which a project keeps the code of others."""


def sources_of(accesses: Sequence[Access], finding: Finding, *, context: PolicyContext) -> tuple[str, ...]:
    """The sources of untrusted text that a call brings in, for people; none for most calls."""
    named = dict.fromkeys(finding.brings)
    for access in accesses:
        match access:
            case FetchesUrl(url=url):
                named[host_of(url) or "the web"] = None
            case UsesServer(server=server, source=source):
                named[f"the {'MCP server' if source == 'mcp' else 'attached program'} {server}"] = None
            case ReadsPath(path=path):
                named |= dict.fromkeys(sources_of_files([path], context=context))
            case WritesPath() | RunsCommand() | ActsLater() | ChangesMemory() | EvaluatesCode():
                pass
            case _:
                assert_never(access)
    return tuple(printable(name)[:LONGEST_NAME] for name in named)


def sources_of_files(paths: Sequence[Path], *, context: PolicyContext) -> Iterator[str]:
    """The sources among files that are read: those outside the project, and packages in it."""
    for path in paths:
        root = next((root for root in context.roots if path.is_relative_to(root)), None)
        if root is None:
            if not (context.is_result(path) or context.inside(path) or harmless_device(str(path))) and path.exists():
                name = str(path)
                yield f"the file {name if len(name) <= LONGEST_PATH else f'…{name[-LONGEST_PATH:]}'}"
            continue
        parts = path.relative_to(root).parts
        place = next((index for index, part in enumerate(parts) if part in PACKAGES), None)
        if place is not None:
            yield f"the packages in {'/'.join(parts[: place + 1])}"


def distrusted(finding: Finding, access: Access, *, context: PolicyContext) -> Finding:
    """The finding about an access where the conversation holds untrusted text."""
    text = context.untrusted
    if text is None or finding.verdict == "deny" or not _reaches_out(finding, access, text=text, context=context):
        return finding
    reason = (
        f"{finding.reason}, but text from {named(text.sources)} is in this conversation and may be what asks for it"
    )
    if finding.verdict == "ask":
        return replace(finding, reason=reason)
    return replace(finding, verdict="ask", reason=reason, remember=(), wider=(), because=text.sources)


def named(sources: Sequence[str]) -> str:
    """Some sources in a sentence."""
    more = len(sources) - MOST_NAMED
    return ", ".join(sources[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _reaches_out(finding: Finding, access: Access, *, text: UntrustedText, context: PolicyContext) -> bool:
    match access:
        case ReadsPath():
            return False
        case WritesPath(path=path):
            return finding.rule is None and (finding.verdict == "ask" or not text.touched(path))
        case RunsCommand() | EvaluatesCode():
            return _command_reaches_out(finding, sandboxed=context.commands == "sandboxed")
        case FetchesUrl(url=url, carries=carries):
            return carries or not text.given(url)
        case UsesServer() | ActsLater():
            return finding.rule is None
        case ChangesMemory(operation=operation):
            return operation == "store"  # also with a rule, whose author has not seen the text
        case _:
            assert_never(access)


def _command_reaches_out(finding: Finding, *, sandboxed: bool) -> bool:
    """Return whether a command reaches out: in the sandbox without network nothing does, elsewhere all that acts."""
    if finding.verdict == "ask":
        return True
    if finding.reach in {None, "reading"}:
        return False
    if finding.rule is not None:
        return finding.reach != "project" and _leaves_room(finding.rule)
    return finding.reach != "project" or not sandboxed


def _leaves_room(rule: str) -> bool:
    """Return whether a rule covers arguments that its author has not seen."""
    return "(" not in rule or rule.removesuffix(")").endswith("*")
