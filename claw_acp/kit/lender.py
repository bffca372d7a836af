"""A program that lends tools to a hub: on standard input and output, or attached to the hub's socket.

Calls run concurrently, and functions that are not `async def` in threads.
"""

import sys
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, TypeAlias

from anyio import to_thread
from jsonrpcserver import Error, InvalidParams, Result, Success
from pydantic import ValidationError

from claw_acp.contracts.endpoint import CALL_SECONDS
from claw_acp.core.plugin_errors import CANCELLED
from claw_acp.kit.attached_program import INTERNAL_ERROR, AttachedProgram, HubRefused
from claw_acp.kit.endpoint_wire import CallParams, CallResult, RegisterParams, RequestId, Scope, TextContent, ToolOffer

Function: TypeAlias = Callable[..., Any]


class ToolFailed(Exception):
    """Raised by a tool: the text tells the model why, and what to do instead."""


class Lender(AttachedProgram):
    """One program that lends tools.

        lender = Lender("counter")

        @lender.tool("Counts the words of a text", {"type": "object", "properties": {"text": {"type": "string"}}})
        def word_count(text: str) -> str: return str(len(text.split()))

        lender.run()

    Args:
        name: Its name, for people.
        version: Its own version.
        scope: The sessions that see the tools; by default all.
        instance: Tells several running copies apart; one that attaches again with the same replaces the older.
    """

    role = "tools"

    def __init__(
        self, name: str, *, version: str = "", scope: Scope | None = None, instance: str | None = None
    ) -> None:
        super().__init__(name, version=version, instance=instance, methods={"tools/call": self._call})
        self._scope = scope or Scope()
        self._tools: dict[str, tuple[ToolOffer, Function]] = {}

    def tool(
        self,
        description: str,
        schema: Mapping[str, Any],
        *,
        title: str | None = None,
        read_only: bool = False,
        destructive: bool = False,
        timeout: float = CALL_SECONDS,
    ) -> Callable[[Function], Function]:
        """Lend a function under its own name. It gets the arguments by name, and returns a text."""

        def lend(function: Function) -> Function:
            name = function.__name__
            offer = ToolOffer(
                name=name,
                title=title,
                description=description,
                input_schema=dict(schema),
                read_only=read_only,
                destructive=destructive,
                timeout=timeout,
            )
            self._tools[name] = (offer, function)
            return function

        return lend

    async def attached(self) -> None:
        """Register the tools."""
        if not self._tools:
            return
        offers = tuple(offer for offer, _ in self._tools.values())
        try:
            result = await self.request("tools/register", RegisterParams(tools=offers, scope=self._scope))
        except HubRefused as error:
            print(error, file=sys.stderr)  # noqa: T201 - for the program's author
            return
        if refused := result.get("refused"):
            print("the hub refused:", refused, file=sys.stderr)  # noqa: T201 - for the program's author

    async def _call(self, request_id: RequestId | None, **params: object) -> Result:
        try:
            asked = CallParams.model_validate(params)
        except ValidationError as error:
            return InvalidParams(str(error.errors(include_url=False)[0]["msg"]))
        known = self._tools.get(asked.name)
        if known is None:
            return InvalidParams(f"there is no tool {asked.name}")
        with self.cancellable(request_id):
            try:
                return Success((await _result(known[1], asked.arguments)).plain())
            except TypeError as error:
                traceback.print_exc()
                return InvalidParams(str(error))
            except Exception as error:  # noqa: BLE001 - the author's code may raise anything; they see all of it
                traceback.print_exc()
                return Error(INTERNAL_ERROR, f"the tool failed: {type(error).__name__}: {error}")
        return Error(CANCELLED, "cancelled")


async def _result(function: Function, arguments: Mapping[str, Any]) -> CallResult:
    try:
        if iscoroutinefunction(function):
            said = await function(**arguments)
        else:
            said = await to_thread.run_sync(partial(function, **arguments), abandon_on_cancel=True)
    except ToolFailed as failed:
        return CallResult(content=(TextContent(text=str(failed)),), is_error=True)
    return CallResult(content=(TextContent(text=str(said)),))
