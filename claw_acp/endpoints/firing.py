"""The role `scheduler`: a program says what is due, and takes the results."""

import json
import logging
from typing import Final

import anyio

from claw_acp.contracts.endpoint import CALL_SECONDS
from claw_acp.contracts.schedule import Fire, Fires, RunResult
from claw_acp.core.errors import ClawError, ToolError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.money import to_dollars
from claw_acp.endpoints.endpoint import Endpoint, Identity
from claw_acp.kit.endpoint_wire import FinishedParams, FireParams, FireResult, Message
from claw_acp.rpc.errors import ConnectionClosed, RpcError

AT_ONCE: Final = 8  # results that a program is handed at a time; the others wait

log = logging.getLogger(__name__)


class FiringProgram:
    """Answers the requests of one program about what is due.

    Args:
        fires: Runs it.
        endpoint: The program.
    """

    def __init__(self, fires: Fires, endpoint: Endpoint) -> None:
        self._fires = fires
        self._endpoint = endpoint
        self._handing_over = anyio.Semaphore(AT_ONCE)
        self.answers = {"schedule/fire": self.fire}

    async def attached(self) -> None:
        """Have the results delivered that wait for it."""
        try:
            await self._fires.deliver_waiting(_beginning(self._endpoint.identity))
        except ClawError as error:
            about = {"program": self._endpoint.name, "reason": error.message}
            log.warning("results that wait for a program are not delivered yet", extra=about)

    async def fire(self, params: JsonObject) -> Message:
        """Answer `schedule/fire`."""
        asked = FireParams.model_validate(params)
        identity = self._endpoint.identity
        fire = Fire(
            target=_target(identity, asked.fire_id), title=asked.job or identity.name, prompt=asked.prompt,
            folder=asked.folder, session=asked.session, mode=asked.mode, model=asked.model, tools=asked.tools,
            budget=asked.budget, timeout=asked.timeout,
        )  # fmt: skip
        return FireResult(known=not await self._fires.fire(fire))

    async def hand_over(self, fire_id: str, result: RunResult) -> str:
        """Send the program a result, when it has taken those before; returns the outcome for people.

        Raises:
            ToolError: It does not answer.
        """
        name = self._endpoint.name
        params = FinishedParams.model_validate({
            "fire_id": fire_id, "status": result.status, "text": result.text, "detail": result.detail,
            "session_id": result.session_id, "cost": to_dollars(result.cost) if result.cost else None,
        })  # fmt: skip
        try:
            async with self._handing_over:
                await self._endpoint.request("schedule/finished", params, within=CALL_SECONDS)
        except RpcError as error:
            return f"taken by the program {name} with an error: {error.message}"
        except TimeoutError as error:
            raise ToolError(f"the program {name} gave no answer within {CALL_SECONDS:g} s") from error
        except ConnectionClosed as error:
            raise ToolError(f"the program {name} left before it answered") from error
        return f"taken by the program {name}"


def addressee(target: str) -> tuple[Identity, str]:
    """The program of a target, and its own id of the fire.

    Raises:
        ToolError: It is no target.
    """
    try:
        name, instance, fire_id = json.loads(target)
    except (ValueError, TypeError) as error:
        raise ToolError(f"{target} names no program") from error
    return Identity(role="scheduler", name=str(name), instance=str(instance)), str(fire_id)


def _target(identity: Identity, fire_id: str) -> str:
    return json.dumps([identity.name, identity.instance, fire_id])


def _beginning(identity: Identity) -> str:
    """The text with which all targets of a program begin."""
    return f"{json.dumps([identity.name, identity.instance])[:-1]}, "
