"""Tools of a model to keep, find and forget notes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

from claw_acp.contracts.memory import CORE, DAILY, Memory, MemoryEntry, MemoryFilter, MemorySource
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallView, ChangesMemory, Invocation, Tool, ToolContext, ToolResult
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, InvalidArguments, ToolError
from claw_acp.core.events import PartContent, ToolContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.markdown import code_block
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import plain_lines, printable
from claw_acp.memory.namespaces import visible
from claw_acp.memory.normalizing import normalized
from claw_acp.memory.own_words import says_no_more
from claw_acp.memory.prompt_notes import STRANGER, line_of
from claw_acp.memory.superseding import is_contradicted
from claw_acp.registry.reference import Ref
from claw_acp.session.session import Session

LONGEST_KEY: Final = 80  # characters
LONGEST_NOTE: Final = 2_000
MOST_FOUND: Final = 20
MARKED: Final[Ref[Callable[..., ToolResult]]] = Ref("claw_acp.contracts.foreign_content:marked")
_SHOWN: Final = 80  # characters of a key or query in a title

NOTE_FIELDS: Final[Mapping[str, JsonObject]] = {
    "key": {"type": "string", "description": "A short name of the subject, as in `test-command`."},
    "content": {"type": "string", "description": "The note, in one or two sentences that stand alone."},
    "about": {
        "type": "string",
        "enum": ["project", "user"],
        "description": "project: it holds in this project only. user: it holds in every project.",
    },
}

Opened = Callable[[], AbstractAsyncContextManager[Memory]]
Namespaces = Callable[[], tuple[str, str] | None]


class MemoryTool:
    """A tool of one session.

    Args:
        session: The session.
        opened: Opens the store for a block.
        namespaces: Returns the namespaces of its project and of the person; None while memory is switched off.
    """

    spec: ToolSpec
    parallel = False

    def __init__(self, session: Session, *, opened: Opened, namespaces: Namespaces) -> None:
        self.session = session
        self.opened = opened
        self._namespaces = namespaces

    @property
    def namespaces(self) -> tuple[str, str]:
        """The namespaces of the project and of the person.

        Raises:
            ToolError: Memory is switched off.
        """
        found = self._namespaces()
        if found is None:
            raise ToolError("The user has switched memory off in this project.")
        return found

    def text(self, arguments: JsonObject, name: str, *, most: int) -> str:
        """An argument that has to be a text.

        Raises:
            InvalidArguments: It is none, or too long.
        """
        value = arguments.get(name)
        if not isinstance(value, str) or not value.strip() or len(value) > most:
            raise InvalidArguments(f"{self.spec.name} needs `{name}`, a text of 1 to {most:,} characters.")
        return value.strip()

    def choice(self, arguments: JsonObject, name: str, *, among: Sequence[str]) -> str:
        """An argument that has to be one of some words, by default the first.

        Raises:
            InvalidArguments: It is another.
        """
        value = arguments.get(name) or among[0]
        if not isinstance(value, str) or value not in among:
            raise InvalidArguments(f"`{name}` of {self.spec.name} must be one of: {', '.join(among)}.")
        return value


def _schema(required: Sequence[str], **properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


class Store(MemoryTool):
    """Keeps a note."""

    spec = ToolSpec(
        name="memory_store",
        description=(
            "Keep a note for later conversations: a lasting preference or decision of the user, or a fact about this "
            "project that is costly to find again. Not what the files themselves say, no passing details, no secrets. "
            "A note of the same key replaces the older one."
        ),
        parameters=_schema(
            ("key", "content"),
            **NOTE_FIELDS,
            category={
                "type": "string",
                "enum": [CORE, DAILY],
                "description": "core: it lasts. daily: it matters for some days.",
            },
        ),
    )

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`."""
        return self.invocation(arguments, strangers=context.strangers)

    def invocation(self, arguments: JsonObject, *, strangers: Callable[[], Sequence[str]] = tuple) -> Invocation:
        """The call with these arguments; `strangers` returns what came into the conversation of a subagent.

        Raises:
            InvalidArguments: One of them cannot be used.
            ToolError: Memory is switched off.
        """
        key = self.text(arguments, "key", most=LONGEST_KEY)
        content = self.text(arguments, "content", most=LONGEST_NOTE)
        about = self.choice(arguments, "about", among=("project", "user"))
        category = self.choice(arguments, "category", among=(CORE, DAILY))
        return _Storing(self, key, content, about=about, category=category, strangers=strangers)


