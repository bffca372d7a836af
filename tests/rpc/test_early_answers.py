"""A handler may answer and work on; and a connection may refuse ids that its protocol does not have."""

import logging

import anyio
import pytest

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from tests.rpc.wire import SOON, call, echo, wired


async def test_a_handler_that_answers_early_works_on_and_is_answered_once() -> None:
    go_on, done = anyio.Event(), anyio.Event()

    async def early(call: IncomingCall, _params: JsonObject) -> JsonValue:
        call.answer("early")
        call.answer("again")
        await go_on.wait()
        done.set()
        return "late"

    async with wired() as wire:
        wire.handlers.requests |= {"early": early, "echo": echo}
        wire.says(call("early"))
        assert await wire.hears() == {"jsonrpc": "2.0", "id": 1, "result": "early"}
        go_on.set()
        with anyio.fail_after(SOON):
            await done.wait()
        wire.says(call("echo", id=2))
        assert (await wire.hears())["id"] == 2


async def test_what_fails_after_its_answer_is_in_the_log_only(caplog: pytest.LogCaptureFixture) -> None:
    async def fails(call: IncomingCall, _params: JsonObject) -> JsonValue:
        call.answer("fine")
        raise ValueError("later")

    with caplog.at_level(logging.INFO):
        async with wired() as wire:
            wire.handlers.requests |= {"fails": fails, "echo": echo}
            wire.says(call("fails"), call("echo", id=2))
            answers = [await wire.hears(), await wire.hears()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert "failed after its answer" in caplog.text


async def test_a_cancel_of_an_answered_request_reaches_only_the_new_one_with_its_id() -> None:
    ended: list[str] = []

    async def early(call: IncomingCall, params: JsonObject) -> JsonValue:
        if params["first"]:
            call.answer("early")
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("first" if params["first"] else "second")
        return None

    async with wired() as wire:
        wire.handlers.requests["early"] = early
        wire.says(call("early", first=True))
        assert (await wire.hears())["result"] == "early"
        cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}
        wire.says(call("early", first=False), cancel)
        assert (await wire.hears())["error"]["code"] == -32800
        assert ended == ["second"]


async def test_a_request_that_was_answered_early_is_still_told_of_the_end_of_the_connection() -> None:
    told = anyio.Event()

    async def early(call: IncomingCall, _params: JsonObject) -> JsonValue:
        call.on_cancel = told.set
        call.answer("early")
        await told.wait()
        return None

    async with wired() as wire:
        wire.handlers.requests["early"] = early
        wire.says(call("early"))
        assert (await wire.hears())["result"] == "early"
        wire.transport.close()
        with anyio.fail_after(SOON):
            await told.wait()


@pytest.mark.parametrize("request_id", [b"null", b"1.5", b"1.0"])
async def test_where_ids_are_plain_null_and_fractions_are_refused_without_echo(request_id: bytes) -> None:
    async with wired() as wire:
        wire.handlers.requests["echo"] = echo
        wire.dispatcher.plain_ids = True
        wire.says(b'{"jsonrpc":"2.0","id":%s,"method":"echo"}' % request_id, call("echo", id="x"))
        answer = await wire.hears()
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)
        assert (await wire.hears())["id"] == "x"


async def test_where_ids_are_plain_a_broken_request_with_a_fraction_is_answered_without_it() -> None:
    async with wired() as wire:
        wire.dispatcher.plain_ids = True
        wire.says(b'{"jsonrpc":"2.0","id":0.5,"method":7}')
        answer = await wire.hears()
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)
