"""Untrusted text that calls bring into a conversation: marked for the model, kept in mind for decisions, and told once.

The bit is in the journal, on the call that brought the text: whoever reads the journal has it, be it after a restart,
in a copy or in an attempt. Undoing a turn or summarizing it does not take it back.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from claw_acp.agent.call_entry import CallEntry
from claw_acp.contracts.questions import Choice
from claw_acp.contracts.tool import ToolResult
from claw_acp.core.clock import Clock
from claw_acp.core.events import Notice, ToolCallChanged
from claw_acp.core.ids import new_id
from claw_acp.registry.reference import Ref
from claw_acp.security.command_paths import UntrustedText
from claw_acp.security.permission_choices import TRUST_TEXT
from claw_acp.security.untrusted_text import named
from claw_acp.session.session import Session

MARKED: Final[Ref[Callable[..., ToolResult]]] = Ref("claw_acp.contracts.foreign_content:marked")
"""By name: few sessions read untrusted text with a tool that does not mark it."""

_AFTER_ADDRESS: Final = r"(?![^\s\"'`<>()\[\]{},;.!|])"
"""Nothing of the address may follow: who gave a longer one did not give its beginning."""


def untrusted_text(
    session: Session, *, known: frozenset[str] | None, person: Session | None = None
) -> UntrustedText | None:
    """The untrusted text in a conversation; None if there is none that counts.

    Args:
        session: The session.
        known: The sources that the model had read from when it asked for the call; None: all.
        person: The session with a person's prompts, if those of this one are a model's.
    """
    history, roots = session.history, session.roots
    sources = tuple(source for source in history.untrusted_sources if known is None or source in known)
    if not sources:
        return None

    def typed() -> str:
        return "\n".join((person or session).history.typed())

    def touched(path: Path) -> bool:
        names = {str(path), *(str(path.relative_to(root)) for root in roots if path.is_relative_to(root))}
        return history.has_touched(str(path)) or any(_stands_in(name, typed()) for name in names)

    def given(url: str) -> bool:
        return _stands_in(url, typed()) or any(_stands_in(url, text) for text in history.untrusted_texts())

    return UntrustedText(sources=sources, touched=touched, given=given)


def names_host(session: Session, host: str) -> bool:
    """Return whether a person named a host in their prompts, alone or in an address."""
    named = re.compile(rf"(?<![\w.-]){re.escape(host)}(?![\w-]|\.\w)", re.IGNORECASE)
    return any(map(named.search, session.history.typed()))


def with_marks(entry: CallEntry, result: ToolResult, *, clock: Clock) -> ToolResult:
    """The result of a call that ran, marked if untrusted text is in it; the call then has its sources."""
    if result.unanswered and not entry.package:
        entry.sources = ()
        return result
    if entry.sources and not result.source:
        return MARKED.load()(result, source=named(entry.sources), clock=clock)
    if result.source and not entry.sources:
        entry.sources = (result.source,)
    return result


async def accept(session: Session, choice: Choice | None, *, sources: tuple[str, ...], call_id: str) -> None:
    """Keep in the journal that a person trusts these sources in this conversation, if that is what they chose."""
    if choice is not None and choice.id == TRUST_TEXT:
        await session.publish(ToolCallChanged(item=call_id, accepted=sources))


async def tell(session: Session, sources: tuple[str, ...], *, clock: Clock) -> None:
    """Tell the person that untrusted text came in; called before its call ends, so only the first time."""
    known = next(session.history.untrusted_texts(), None) is not None
    if not sources or known or session.mode not in {"edit", "auto"}:
        return
    title = f"Text from {named(sources)} is in this conversation now"
    description = "It may try to make the model act, so you are asked before anything reaches out of this project."
    notice = Notice(
        item=new_id("ntc", clock=clock), severity="info", title=title, description=description, topic="untrusted"
    )
    await session.publish(notice, committed=False)


def _stands_in(words: str, text: str) -> bool:
    """Return whether a text holds these words as a whole."""
    return re.search(rf"(?<![\w/.-]){re.escape(words)}{_AFTER_ADDRESS}", text) is not None
