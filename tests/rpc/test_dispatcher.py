import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.dispatcher import IN_FLIGHT, Dispatcher
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.rpc.memory_pair import MemoryTransport, memory_pair
from claw_acp.rpc.peer import IncomingCall, NotificationHandler, Reply, RequestHandler

SOON = 5  # seconds; a bound for waits that should end at once


class Handlers:
    def __init__(self) -> None:
        self.requests: dict[str, RequestHandler] = {}
        self.notifications: dict[str, NotificationHandler] = {}

    def request_handler(self, method: str) -> RequestHandler | None:
        return self.requests.get(method)

    def notification_handler(self, method: str) -> NotificationHandler | None:
        return self.notifications.get(method)

    def to_wire(self, error: Exception, method: str) -> RpcError:
        return error if isinstance(error, RpcError) else RpcError(-32603, f"{method}: {error}")


class Wire:
    """The bare other side of a dispatcher."""

    def __init__(self, transport: MemoryTransport, handlers: Handlers, dispatcher: Dispatcher) -> None:
        self.transport = transport
        self.handlers = handlers
        self.dispatcher = dispatcher

    def says(self, *lines: "bytes | dict[str, Any]") -> None:
        for line in lines:
            self.transport.send(line + b"\n" if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")

    async def hears(self) -> dict[str, Any]:
        with anyio.fail_after(SOON):
            frame = await self.transport.receive()
        assert isinstance(frame, bytes)
        return json.loads(frame)


@asynccontextmanager
async def wired() -> AsyncGenerator[Wire]:
    ours, theirs = memory_pair()
    handlers = Handlers()
    dispatcher = Dispatcher(ours, handlers)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.run)
        yield Wire(theirs, handlers, dispatcher)
        theirs.close()


def call(method: str, *, id: object = 1, **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


async def echo(_call: IncomingCall, params: JsonObject) -> JsonValue:
    return params


async def forever(_call: IncomingCall, _params: JsonObject) -> JsonValue:
    await anyio.sleep_forever()
    return None


async def test_a_request_is_answered_once_with_its_id() -> None:
    async with wired() as wire:
        wire.handlers.requests["echo"] = echo
        wire.says(call("echo", id="x", a=1))
        assert await wire.hears() == {"jsonrpc": "2.0", "id": "x", "result": {"a": 1}}


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        (b"{oops", -32700, None),
        (b"[]", -32600, None),
        (b"17", -32600, None),
        (b'{"jsonrpc":"2.0","id":3,"method":"nowhere"}', -32601, 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"_x/nowhere"}', -32601, 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"echo","params":[1]}', -32602, 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"echo","params":"x"}', -32602, 3),
    ],
)
async def test_what_cannot_be_handled_gets_its_error_and_the_connection_lives(
    line: bytes, code: int, id: object
) -> None:
    async with wired() as wire:
        wire.handlers.requests["echo"] = echo
        wire.says(line, call("echo", id=99))
        answer = await wire.hears()
        assert (answer["error"]["code"], answer["id"]) == (code, id)
        assert (await wire.hears())["id"] == 99


async def test_unknown_notifications_and_unexpected_responses_are_ignored() -> None:
    async with wired() as wire:
        wire.handlers.requests["echo"] = echo
        wire.says(
            b'{"jsonrpc":"2.0","method":"_x/y"}',
            b'{"jsonrpc":"2.0","method":"$/z","params":[1]}',
            b'{"jsonrpc":"2.0","id":5,"result":1}',
            b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":42}}',
            b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":{}}}',
            call("echo", id=1),
        )
        assert (await wire.hears())["id"] == 1


async def test_a_failing_handler_is_one_error_answer() -> None:
    async def fail(_call: IncomingCall, _params: JsonObject) -> JsonValue:
        raise ValueError("broken")

    async with wired() as wire:
        wire.handlers.requests["fail"] = fail
        wire.says(call("fail"))
        assert (await wire.hears())["error"] == {"code": -32603, "message": "fail: broken"}


async def test_what_follows_an_answer_is_sent_after_it() -> None:
    async def handler(_call: IncomingCall, _params: JsonObject) -> Reply:
        async def after() -> None:
            await wire.dispatcher.notify("news", {})

        return Reply({"ok": True}, after)

    async with wired() as wire:
        wire.handlers.requests["new"] = handler
        wire.says(call("new"))
        assert (await wire.hears())["result"] == {"ok": True}
        assert (await wire.hears())["method"] == "news"


