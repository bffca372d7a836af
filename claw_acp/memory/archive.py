"""The archive of a conversation: what was taken out of it, word for word until a model has summarized it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from claw_acp.contracts.conversation_archive import ArchivedPiece, ConversationArchive
from claw_acp.contracts.memory import CONVERSATION, MemoryFilter
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import ChangesMemory
from claw_acp.contracts.unasked_calls import UnaskedCalls
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ConfigError, InvalidArguments, StoreError, ToolError
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.memory.namespaces import history_namespace
from claw_acp.memory.tools import NOTE_FIELDS, Opened, Store

RAW: Final = "[RAW]"
"""The first word of what no model has put into its words."""

LONGEST_ENTRY: Final = 4_000  # characters
MOST_NOTES: Final = 8
_MOST_WAITING: Final = 500
_TOOL: Final = Store.spec.name  # its rules hold for all that is kept
_ACCESSES: Final = (ChangesMemory(text="what leaves the conversation"),)

SAVE_MEMORY: Final = ToolSpec(
    name="save_memory",
    description="Keep what is worth finding again of the record.",
    parameters={
        "type": "object",
        "properties": {
            "history_entry": {
                "type": "string",
                "description": "What happened, in some sentences that stand alone, with words that a search would use.",
            },
            "notes": {
                "type": "array",
                "description": "What holds beyond this conversation; often none.",
                "items": {
                    "type": "object",
                    "properties": NOTE_FIELDS,
                    "required": ["key", "content"],
                },
            },
        },
        "required": ["history_entry"],
    },
)
"""A tool that is asked for and never run."""


class SessionArchive(ConversationArchive):
    """See `ConversationArchive`.

    Args:
        store: The tool of the session that keeps notes.
        opened: Opens the store for a block.
        complain: Tells the person that the store failed.
        clock: Time for keys.
    """

    tool = SAVE_MEMORY

    def __init__(
        self, store: Store, *, opened: Opened, complain: Callable[[StoreError | ConfigError], Awaitable[None]],
        clock: Clock,
    ) -> None:  # fmt: skip
        self._store = store
        self._history = history_namespace(store.namespaces[0])  # also if memory is switched off meanwhile
        self._opened = opened
        self._complain = complain
        self._clock = clock

    async def keep(self, pieces: Sequence[str], *, calls: UnaskedCalls) -> None:
        """See `ConversationArchive`."""
        if not pieces or calls.allows(_TOOL, _ACCESSES) is False:
            return
        session = self._store.session
        foreign = session.history.foreign_sources
        try:
            async with self._opened() as memory:
                for piece in pieces:
                    await memory.store_with_metadata(
                        f"conversation-{new_id('mem', clock=self._clock)[-8:]}", f"{RAW} {piece}",
                        namespace=self._history, category=CONVERSATION, session_id=session.id,
                        source="stranger" if foreign else "agent",
                    )  # fmt: skip
        except (StoreError, ConfigError) as error:
            await self._complain(error)

    async def waiting(self, *, most: int) -> Sequence[ArchivedPiece]:
        """See `ConversationArchive`."""
        chosen = MemoryFilter(namespaces=(self._history,), category=CONVERSATION, session_id=self._store.session.id)
        try:
            async with self._opened() as memory:
                found = await memory.list(chosen, limit=_MOST_WAITING)
        except (StoreError, ConfigError) as error:
            await self._complain(error)
            return ()
        raw = [entry for entry in reversed(found) if entry.content.startswith(RAW)]
        return [ArchivedPiece(id=entry.id, text=entry.content.removeprefix(RAW).strip()) for entry in raw[:most]]

    async def consolidate(self, piece: ArchivedPiece, arguments: JsonObject, *, calls: UnaskedCalls) -> str:
        """See `ConversationArchive`."""
        text = arguments.get("history_entry")
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_ENTRY:
            return f"it needs `history_entry`, a text of 1 to {LONGEST_ENTRY:,} characters."
        notes = arguments.get("notes") or []
        if not isinstance(notes, list):
            return "`notes` must be a list of objects with `key` and `content`."
        try:
            others = [line for note in notes[:MOST_NOTES] if (line := await self._note(note, calls=calls))]
            await self._replace(piece, "\n".join((text.strip(), *others)))
        except (StoreError, ConfigError) as error:
            await self._complain(error)
        return ""

    async def _note(self, note: JsonValue, *, calls: UnaskedCalls) -> str:
        """Keep a note if nobody has to be asked; else returns it as a line of the history."""
        if not isinstance(note, dict):
            return ""
        try:
            invocation = self._store.invocation(note)
            if await calls.run(_TOOL, note, invocation):
                return ""
        except (InvalidArguments, ToolError):
            return ""  # a note that cannot be kept is no reason to lose the rest
        return f"- {note['key']}: {note['content']}"

    async def _replace(self, piece: ArchivedPiece, text: str) -> None:
        async with self._opened() as memory:
            raw = await memory.get(piece.id)
            if raw is not None and raw.superseded_by is None:  # else somebody forgot it meanwhile
                await memory.store_with_metadata(
                    raw.key, text, namespace=raw.namespace, category=raw.category, session_id=raw.session_id,
                    source=raw.source,
                )  # fmt: skip
