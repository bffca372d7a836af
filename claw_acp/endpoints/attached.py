"""The programs that are attached now: who they are, and what each may ask for by its role."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Final

import anyio
from pydantic import ValidationError

from claw_acp.contracts.endpoint import LEAVE_SECONDS, OWN, PROTOCOL, ROLES, SERVED
from claw_acp.contracts.schedule import Fires, RunResult
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ToolError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.version import VERSION
from claw_acp.endpoints.endpoint import Endpoint, Identity, invalid
from claw_acp.endpoints.firing import FiringProgram, addressee
from claw_acp.endpoints.greeting import Attached, NotAttached, refusing
from claw_acp.endpoints.lending import Lender
from claw_acp.endpoints.lent_tools import LentTools
from claw_acp.kit.endpoint_wire import InitializeResult
from claw_acp.rpc.peer import Transport

log = logging.getLogger(__name__)

REPLACING: Final = 1.0  # seconds for an older connection of the same program to end


class AttachedPrograms:
    """Serves programs by their roles, and knows those that are attached.

    Args:
        fires: Runs what they say is due.
        clock: Time.

    Attributes:
        lent: The tools that they lend.
    """

    def __init__(self, *, fires: Fires, clock: Clock) -> None:
        self.lent = LentTools()
        self._fires = fires
        self._clock = clock
        self._here: dict[Identity, Endpoint] = {}
        self._gone: dict[Endpoint, anyio.Event] = {}
        self._firing: dict[Endpoint, FiringProgram] = {}

    async def serve(self, transport: Transport, attached: Attached) -> Endpoint:
        """Serve a program until it leaves; an older connection of the same program is replaced.

        Raises:
            NotAttached: It cannot be served; it has been told why.
        """
        with refusing(transport):
            about = introduced(attached.answer)
        endpoint = Endpoint(transport, about, clock=self._clock)
        gone = self._gone[endpoint] = anyio.Event()
        try:
            await self._replace(endpoint)
            if about.role == "scheduler":
                program = self._firing[endpoint] = FiringProgram(self._fires, endpoint)
                endpoint.answers |= program.answers
                await program.attached()
            else:
                endpoint.answers |= Lender(self.lent, endpoint).answers
            await endpoint.run()
        finally:
            self.lent.withdraw(endpoint)
            self._firing.pop(endpoint, None)
            if self._here.get(endpoint.identity) is endpoint:
                del self._here[endpoint.identity]
            del self._gone[endpoint]
            gone.set()
        return endpoint

    async def shut_down(self) -> None:
        """Ask all to leave."""
        async with anyio.create_task_group() as tasks:
            for endpoint in tuple(self._here.values()):
                tasks.start_soon(partial(endpoint.shut_down, within=LEAVE_SECONDS))

    async def take_result(self, target: str, result: RunResult) -> str:
        """See `ResultTaker`."""
        identity, fire_id = addressee(target)
        program = None if (endpoint := self._here.get(identity)) is None else self._firing.get(endpoint)
        if program is None:
            raise ToolError(f"the program {identity.name} is not attached")
        return await program.hand_over(fire_id, result)

    def rows(self) -> Sequence[JsonObject]:
        """The attached programs, as a status shows them."""
        return [
            {
                "role": endpoint.identity.role,
                "name": endpoint.name,
                "version": endpoint.version,
                "instance": endpoint.identity.instance,
                "tools": list(self.lent.names(endpoint)),
            }
            for endpoint in self._here.values()
        ]

    async def _replace(self, endpoint: Endpoint) -> None:
        older = self._here.get(endpoint.identity)
        self._here[endpoint.identity] = endpoint
        if older is not None:
            older.let_go("replaced", "the same program has attached again; this connection is not to be opened anew")
            with anyio.move_on_after(REPLACING):
                await self._gone[older].wait()


def introduced(answer: JsonObject) -> InitializeResult:
    """The answer to `initialize` of a program whose role is served.

    Raises:
        NotAttached: It is wrong, or its role is not served.
    """
    try:
        about = InitializeResult.model_validate(answer)
    except ValidationError as error:
        if answer.get("role") not in ROLES:
            raise NotAttached(f'the role "{answer.get("role")}" is unknown; there are {", ".join(ROLES)}') from error
        raise NotAttached(f"the answer to `initialize` is wrong: {invalid(error)}") from error
    if about.protocol_version != PROTOCOL:
        raise NotAttached(f"version {about.protocol_version} of the protocol is not spoken here; it is {PROTOCOL}")
    if about.role in OWN:
        raise NotAttached(f'the role "{about.role}" is served on the hub\'s socket only')
    if about.role not in SERVED:
        raise NotAttached(f'the role "{about.role}" is specified, but claw-acp {VERSION} does not serve it yet')
    return about