async def test_a_failure_after_the_answer_sends_no_second_answer() -> None:
    async def handler(_call: IncomingCall, _params: JsonObject) -> Reply:
        async def after() -> None:
            raise ValueError("too late")

        return Reply(1, after)

    async with wired() as wire:
        wire.handlers.requests |= {"new": handler, "echo": echo}
        wire.says(call("new", id=1), call("echo", id=2))
        assert [(await wire.hears())["id"], (await wire.hears())["id"]] == [1, 2]


async def test_cancel_request_ends_a_request_with_its_own_error() -> None:
    async with wired() as wire:
        wire.handlers.requests["wait"] = forever
        wire.says(call("wait", id=8), {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 8}})
        answer = await wire.hears()
        assert (answer["id"], answer["error"]["code"]) == (8, -32800)


async def test_a_handler_may_say_itself_what_cancelling_means() -> None:
    async def patient(incoming: IncomingCall, _params: JsonObject) -> JsonValue:
        stop = anyio.Event()
        incoming.on_cancel = stop.set
        await stop.wait()
        return "stopped"

    async with wired() as wire:
        wire.handlers.requests["wait"] = patient
        wire.says(call("wait", id=8), {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 8}})
        assert (await wire.hears())["result"] == "stopped"


async def test_ids_one_true_and_text_one_are_different() -> None:
    async with wired() as wire:
        wire.handlers.requests |= {"wait": forever, "echo": echo}
        wire.says(
            call("wait", id="1"),
            {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}},
            call("echo", id=2),
        )
        assert (await wire.hears())["id"] == 2


async def test_requests_do_not_block_each_other() -> None:
    async with wired() as wire:
        wire.handlers.requests |= {"wait": forever, "echo": echo}
        wire.says(call("wait", id=1), call("echo", id=2))
        assert (await wire.hears())["id"] == 2


async def test_too_many_requests_at_once_are_refused_not_queued() -> None:
    async with wired() as wire:
        wire.handlers.requests["wait"] = forever
        wire.says(*(call("wait", id=number) for number in range(IN_FLIGHT + 1)))
        assert (await wire.hears())["id"] == IN_FLIGHT


async def test_our_requests_are_matched_by_id_in_any_order() -> None:
    answers: dict[str, JsonValue] = {}

    async def ask(wire: Wire, method: str) -> None:
        answers[method] = await wire.dispatcher.request(method, {})

    async with wired() as wire, anyio.create_task_group() as tasks:
        tasks.start_soon(ask, wire, "a")
        tasks.start_soon(ask, wire, "b")
        first, second = await wire.hears(), await wire.hears()
        for asked in (second, first):
            wire.says({"jsonrpc": "2.0", "id": asked["id"], "result": asked["method"] * 2})
    assert answers == {"a": "aa", "b": "bb"}


async def test_an_error_answer_raises_with_its_code() -> None:
    async with wired() as wire, anyio.create_task_group() as tasks:

        async def ask() -> None:
            with pytest.raises(RpcError, match="no") as caught:
                await wire.dispatcher.request("a", {})
            assert (caught.value.code, caught.value.data) == (-5, {"x": 1})

        tasks.start_soon(ask)
        asked = await wire.hears()
        wire.says({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -5, "message": "no", "data": {"x": 1}}})


async def test_giving_up_on_a_request_tells_the_other_side() -> None:
    async with wired() as wire:
        with pytest.raises(TimeoutError):
            await wire.dispatcher.request("slow", {}, within=0)
        asked, cancelled = await wire.hears(), await wire.hears()
        assert cancelled["method"] == "$/cancel_request"
        assert cancelled["params"] == {"requestId": asked["id"]}


async def test_the_end_of_the_connection_wakes_who_waits_and_cancels_who_works() -> None:
    ended: list[str] = []

    async def handler(_call: IncomingCall, _params: JsonObject) -> JsonValue:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("handler")
        return None

    async def ask(wire: Wire) -> None:
        with pytest.raises(ConnectionClosed):
            await wire.dispatcher.request("a", {})
        ended.append("request")

    with anyio.fail_after(SOON):
        async with wired() as wire, anyio.create_task_group() as tasks:
            wire.handlers.requests["work"] = handler
            tasks.start_soon(ask, wire)
            await wire.hears()
            wire.says(call("work"))
            await anyio.wait_all_tasks_blocked()
            wire.transport.close()
    assert sorted(ended) == ["handler", "request"]
    with pytest.raises(ConnectionClosed):
        await wire.dispatcher.request("late", {})
