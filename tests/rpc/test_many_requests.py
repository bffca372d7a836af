"""More requests than are handled at once: they wait their turn, and can be cancelled while they do."""

import json

import anyio
import anyio.lowlevel

from claw_acp.core.errors import ServerBusy
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.dispatcher import IN_FLIGHT, WAITING, Dispatcher
from claw_acp.rpc.memory_pair import memory_pair
from claw_acp.rpc.peer import IncomingCall
from tests.rpc.wire import SOON, Handlers, Wire, call, echo, forever, wired

CANCEL = "$/cancel_request"
LATER = 50  # seconds to take in the largest burst on a busy machine


class Gate:
    """Handlers that all wait until it opens."""

    def __init__(self) -> None:
        self.event = anyio.Event()
        self.entered = 0

    async def handle(self, _call: IncomingCall, params: JsonObject) -> JsonValue:
        self.entered += 1
        await self.event.wait()
        return params


def cancel(request_id: int) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": CANCEL, "params": {"requestId": request_id}}


async def fill(wire: Wire, gate: Gate) -> None:
    """As many requests as are handled at once."""
    wire.handlers.requests["wait"] = gate.handle
    wire.says(*(call("wait", id=number) for number in range(IN_FLIGHT)))
    with anyio.fail_after(SOON):
        while gate.entered < IN_FLIGHT:
            await anyio.lowlevel.checkpoint()


async def test_a_burst_of_requests_is_answered_to_the_last_one() -> None:
    async with wired() as wire:
        wire.handlers.requests["echo"] = echo
        wire.says(*(call("echo", id=number, n=number) for number in range(2 * IN_FLIGHT)))
        answers = [await wire.hears() for _ in range(2 * IN_FLIGHT)]
    assert [(answer["id"], answer["result"]) for answer in answers] == [
        (number, {"n": number}) for number in range(2 * IN_FLIGHT)
    ]


async def test_a_request_waits_until_one_of_those_before_it_is_done() -> None:
    async with wired() as wire:
        gate = Gate()
        await fill(wire, gate)
        wire.handlers.requests["echo"] = echo
        wire.says(call("echo", id="late"), cancel(7))
        first, second = await wire.hears(), await wire.hears()
        assert ((first["id"], first["error"]["code"]), second["id"]) == ((7, -32800), "late")


async def test_a_request_that_waits_can_be_cancelled_and_is_never_handled() -> None:
    async with wired() as wire:
        gate = Gate()
        await fill(wire, gate)
        wire.says(call("wait", id="late"), {"jsonrpc": "2.0", "method": CANCEL, "params": {"requestId": "late"}})
        answer = await wire.hears()
        assert (answer["id"], answer["error"]["code"]) == ("late", -32800)
        gate.event.set()
        assert {(await wire.hears())["id"] for _ in range(IN_FLIGHT)} == set(range(IN_FLIGHT))
        assert gate.entered == IN_FLIGHT


async def test_answers_to_us_are_read_while_requests_wait() -> None:
    async with wired() as wire:

        async def ask(_call: IncomingCall, _params: JsonObject) -> JsonValue:
            return await wire.dispatcher.request("question", {})

        wire.handlers.requests["ask"] = ask
        wire.says(*(call("ask", id=number) for number in range(IN_FLIGHT + 1)))
        questions = [await wire.hears() for _ in range(IN_FLIGHT)]
        wire.says({"jsonrpc": "2.0", "id": questions[0]["id"], "result": 42})
        frames = [await wire.hears(), await wire.hears()]
        assert {frame.get("method") or frame["result"] for frame in frames} == {"question", 42}


async def test_what_waits_is_bounded() -> None:
    async with wired() as wire:
        wire.handlers.requests["wait"] = forever
        wire.says(*(call("wait", id=number) for number in range(IN_FLIGHT + WAITING + 1)))
        with anyio.fail_after(LATER):
            frame = await wire.transport.receive()
        assert isinstance(frame, bytes)
        answer = json.loads(frame)
        assert (answer["id"], answer["error"]["code"]) == (IN_FLIGHT + WAITING, ServerBusy.code)


async def test_requests_that_wait_when_the_input_ends_are_answered_too() -> None:
    async with wired() as wire:
        wire.handlers.requests["echo"] = echo
        wire.says(*(call("echo", id=number) for number in range(2 * IN_FLIGHT)))
        wire.transport.other.finish()
        assert [(await wire.hears())["id"] for _ in range(2 * IN_FLIGHT)] == list(range(2 * IN_FLIGHT))


async def test_hanging_up_ends_the_connection_and_what_is_handled() -> None:
    ours, theirs = memory_pair()
    handlers = Handlers()
    dispatcher = Dispatcher(ours, handlers)
    gate = Gate()

    async def leave(_call: IncomingCall, _params: JsonObject) -> JsonValue:
        dispatcher.hang_up()
        return None

    handlers.requests = {"wait": gate.handle, "leave": leave}
    theirs.send(b'{"jsonrpc":"2.0","id":1,"method":"wait"}\n{"jsonrpc":"2.0","id":2,"method":"leave"}\n')
    with anyio.fail_after(SOON):
        await dispatcher.run()
    assert gate.entered == 1
