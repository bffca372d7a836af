"""Control requests as JSON-RPC 2.0 texts, batches too, dispatched by jsonrpcserver."""

import json
import logging
from collections.abc import Callable, Mapping
from functools import partial
from math import isfinite
from typing import Any, Final, TypeAlias, cast

from jsonrpcserver import Error, Result, Success, async_dispatch
from pydantic import ValidationError

from claw_acp.core.errors import ClawError, InvalidRequest
from claw_acp.core.ids import new_id
from claw_acp.gateway.access.client import OWNER, Client
from claw_acp.gateway.access.scope import covers
from claw_acp.gateway.control.method import Method
from claw_acp.gateway.control.methods import METHODS
from claw_acp.gateway.control.openrpc import openrpc
from claw_acp.gateway.control.server import ControlledServer
from claw_acp.gateway.control.wire import Wire
from claw_acp.rpc.framing import Oversized
from claw_acp.rpc.peer import Transport

log = logging.getLogger(__name__)

BATCH: Final = 100  # requests in one text
OUT_OF_SCOPE: Final = -31040

Callee: TypeAlias = Callable[..., Any]


async def serve_control(transport: Transport, server: ControlledServer) -> None:
    """Answer a program on the hub's socket, which is the owner's, until it leaves."""
    while (frame := await transport.receive()) is not None:
        if isinstance(frame, Oversized):
            continue
        answer = await answer_text(frame.decode("utf-8", "replace"), server, client=OWNER)
        if answer:
            transport.send(answer.encode() + b"\n")
            await transport.drained()


async def answer_text(text: str, server: ControlledServer, *, client: Client) -> str:
    """The answer to a request or a batch of a client; empty if it is to have none."""
    try:
        content: Any = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return _refusal(-32700, "this is not JSON")
    callees: dict[str, Callee] = {name: partial(_call, server, name, method) for name, method in METHODS.items()}
    callees["rpc.discover"] = _discover
    if not isinstance(content, list) or not content:
        return await _answer(content, callees, client)
    batch = cast("list[Any]", content)
    if len(batch) > BATCH:
        return _refusal(-32600, f"a batch may have at most {BATCH} requests")
    answers = [answer for request in batch if (answer := await _answer(request, callees, client))]  # one by one
    return f"[{', '.join(answers)}]" if answers else ""


async def _answer(request: Any, callees: Mapping[str, Callee], client: Client) -> str:  # noqa: ANN401 - JSON
    """The answer to one request; one of a batch that is none does not spoil the others."""
    if not isinstance(request, dict):
        return _refusal(-32600, "a request must be an object")

    def parsed(_text: str) -> Any:  # noqa: ANN401 - JSON
        return cast("Any", request)

    return await async_dispatch("", dict(callees), context=client, deserializer=parsed)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


def _refusal(code: int, message: str) -> str:
    return json.dumps({"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": None})


async def _call(server: ControlledServer, name: str, method: Method, client: Client, /, **params: object) -> Result:
    """Run one method; whatever goes wrong becomes an error that is safe to show."""
    if not covers(client.scopes, method.scope):
        return _out_of_scope(client, name, f"{name} needs a token with the scope {method.scope}")
    try:
        parsed = _parsed(method, name, params)
        if not method.may(client, parsed):
            return _out_of_scope(client, name, f"{name} gives no more than the token has that asks for it, nor longer")
        result = await method.run(server, parsed)
    except ClawError as error:
        return Error(error.code, error.message)
    except Exception:
        incident = new_id("inc")
        log.exception("control request failed", extra={"method": name, "incident": incident})
        return Error(-32603, f"internal error, see log entry {incident}")
    return Success(result.model_dump(mode="json", by_alias=True, exclude_none=True))


async def _discover(_client: Client, /) -> Result:
    """The document of this interface."""
    return Success(openrpc(METHODS))


def _out_of_scope(client: Client, method: str, reason: str) -> Result:
    log.warning("refused", extra={"client": client.name, "method": method, "reason": reason})
    return Error(OUT_OF_SCOPE, reason)


def _parsed(method: Method, name: str, params: Mapping[str, object]) -> Wire:
    try:
        return method.params.model_validate(params)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        complaints = "; ".join(f"`{'.'.join(map(str, fault['loc']))}`: {fault['msg']}" for fault in faults[:3])
        raise InvalidRequest(f"{name}: {complaints}") from error
