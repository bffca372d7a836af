"""`POST /api/chat`: one prompt, one answer. Nobody is asked; what would have been asked is refused and reported."""

import json
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import anyio

from claw_acp.agent.nobody import Nobody
from claw_acp.core.errors import (
    AuthRequired,
    BudgetReached,
    ClawError,
    InvalidRequest,
    ProviderError,
    ServerBusy,
    SessionBusy,
    SessionNotFound,
)
from claw_acp.core.json_value import JsonObject
from claw_acp.gateway.access.client import Client
from claw_acp.gateway.chat.conversation import Conversation
from claw_acp.gateway.chat.turn_watch import TurnWatch
from claw_acp.gateway.chat.wire import prompt_in
from claw_acp.gateway.http.exchange import Exchange
from claw_acp.gateway.http.http_error import HttpError
from claw_acp.gateway.http.json_body import answer_json
from claw_acp.gateway.http.receive_budget import BUSY
from claw_acp.runtime.engine_host import EngineHost
from claw_acp.runtime.live_session import LiveSession
from claw_acp.telemetry.trace_context import trace_from

_STATUSES: Final[tuple[tuple[type[ClawError], int], ...]] = (
    (SessionNotFound, 404),
    (InvalidRequest, 400),
    (SessionBusy, 409),
    (ServerBusy, 503),
    (AuthRequired, 503),
    (BudgetReached, 402),
    (ProviderError, 502),
)


async def answer_prompt(exchange: Exchange, content: JsonObject, host: EngineHost, client: Client) -> None:
    """Answer one prompt. It is cancelled when the client hangs up, or its token ends.

    Raises:
        HttpError: The prompt is invalid, or its turn failed; the body has the error.
        ClientGone: The client hung up.
    """
    conversation = Conversation(host, client)

    async def cancel_when_gone() -> None:
        await exchange.gone()
        conversation.cancel()

    result: JsonObject | ClawError = {}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cancel_when_gone)
        with client.visit(conversation.cancel), trace_from(exchange.head.headers):
            result = await _result(conversation, content)
        tasks.cancel_scope.cancel()
    if isinstance(result, ClawError):
        raise _refusal(result) from result
    await answer_json(exchange, result)


async def _result(conversation: Conversation, content: JsonObject) -> JsonObject | ClawError:
    try:
        prompt = prompt_in(content)
        return await conversation.run(prompt, watch=TurnWatch(_ignore), attending=_nobody, on_session=_ignore)
    except ClawError as error:
        return error


def _ignore(_given: object) -> None:
    """Nothing is told while the turn runs."""


def _nobody(_live: LiveSession) -> AbstractContextManager[Nobody]:
    return nullcontext(Nobody())


def _refusal(error: ClawError) -> HttpError:
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
    body = json.dumps({"error": {"code": error.code, "message": error.message}}).encode()
    return HttpError(status, json=body, headers=BUSY if status == 503 else {})
