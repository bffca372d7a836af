"""Tool calls that a model is still writing, shown to people before their arguments are complete.

A call is shown when its name is known, again when its subject is (such as the path of a file), and then as the whole
call. Frames for every piece of a long file would be thousands, and say no more.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.provider import CallChunk
from claw_acp.contracts.tool import CallDraft
from claw_acp.core.clock import Clock
from claw_acp.core.errors import StoreError, ToolError
from claw_acp.core.events import Location, PartContent, ToolCallChanged, ToolStatus
from claw_acp.core.ids import new_id
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import printable
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace
from claw_acp.session.session import Session

log = logging.getLogger(__name__)

LOOKED_AT: Final = 8192  # characters of arguments in which the subject is looked for; models mostly write it first
LONGEST_SUBJECT: Final = 120  # characters of it in a title
MOST_CALLS: Final = 100  # of one answer; more are neither shown nor run
CUT_OFF: Final = "The model did not finish this call, so nothing was done."


@dataclass(slots=True)
class _Draft:
    shown: ToolCallChanged
    form: CallDraft
    arguments: str = field(default="")
    named: bool = False  # its subject is known, or not looked for any more


class CallDrafts:
    """The calls of one model's answer. They are shown without being stored, except those that are cut off.

    Args:
        session: The session to show them in.
        toolbox: Knows how to display the calls of a tool.
        locate: Resolves a path in arguments to an absolute path.
        redactor: Removes secrets.
        clock: Time for ids.
    """

    def __init__(
        self, session: Session, *, toolbox: Toolbox, locate: Callable[[str], Path], redactor: Redactor, clock: Clock
    ) -> None:
        self._session = session
        self._toolbox = toolbox
        self._locate = locate
        self._redactor = redactor
        self._clock = clock
        self._drafts: dict[int, _Draft] = {}

    async def grow(self, chunk: CallChunk, *, message: str) -> None:
        """Take the next piece of a call of the assistant message `message`."""
        draft = self._drafts.get(chunk.index)
        if draft is None:
            if chunk.index > MOST_CALLS:
                return
            draft = self._drafts[chunk.index] = self._begun(chunk.name, message=message)
            await self._session.broadcast(draft.shown)
        if draft.named or not chunk.arguments:
            return
        draft.arguments += chunk.arguments
        subject = argument_so_far(draft.arguments, draft.form.subject)
        draft.named = subject is not None or len(draft.arguments) > LOOKED_AT
        if subject is not None:
            draft.shown = self._about(draft, subject)
            await self._session.broadcast(draft.shown)

    def claim(self, index: int, *, name: str) -> str:
        """The id for a whole call: the one under which it was shown, else a new one."""
        draft = self._drafts.get(index)
        if draft is None or draft.shown.name != name:
            return new_id("call", clock=self._clock)
        del self._drafts[index]
        return draft.shown.item

    async def cut_off(self, status: ToolStatus) -> None:
        """End all unclaimed drafts: they will not become whole calls. Their commit is not waited for."""
        drafts, self._drafts = self._drafts, {}
        for draft in drafts.values():
            end = replace(draft.shown, message=None, status=status, content=(PartContent(part=TextPart(text=CUT_OFF)),))
            try:
                await self._session.publish(end, committed=False)
            except StoreError as error:
                log.warning("an unfinished call was not kept", extra={"call": end.item, "reason": error.message})

    def _begun(self, name: str, *, message: str) -> _Draft:
        form = getattr(self._toolbox.get_tool(name), "draft", None)
        if not isinstance(form, CallDraft):
            form = CallDraft(kind="other", verb=name)
        item = new_id("call", clock=self._clock)
        shown = ToolCallChanged(
            item=item, message=message, name=name, title=form.verb, kind=form.kind, status="pending"
        )
        return _Draft(shown, form, named=not form.subject)

    def _about(self, draft: _Draft, subject: str) -> ToolCallChanged:
        form, cleaned = draft.form, self._redactor(subject)
        line = printable(cleaned.strip().partition("\n")[0])
        title = f"{form.verb} {line}" if len(line) <= LONGEST_SUBJECT else f"{form.verb} {line[:LONGEST_SUBJECT]}…"
        places: tuple[Location, ...] | None = None
        if form.is_path:
            try:
                places = (Location(path=str(self._locate(subject))),)
            except ToolError:  # the whole call will say what is wrong with it
                places = None
        return replace(draft.shown, title=title, locations=places, raw_input={form.subject: cleaned})


def argument_so_far(text: str, name: str) -> str | None:
    """The text at the key `name` of an incomplete JSON object; None while that text is not complete."""
    decoder = json.JSONDecoder()
    place = _skip(text, 0, "{")
    try:
        while place < len(text):
            key, place = decoder.raw_decode(text, place)
            value, place = decoder.raw_decode(text, _skip(text, place, ":"))
            if key == name:
                return value if isinstance(value, str) and value else None
            place = _skip(text, place, ",")
    except (ValueError, RecursionError):
        return None
    return None


def _skip(text: str, place: int, mark: str) -> int:
    """The position after blanks, one mark and blanks."""
    while place < len(text) and (text[place].isspace() or text[place] == mark):
        if text[place] == mark:
            mark = ""
        place += 1
    return place