class _Storing(Invocation):
    def __init__(
        self, tool: Store, key: str, content: str, *, about: str, category: str,
        strangers: Callable[[], Sequence[str]],
    ) -> None:  # fmt: skip
        self._tool = tool
        self._strangers = strangers
        self._key, self._content, self._category = key, content, category
        self._namespace = tool.namespaces[0 if about == "project" else 1]
        words = f"{key.replace('-', ' ').replace('_', ' ')} {content}"
        self._said = says_no_more(words, tool.session.history.typed())
        self._where = "this project" if about == "project" else "every project"
        self.view = CallView(title=f"Remember for {self._where}: {printable(key)[:_SHOWN]}", kind="other")
        self.accesses = (ChangesMemory(text=f"{key}: {content}", said=self._said, everywhere=about == "user"),)

    async def preview(self) -> tuple[ToolContent, ...]:
        """The exact text, and the notes that it replaces."""
        new = normalized(
            MemoryEntry(
                id="", key=self._key, content=self._content, category=self._category, timestamp=0,
                namespace=self._namespace,
            )
        )  # fmt: skip
        among = (self._namespace,)
        async with self._tool.opened() as memory:
            namesakes = await memory.list(MemoryFilter(namespaces=among, key=new.key))
            alike = await memory.recall_namespaced(new.content, namespaces=among, limit=MOST_FOUND)
        gone = {old.id: old for old in (*namesakes, *alike) if is_contradicted(old, by=new)}
        shown = [_shown(new), *(["It replaces:", *map(_shown, gone.values())] if gone else [])]
        return (PartContent(part=TextPart(text="\n\n".join(shown))),)

    async def run(self) -> ToolResult:
        """Store the note, with its author."""
        own: MemorySource = "person" if self._said else "agent"
        foreign = (*self._strangers(), *self._tool.session.history.foreign_sources)
        source: MemorySource = "stranger" if foreign else own
        try:
            async with self._tool.opened() as memory:
                entry = await memory.store_with_metadata(
                    self._key, self._content, namespace=self._namespace, category=self._category,
                    session_id=self._tool.session.id, source=source,
                )  # fmt: skip
        except ClawError as error:
            raise ToolError(error.message) from error
        return ToolResult(parts=(TextPart(text=f"Kept for {self._where}, as {entry.id}."),))


class Recall(MemoryTool):
    """Finds notes."""

    on_demand = True  # notes that matter come with the prompt
    spec = ToolSpec(
        name="memory_recall",
        description=(
            "Find notes from earlier conversations, about this project and about the user, and what left this "
            "conversation when it was shortened. Notes that fit best come with the user's message anyway."
        ),
        parameters=_schema(("query",), query={"type": "string", "description": "What you look for, in plain words."}),
    )
    parallel = True

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`."""
        return _Recalling(self, self.text(arguments, "query", most=LONGEST_NOTE), clock=context.clock)


class _Recalling(Invocation):
    def __init__(self, tool: Recall, query: str, *, clock: Clock) -> None:
        self._tool, self._query, self._clock = tool, query, clock
        self._namespaces = tool.namespaces
        self.view = CallView(title=f"Recall {printable(query)[:_SHOWN]}", kind="search")

    async def run(self) -> ToolResult:
        """The notes, marked as a stranger's text if one of them is."""
        try:
            async with self._tool.opened() as memory:
                found = await memory.recall_namespaced(
                    self._query, namespaces=visible(self._namespaces), limit=MOST_FOUND
                )
        except ClawError as error:
            raise ToolError(error.message) from error
        text = "\n".join(map(line_of, found)) or "There is no note about that."
        return _told(text, found, clock=self._clock)


class Forget(MemoryTool):
    """Forgets a note."""

    on_demand = True
    spec = ToolSpec(
        name="memory_forget",
        description="Remove a note for good, when the user asks for that or it has proved wrong.",
        parameters=_schema(("id",), id={"type": "string", "description": "The id that memory_recall shows."}),
    )

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`."""
        return _Forgetting(self, self.text(arguments, "id", most=LONGEST_KEY), clock=context.clock)


class _Forgetting(Invocation):
    def __init__(self, tool: Forget, entry_id: str, *, clock: Clock) -> None:
        self._tool, self._id, self._clock = tool, entry_id, clock
        self._namespaces = tool.namespaces
        self.view = CallView(title=f"Forget the note {printable(entry_id)}", kind="delete")
        self.accesses = (ChangesMemory(text=entry_id, operation="forget"),)

    async def preview(self) -> tuple[ToolContent, ...]:
        """The note."""
        async with self._tool.opened() as memory:
            entry = await self._found(memory)
        return (PartContent(part=TextPart(text=_shown(entry))),)

    async def run(self) -> ToolResult:
        """Remove the note."""
        try:
            async with self._tool.opened() as memory:
                entry = await self._found(memory)
                await memory.forget(entry.id)
        except ClawError as error:
            raise ToolError(error.message) from error
        return ToolResult(parts=(TextPart(text=f"{entry.id} is forgotten."),))

    async def _found(self, memory: Memory) -> MemoryEntry:
        """The note; those of other projects do not exist here."""
        entry = await memory.get(self._id)
        if entry is None or entry.namespace not in visible(self._namespaces):
            raise ToolError(f"There is no note {self._id}; memory_recall shows the ids.")
        return entry


def _shown(entry: MemoryEntry) -> str:
    """A note as a person reads it who is asked about it."""
    return code_block(plain_lines(f"{entry.key}: {entry.content}"), language="text")


def _told(text: str, found: Sequence[MemoryEntry], *, clock: Clock) -> ToolResult:
    result = ToolResult(parts=(TextPart(text=text),))
    foreign = any(entry.source == "stranger" for entry in found)
    return MARKED.load()(result, source=STRANGER, clock=clock) if foreign else result


if TYPE_CHECKING:
    _conform: tuple[type[Tool], type[Tool], type[Tool]] = (Store, Recall, Forget)
