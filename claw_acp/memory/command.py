"""`/memory`: what is kept about the person and the project, and the way to be rid of it."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

from claw_acp.contracts.command import Command, CommandContext, CommandResult, Said
from claw_acp.contracts.memory import Memory, MemoryEntry, MemoryFilter
from claw_acp.core.errors import ConfigError, StoreError
from claw_acp.core.markdown import code_block, code_span, plain_text
from claw_acp.core.printable import plain_lines, printable
from claw_acp.memory.prompt_notes import line_of

MOST_LISTED: Final = 50
USAGE: Final = "Use `/memory`, `/memory show ID`, `/memory forget ID`, `/memory off` or `/memory on`."


class MemoryCommand:
    """See `Command`.

    Args:
        opened: Opens the store for a block.
        namespaces: Returns the namespaces of the session's project and of the person.
        switch: Switches the memory of the project off (True) or on.
    """

    name = "memory"
    description = "Show what is remembered of you and of this project, forget it, or switch memory off here"
    hint: str | None = "show ID | forget ID | off | on"

    def __init__(
        self,
        *,
        opened: Callable[[], AbstractAsyncContextManager[Memory]],
        namespaces: Callable[[], Sequence[str]],
        switch: Callable[[bool], Awaitable[None]],
    ) -> None:
        self._opened = opened
        self._namespaces = namespaces
        self._switch = switch

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - the contract's
        """See `Command`."""
        try:
            return Said(text=await self._answer(argument.split()))
        except (StoreError, ConfigError) as error:
            return Said(text=error.message)

    async def _answer(self, words: Sequence[str]) -> str:
        match words:
            case []:
                return await self._list()
            case ["show", name]:
                return await self._about(name, forget=False)
            case ["forget", name]:
                return await self._about(name, forget=True)
            case ["off" | "on" as state]:
                await self._switch(state == "off")
                off = "off: nothing is remembered or recalled in this project. What was kept stays"
                return f"Memory is {off if state == 'off' else 'on in this project'}."
            case _:
                return USAGE

    async def _list(self) -> str:
        chosen = MemoryFilter(namespaces=tuple(self._namespaces()))
        async with self._opened() as memory:
            found, count = await memory.list(chosen, limit=MOST_LISTED), await memory.count(chosen)
        more = [f"\n… and {count - len(found)} more: `claw-acp memory list`."] if count > len(found) else []
        return "\n".join([*map(_row, found), *more]) or f"Nothing is remembered. {USAGE}"

    async def _about(self, name: str, *, forget: bool) -> str:
        async with self._opened() as memory:
            entry = await self._found(memory, name)
            if entry is None:
                return f"There is no memory {code_span(printable(name))} here. {USAGE}"
            if forget:
                await memory.forget(entry.id)
                return f"{code_span(printable(entry.key))} is forgotten."
        return f"{_row(entry)}\n\n{code_block(plain_lines(entry.content))}\n\nWritten by: {entry.source}."

    async def _found(self, memory: Memory, name: str) -> MemoryEntry | None:
        """The entry with this id or key, if it is one of this project or of the person."""
        namespaces = tuple(self._namespaces())
        entry = await memory.get(name)
        if entry is not None:
            return entry if entry.namespace in namespaces else None
        found = await memory.list(MemoryFilter(namespaces=namespaces, key=name), limit=2)
        return found[0] if len(found) == 1 else None


def _row(entry: MemoryEntry) -> str:
    return f"- {plain_text(line_of(entry).removeprefix('- '))}"


if TYPE_CHECKING:
    _conforms: type[Command] = MemoryCommand
