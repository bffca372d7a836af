"""The tools that attached programs lend, and the sessions that see them."""

from collections.abc import Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from claw_acp.contracts.endpoint import MOST_TOOLS, TOOL_PREFIX
from claw_acp.contracts.tool import Tool
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value
from claw_acp.endpoints.argument_check import ArgumentCheck
from claw_acp.endpoints.endpoint import Endpoint
from claw_acp.kit.endpoint_wire import Scope
from claw_acp.session.extension import SessionExtension
from claw_acp.session.session import Session


class _Lent(Value):
    tool: Tool
    owner: Endpoint
    scope: Scope


class LentTools:
    """The lent tools of a process, by name. The first program to lend a name has it until it leaves."""

    def __init__(self) -> None:
        self._lent: dict[str, _Lent] = {}
        self._checking = anyio.CapacityLimiter(1)

    async def checked(self, schema: JsonObject) -> ArgumentCheck:
        """The check of a tool's arguments, made in a worker thread: that takes up to a fifth of a second.

        Raises:
            UnusableSchema: The schema cannot be used.
        """
        return await to_thread.run_sync(ArgumentCheck, schema, limiter=self._checking)

    def lend(self, tool: Tool, *, owner: Endpoint, scope: Scope) -> str | None:
        """Lend a tool from now on, or lend it anew; returns the reason if it cannot be lent."""
        name = tool.spec.name
        known = self._lent.get(name)
        if known is not None and known.owner is not owner:
            return f"another program ({known.owner.name}) lends a tool of this name"
        if known is None and len(self._lent) >= MOST_TOOLS:
            return f"{MOST_TOOLS} tools are lent already, and models take no more"
        self._lent[name] = _Lent(tool=tool, owner=owner, scope=scope)
        return None

    def withdraw(self, owner: Endpoint, names: Sequence[str] | None = None) -> None:
        """Take back tools of a program, by their own names; None: all."""
        gone = None if names is None else {f"{TOOL_PREFIX}{name}" for name in names}
        for name, lent in tuple(self._lent.items()):
            if lent.owner is owner and (gone is None or name in gone):
                del self._lent[name]

    def names(self, owner: Endpoint) -> Sequence[str]:
        """The names of a program's tools, as models know them."""
        return [name for name, lent in self._lent.items() if lent.owner is owner]

    def seen_by(self, session: Session) -> Sequence[Tool]:
        """The tools that a session sees."""
        return [lent.tool for lent in self._lent.values() if _covers(lent.scope, session)]

    def extension(self, session: Session) -> SessionExtension:
        """The tools as an extension of a session."""
        return _Extension(self, session)


class _Extension(SessionExtension):
    def __init__(self, lent: LentTools, session: Session) -> None:
        self._lent = lent
        self._session = session

    def tools(self) -> Sequence[Tool]:
        """See `SessionExtension`."""
        return self._lent.seen_by(self._session)


def _covers(scope: Scope, session: Session) -> bool:
    if scope.session is not None:
        return scope.session == session.record.id
    return scope.folder is None or session.roots[0].is_relative_to(Path(scope.folder))
