"""The role `tools`: a program registers tools, and takes them back."""

import logging
from collections.abc import Mapping
from pathlib import Path

from claw_acp.contracts.endpoint import TOOL_PREFIX
from claw_acp.core.json_value import JsonObject
from claw_acp.endpoints.argument_check import UnusableSchema
from claw_acp.endpoints.endpoint import Answer, Endpoint
from claw_acp.endpoints.lent_tools import LentTools
from claw_acp.endpoints.remote_tool import RemoteTool
from claw_acp.kit.endpoint_wire import (
    Message,
    Refused,
    Registered,
    RegisterParams,
    RegisterResult,
    Scope,
    ToolOffer,
    UnregisterParams,
)

log = logging.getLogger(__name__)


class Lender:
    """Answers the requests of one program about its tools.

    Args:
        lent: The tools of all programs.
        endpoint: The program.

    Attributes:
        answers: Answers its requests, by method.
    """

    def __init__(self, lent: LentTools, endpoint: Endpoint) -> None:
        self._lent = lent
        self._endpoint = endpoint
        self.answers: Mapping[str, Answer] = {"tools/register": self.register, "tools/unregister": self.unregister}

    async def register(self, params: JsonObject) -> Message:
        """Answer `tools/register`."""
        asked = RegisterParams.model_validate(params)
        scope = _resolved(asked.scope)
        refused: dict[str, str] = {}
        for offer in asked.tools:
            reason = await self._lend(offer, scope)
            if reason is not None:
                refused[offer.name] = reason
        for name, reason in refused.items():
            about = {"program": self._endpoint.name, "tool": name, "reason": reason}
            log.warning("a tool of a program is not lent", extra=about)
        return RegisterResult(
            registered=tuple(
                Registered(name=offer.name, known_as=f"{TOOL_PREFIX}{offer.name}")
                for offer in asked.tools
                if offer.name not in refused
            ),
            refused=tuple(Refused(name=name, reason=reason) for name, reason in refused.items()),
        )

    async def unregister(self, params: JsonObject) -> Message:
        """Answer `tools/unregister`."""
        self._lent.withdraw(self._endpoint, UnregisterParams.model_validate(params).names)
        return Message()

    async def _lend(self, offer: ToolOffer, scope: Scope) -> str | None:
        """The reason why a tool is not lent; None: it is."""
        try:
            check = await self._lent.checked(offer.input_schema)
        except UnusableSchema as error:
            return error.message
        tool = RemoteTool(offer, check=check, endpoint=self._endpoint)
        return self._lent.lend(tool, owner=self._endpoint, scope=scope)


def _resolved(scope: Scope) -> Scope:
    return scope if scope.folder is None else Scope(folder=str(Path(scope.folder).resolve()))
