"""The tools on demand that the model of a session has found."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from claw_acp.contracts.tool_catalog import FIND_TOOLS, announced
from claw_acp.core.messages import Message, TextPart
from claw_acp.session.session import Session

STATE_KEY: Final = "found tools"


class FoundTools:
    """Names in the order they were found. They are never taken back, so that requests begin with the same bytes."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = dict.fromkeys(names)

    @classmethod
    def of(cls, session: Session) -> "FoundTools":
        """Those of a session; in a new process, what its conversation says."""
        found = session.tool_state.get(STATE_KEY, lambda: cls(_found_in(session.history.messages())))
        assert isinstance(found, cls)
        return found

    def names(self) -> Sequence[str]:
        """All of them."""
        return tuple(self._names)

    def add(self, names: Sequence[str]) -> None:
        """Add those that were found now."""
        self._names.update(dict.fromkeys(names))


def _found_in(messages: Sequence[Message]) -> Iterator[str]:
    asked = {call.id for message in messages for call in message.tool_calls if call.name == FIND_TOOLS}
    if not asked:
        return
    for message in messages:
        if message.tool_call_id in asked:
            for part in message.parts[:1]:
                yield from announced(part.text) if isinstance(part, TextPart) else ()
