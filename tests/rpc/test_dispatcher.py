import logging
from typing import Any

import anyio
import pytest

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.dispatcher import HIGH_WATER, OVERLOADED, Dispatcher
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.rpc.framing import Oversized
from claw_acp.rpc.memory_pair import MemoryTransport, memory_pair
from claw_acp.rpc.peer import IncomingCall, Reply
from tests.rpc.wire import SOON, Handlers, Wire, call, echo, forever, wired


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


async def test_of_two_answers_to_one_request_the_first_counts() -> None:
    answers: list[JsonValue] = []

    async def ask(wire: Wire) -> None:
        answers.append(await wire.dispatcher.request("may I?", {}))

    async with wired() as wire, anyio.create_task_group() as tasks:
        tasks.start_soon(ask, wire)
        asked = (await wire.hears())["id"]
        wire.says({"jsonrpc": "2.0", "id": asked, "result": "no"}, {"jsonrpc": "2.0", "id": asked, "result": "yes"})
    assert answers == ["no"]


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


async def test_a_handler_that_cannot_be_found_is_one_error_answer_and_the_connection_lives() -> None:
    async with wired() as wire:
        wire.handlers.requests["echo"] = echo
        wire.says(call("cannot be loaded", id=4), {"jsonrpc": "2.0", "method": "cannot be loaded"}, call("echo", id=5))
        answer = await wire.hears()
        assert (answer["id"], answer["error"]["code"]) == (4, -32603)
        assert "lookup" in answer["error"]["message"]
        assert (await wire.hears())["id"] == 5


async def test_a_frame_that_cannot_even_be_recorded_gets_an_answer() -> None:
    def on_frame(_direction: str, frame: bytes) -> None:
        if b"poison" in frame and b"error" not in frame:
            raise ValueError("cannot record poison")

    ours, theirs = memory_pair()
    handlers = Handlers()
    handlers.requests["echo"] = echo
    dispatcher = Dispatcher(ours, handlers, on_frame=on_frame)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.run)
        wire = Wire(theirs, handlers, dispatcher)
        wire.says(call("poison", id=4), call("echo", id=5))
        answer = await wire.hears()
        assert (answer["id"], answer["error"]["code"]) == (None, -32603)
        assert (await wire.hears())["id"] == 5
        theirs.close()


@pytest.mark.parametrize(
    "answer", [{"result": 1}, {"jsonrpc": "2.0", "error": "no"}, {"jsonrpc": "2.0", "error": None}], ids=str
)
async def test_a_broken_answer_wakes_who_waits_and_is_not_answered(answer: dict[str, Any]) -> None:
    async with wired() as wire, anyio.create_task_group() as tasks:
        wire.handlers.requests["echo"] = echo

        async def ask() -> None:
            with pytest.raises(RpcError, match="Invalid response"):
                await wire.dispatcher.request("a", {})

        tasks.start_soon(ask)
        asked = await wire.hears()
        wire.says({"id": asked["id"], **answer}, call("echo", id=9))
        assert (await wire.hears())["id"] == 9


async def test_an_answer_that_is_too_long_wakes_who_waits_and_is_not_answered() -> None:
    async with wired() as wire, anyio.create_task_group() as tasks:
        wire.handlers.requests["echo"] = echo

        async def ask() -> None:
            with pytest.raises(RpcError, match="70000000 bytes are too many"):
                await wire.dispatcher.request("a", {})

        tasks.start_soon(ask)
        asked = await wire.hears()
        wire.transport.other.insert(Oversized(70_000_000, str(asked["id"]).encode(), is_response=True))
        wire.says(call("echo", id=9))
        assert (await wire.hears())["id"] == 9


async def test_a_late_answer_to_what_we_gave_up_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "claw_acp.rpc")
    async with wired() as wire:
        wire.handlers.requests["echo"] = echo
        with pytest.raises(TimeoutError):
            await wire.dispatcher.request("slow", {}, within=0)
        asked, _ = await wire.hears(), await wire.hears()
        wire.says({"jsonrpc": "2.0", "id": asked["id"], "result": 1}, {"jsonrpc": "2.0", "id": 77, "result": 1})
        wire.says(call("echo"))
        await wire.hears()
    levels = [record.levelname for record in caplog.records if "nobody waits" in record.getMessage()]
    assert levels == ["DEBUG", "WARNING"]


async def test_cancelling_reaches_every_request_that_shares_the_id() -> None:
    async with wired() as wire:
        wire.handlers.requests["wait"] = forever
        wire.says(call("wait", id="D"), call("wait", id="D"))
        wire.says({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "D"}})
        assert [(await wire.hears())["error"]["code"], (await wire.hears())["error"]["code"]] == [-32800, -32800]


async def test_a_request_that_was_being_handled_at_the_end_of_the_input_is_answered() -> None:
    async def slow(_call: IncomingCall, _params: JsonObject) -> JsonValue:
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        return "done"

    async with wired() as wire:
        wire.handlers.requests["slow"] = slow
        wire.says(call("slow"))
        wire.transport.other.finish()
        assert (await wire.hears())["result"] == "done"


async def test_a_long_running_request_is_cancelled_at_the_end_of_the_input_even_if_it_has_just_begun() -> None:
    async def turn(incoming: IncomingCall, _params: JsonObject) -> JsonValue:
        with anyio.CancelScope() as scope:
            incoming.on_cancel = scope.cancel
            await anyio.sleep_forever()
        return "cancelled"

    async with wired() as wire:
        wire.handlers.requests["turn"] = turn
        wire.says(call("turn", id=1))
        await anyio.wait_all_tasks_blocked()
        wire.says(call("turn", id=2))
        wire.transport.other.finish()
        assert [(await wire.hears())["result"], (await wire.hears())["result"]] == ["cancelled", "cancelled"]


class SlowReader(MemoryTransport):
    """One end whose backlog is set by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.unread = 0
        self.low = anyio.Event()

    @property
    def backlog(self) -> int:
        return self.unread

    async def drained(self) -> None:
        await self.low.wait()


async def test_while_too_many_answers_are_unread_nothing_more_is_read() -> None:
    heard: list[str] = []

    async def hear(params: JsonObject) -> None:
        heard.append(str(params["x"]))

    ours, theirs = SlowReader(), MemoryTransport()
    ours.other, theirs.other = theirs, ours
    handlers = Handlers()
    handlers.notifications["hear"] = hear
    wire = Wire(theirs, handlers, dispatcher := Dispatcher(ours, handlers))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.run)
        ours.unread = HIGH_WATER + 1
        wire.says(*({"jsonrpc": "2.0", "method": "hear", "params": {"x": number}} for number in range(2)))
        await anyio.wait_all_tasks_blocked()
        assert heard == ["0", "1"]
        ours.unread = OVERLOADED + 1
        wire.says(*({"jsonrpc": "2.0", "method": "hear", "params": {"x": number}} for number in range(2, 4)))
        await anyio.wait_all_tasks_blocked()
        assert heard == ["0", "1", "2"]
        ours.unread = 0
        ours.low.set()
        await anyio.wait_all_tasks_blocked()
        assert heard == ["0", "1", "2", "3"]
        theirs.close()
